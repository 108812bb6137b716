import { TopologyService } from "@oaas/contracts/grpc";
import { invalidArgument, type Clock } from "@oaas/foundation";
import { bindService, type BoundService } from "@oaas/rpc";
import { topologyOf } from "../../topology/topology.ts";
import { sorted } from "../listing/list-classes.ts";
import type { ClassDirectory } from "../../classes/ports.ts";

/** What the service that draws the cluster needs. */
export interface TopologyDeps {
  readonly clock: Clock;
  readonly directory: ClassDirectory;
  readonly clusterName: string;
}

/** All mean the same here; the last two are what peers ask of managers that know two sources. */
const SOURCES: ReadonlySet<string> = new Set(["", "kubernetes", "deployments", "zenoh"]);

/** Tells what runs where, from the class runtimes of the cluster. */
export function topologyService({ clock, directory, clusterName }: TopologyDeps): BoundService {
  return bindService(TopologyService, {
    getTopology: async ({ source }) => {
      if (!SOURCES.has(source)) {
        throw invalidArgument("the request", [
          { path: "$.source", message: `"${source}" is no source`, fix: 'leave it empty, or use "kubernetes"' },
        ]);
      }
      const { nodes, edges } = topologyOf(clusterName, sorted([...directory.list()]));
      const nowMs = clock.now();
      return {
        nodes: nodes.map(({ deployedClasses, ...node }) => ({ ...node, deployedClasses: [...deployedClasses] })),
        edges: [...edges],
        timestamp: { seconds: BigInt(Math.floor(nowMs / 1000)), nanos: (nowMs % 1000) * 1_000_000 },
      };
    },
  });
}
