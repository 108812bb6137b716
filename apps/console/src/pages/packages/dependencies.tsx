import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { fetchValue } from "../../api/client.ts";
import type { Package } from "../../api/contract.ts";
import { dependencyGraph } from "../../lib/dependencies.ts";
import { m } from "../../messages/en.ts";
import { Graph } from "../../ui/graph.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";

/** More packages than this are not searched for dependents. */
const SEARCHED = 200;

/** What the package needs, and which packages need it. */
export function PackageDependencies({ pkg }: { readonly pkg: Package }) {
  const packages = useQuery({
    queryKey: ["packages", "dependencies"],
    queryFn: ({ signal }) => fetchValue("listPackages", { query: { limit: SEARCHED }, signal }),
  });
  const graph = useMemo(() => dependencyGraph(pkg.name, packages.data ?? []), [pkg.name, packages.data]);
  return (
    <Panel flush>
      <Loaded query={packages}>
        {() =>
          graph.nodes.length <= 1 ? (
            <Empty title={m.packages.noDependencies} />
          ) : (
            <Graph graph={graph} label={m.packages.tabs.dependencies} height="26rem" />
          )
        }
      </Loaded>
    </Panel>
  );
}
