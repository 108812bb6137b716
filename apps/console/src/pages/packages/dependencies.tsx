import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { fetchValue } from "../../api/client.ts";
import type { DependencyGraph } from "../../api/contract.ts";
import { graphOfDependencies } from "../../lib/dependencies.ts";
import { count } from "../../lib/format.ts";
import { m } from "../../messages/en.ts";
import { Graph } from "../../ui/graph.tsx";
import { Panel } from "../../ui/page.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";

/** What the package needs, and which packages need it. */
export function PackageDependencies({ name }: { readonly name: string }) {
  const dependencies = useQuery({
    // Writes of any package can change it.
    queryKey: ["packages", "dependencies", name],
    queryFn: ({ signal }) => fetchValue("getPackageDependencies", { path: { name }, signal }),
  });
  return (
    <Panel flush>
      <Loaded query={dependencies}>{(value) => <Content dependencies={value} />}</Loaded>
    </Panel>
  );
}

function Content({ dependencies }: { readonly dependencies: DependencyGraph }) {
  const graph = useMemo(() => graphOfDependencies(dependencies), [dependencies]);
  const { packages, dependencies: shown, total_packages: total, total_dependencies: all } = dependencies;
  if (packages.length <= 1) return <Empty title={m.packages.noDependencies} />;
  return (
    <>
      <Graph graph={graph} label={m.packages.tabs.dependencies} height="26rem" />
      {(packages.length < total || shown.length < all) && (
        <p className="border-t border-line px-4 py-2 text-sm text-ink-3" role="status">
          {m.packages.nearest(count(packages.length), count(total), count(shown.length), count(all))}
        </p>
      )}
    </>
  );
}
