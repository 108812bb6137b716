import { keepPreviousData, useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useMemo } from "react";
import { fetchValue } from "../../api/client.ts";
import type { Topology } from "../../api/contract.ts";
import { curl, kubectl, oaas } from "../../lib/commands.ts";
import { count } from "../../lib/format.ts";
import { graphOf } from "../../lib/graph.ts";
import { m } from "../../messages/en.ts";
import { Graph } from "../../ui/graph.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { SelectFilter, TextFilter } from "../../ui/filters.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { useUrlState } from "../../ui/use-url.ts";

/** More nodes than this are grouped: no one can read them, and browsers cannot draw thousands. */
const MAX_NODES = 200;

export default function TopologyPage() {
  const [read] = useUrlState();
  const name = read("package");
  const topology = useQuery({
    queryKey: ["topology", name],
    queryFn: ({ signal }) => fetchValue("getTopology", { query: { package_name: name, max_nodes: MAX_NODES }, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <>
      <PageHeader
        title={m.nav.topology}
        commands={[
          oaas("topology"),
          kubectl("get classruntimes -A -o wide"),
          curl(location.origin, `/api/v1/topology?max_nodes=${MAX_NODES}`),
        ]}
      />
      <Loaded query={topology}>{(value) => <TopologyGraph topology={value} />}</Loaded>
    </>
  );
}

function TopologyGraph({ topology }: { readonly topology: Topology }) {
  const [read, write] = useUrlState();
  const only = read("package");
  // The packages of the whole topology, where it was loaded before.
  const whole = useQueryClient().getQueryData<Topology>(["topology", ""]) ?? topology;
  const packages = packagesIn(whole);
  const graph = useMemo(() => graphOf(topology), [topology]);
  const total = graph.nodes.reduce((sum, { count: members }) => sum + members, 0);
  const show = useCallback((next: string) => write({ package: next }), [write]);
  const grouped = graph.nodes.some(({ count: members }) => members > 1);
  return (
    <>
      <div className="no-print mb-3 flex flex-wrap items-center gap-3">
        {packages.length > 0 ? (
          <SelectFilter label={m.terms.package_name} value={only} options={packages} onChange={show} />
        ) : (
          <TextFilter label={m.terms.package_name} value={only} onChange={show} />
        )}
        <p className="text-sm text-ink-2" role="status">
          {m.topology.summary(count(total), grouped ? MAX_NODES : undefined)}
        </p>
      </div>
      <Panel flush>
        {graph.nodes.length === 0 ? (
          <Empty title={m.topology.none} text={m.topology.noneText} />
        ) : (
          <Graph graph={graph} label={m.nav.topology} height="min(75vh, 52rem)" />
        )}
      </Panel>
    </>
  );
}

/** None where the server has grouped them. */
function packagesIn({ nodes }: Topology): readonly string[] {
  return nodes
    .filter(({ node_type: kind, metadata }) => kind === "package" && metadata["count"] === undefined)
    .map(({ id }) => id.slice("package::".length));
}
