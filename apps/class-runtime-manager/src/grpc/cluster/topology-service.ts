import { TopologyService } from "@oaas/contracts/grpc";
import { invalidArgument, type Clock } from "@oaas/foundation";
import { bindService, type BoundService } from "@oaas/rpc";
import { buildTopology } from "../../topology/topology.ts";
import { sortClasses } from "../listing/list-classes.ts";
import type { ClassDirectory } from "../../classes/ports.ts";

/** Dependencies of TopologyService. */
export interface TopologyDeps {
  readonly clock: Clock;
  readonly directory: ClassDirectory;
  readonly clusterName: string;
}

/** Accepted sources. All have the same result; the last two are values of earlier releases. */
const SOURCES: ReadonlySet<string> = new Set(["", "kubernetes", "deployments", "zenoh"]);

/** TopologyService: the graph of the class runtimes of the cluster. */
export function topologyService({ clock, directory, clusterName }: TopologyDeps): BoundService {
  return bindService(TopologyService, {
    getTopology: async ({ source }) => {
      if (!SOURCES.has(source)) {
        throw invalidArgument("the request", [
          {
            path: "$.source",
            message: `"${source}" is not a topology source`,
            fix: 'leave it empty, or use "kubernetes"',
          },
        ]);
      }
      const { nodes, edges } = buildTopology(clusterName, sortClasses([...directory.list()]));
      const nowMs = clock.now();
      return {
        nodes: nodes.map(({ deployedClasses, ...node }) => ({ ...node, deployedClasses: [...deployedClasses] })),
        edges: [...edges],
        timestamp: { seconds: BigInt(Math.floor(nowMs / 1000)), nanos: (nowMs % 1000) * 1_000_000 },
      };
    },
  });
}
