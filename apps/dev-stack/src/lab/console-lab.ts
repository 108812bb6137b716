import { invalidArgument, pathOf, ROOT_PATH } from "@oaas/foundation";
import type { StackLab } from "../package-manager/ports.ts";
import { parseFault, type StackFault, type StackFaultKind } from "./fault.ts";
import type { FaultInjector } from "./fault-injector.ts";

/** The faults of a cluster. A killed package manager could not serve the console that undoes it. */
type ClusterFault = Exclude<StackFaultKind, "pm-killed">;

const DESCRIPTIONS: Readonly<Record<ClusterFault, { readonly title: string; readonly description: string }>> = {
  "cluster-down": {
    title: "Cluster down",
    description: "The API server and the class runtime manager of the cluster stop. Its classes are unreachable.",
  },
  "crm-killed": {
    title: "Class runtime manager killed",
    description: "The manager of the cluster stops at once. Classes keep running; changes wait until it is back.",
  },
  partition: {
    title: "Network partition",
    description: "The package manager cannot reach the cluster. Classes keep running there.",
  },
  "node-lost": {
    title: "Node lost",
    description: "One node of the cluster fails. Its pods are started on the other nodes, if they have room.",
  },
  "load-spike": {
    title: "Load spike",
    description: "The classes of the cluster get many times their load. Enforcement adds replicas where it is allowed.",
  },
};

/** Fault injection for the console. */
export function createConsoleLab(faults: FaultInjector, clusters: readonly string[]): StackLab {
  const parse = (sent: { readonly fault: string; readonly cluster: string }): StackFault => {
    const fault = parseFault(sent, clusters);
    if (fault.fault !== "pm-killed") return fault;
    const message = "ends the server of the console";
    const fix = "run: npx oaas lab run pm-killed";
    throw invalidArgument("the fault", [{ path: pathOf(ROOT_PATH, "fault"), message, fix }]);
  };
  return {
    state: () => ({
      clusters,
      faults: Object.entries(DESCRIPTIONS).map(([fault, text]) => ({ fault, ...text })),
      injected: faults.injected.flatMap(({ fault, cluster }) => (cluster === undefined ? [] : [{ fault, cluster }])),
    }),
    inject: async (sent) => faults.inject(parse(sent)),
    remove: async (sent) => faults.remove(parse(sent)),
    removeAll: () => faults.removeAll(),
  };
}
