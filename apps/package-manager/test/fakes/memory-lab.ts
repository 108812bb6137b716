import { invalidArgument, pathOf, ROOT_PATH } from "@oaas/foundation";
import type { Lab } from "../../src/use-cases.ts";

type ClusterFault = Parameters<Lab["inject"]>[0];

const FAULTS = [
  { fault: "partition", title: "Network partition", description: "The cluster is unreachable." },
  { fault: "node-lost", title: "Node lost", description: "A node of the cluster fails." },
];

/** A lab that only remembers the injected faults, and rejects unknown ones like the lab of the local stack. */
export function createMemoryLab(clusters: readonly string[]): Lab {
  let injected: readonly ClusterFault[] = [];
  const isSame = (one: ClusterFault, other: ClusterFault): boolean =>
    one.fault === other.fault && one.cluster === other.cluster;
  const check = (sent: ClusterFault): ClusterFault => {
    const allowed = { fault: FAULTS.map(({ fault }) => fault), cluster: clusters };
    const wrong = (["fault", "cluster"] as const).filter((field) => !allowed[field].includes(sent[field]));
    if (wrong.length === 0) return sent;
    const violations = wrong.map((field) => ({ path: pathOf(ROOT_PATH, field), message: "is not known" }));
    throw invalidArgument("the fault", violations);
  };
  return {
    state: () => ({ clusters, faults: FAULTS, injected }),
    inject: async (sent) => {
      const fault = check(sent);
      if (!injected.some((one) => isSame(one, fault))) injected = [...injected, fault];
    },
    remove: async (sent) => {
      const fault = check(sent);
      injected = injected.filter((one) => !isSame(one, fault));
    },
    removeAll: async () => {
      injected = [];
    },
  };
}
