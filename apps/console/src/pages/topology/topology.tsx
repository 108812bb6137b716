import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { fetchValue } from "../../api/client.ts";
import type { Topology } from "../../api/contract.ts";
import { curl, kubectl, oaas } from "../../lib/commands.ts";
import { count } from "../../lib/format.ts";
import { groupTopology, MAX_NODES } from "../../lib/graph.ts";
import { m } from "../../messages/en.ts";
import { Graph } from "../../ui/graph.tsx";
import { PageHeader, Panel } from "../../ui/page.tsx";
import { SelectFilter } from "../../ui/filters.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { useUrlState } from "../../ui/use-url.ts";

export default function TopologyPage() {
  const topology = useQuery({ queryKey: ["topology"], queryFn: ({ signal }) => fetchValue("getTopology", { signal }) });
  return (
    <>
      <PageHeader
        title={m.nav.topology}
        commands={[
          oaas("topology"),
          kubectl("get classruntimes -A -o wide"),
          curl(location.origin, "/api/v1/topology"),
        ]}
      />
      <Loaded query={topology}>{(value) => <TopologyGraph topology={value} />}</Loaded>
    </>
  );
}

function TopologyGraph({ topology }: { readonly topology: Topology }) {
  const [read, write] = useUrlState();
  const only = read("package");
  const packages = topology.nodes
    .filter(({ node_type: kind }) => kind === "package")
    .map(({ id }) => id.slice("package::".length));
  const graph = useMemo(() => groupTopology(only === "" ? topology : ofPackage(topology, only)), [topology, only]);
  const grouped = graph.nodes.some(({ count: members }) => members > 1);
  return (
    <>
      <div className="no-print mb-3 flex flex-wrap items-center gap-3">
        <SelectFilter
          label={m.terms.package_name}
          value={only}
          options={packages}
          onChange={(next) => write({ package: next })}
        />
        <p className="text-sm text-ink-2" role="status">
          {m.topology.summary(count(topology.nodes.length), grouped ? MAX_NODES : undefined)}
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

/** Nodes that the package leads to. */
function ofPackage(topology: Topology, name: string): Topology {
  const reached = new Set([`package::${name}`]);
  for (const id of reached) for (const { from_id: from, to_id: to } of topology.edges) if (from === id) reached.add(to);
  return {
    ...topology,
    nodes: topology.nodes.filter(({ id }) => reached.has(id)),
    edges: topology.edges.filter(({ from_id: from, to_id: to }) => reached.has(from) && reached.has(to)),
  };
}
