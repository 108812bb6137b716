import { failedPrecondition, Semaphore } from "@oaas/foundation";
import type { StackCluster } from "../clusters/stack-cluster.ts";
import type { StackPackageManager } from "../package-manager/stack-package-manager.ts";
import type { StackFault } from "./fault.ts";

/** Injects faults into the running stack and removes them. Changes are serialized and idempotent. */
export class FaultInjector {
  readonly #clusters: ReadonlyMap<string, StackCluster>;
  readonly #packageManager: StackPackageManager;
  readonly #faults = new Map<string, StackFault>();
  readonly #changes = new Semaphore({ name: "the fault lab", permits: 1 });

  constructor(clusters: readonly StackCluster[], packageManager: StackPackageManager) {
    this.#clusters = new Map(clusters.map((cluster) => [cluster.plan.name, cluster]));
    this.#packageManager = packageManager;
  }

  /** The faults injected now. */
  get injected(): readonly StackFault[] {
    return [...this.#faults.values()];
  }

  inject(fault: StackFault): Promise<void> {
    return this.#changes.run(undefined, async () => {
      if (this.#faults.has(keyOf(fault))) return;
      this.#assertFree(fault);
      await this.#actions(fault).inject();
      this.#faults.set(keyOf(fault), fault);
    });
  }

  remove(fault: StackFault): Promise<void> {
    return this.#changes.run(undefined, () => this.#remove(fault));
  }

  removeAll(): Promise<void> {
    return this.#changes.run(undefined, async () => {
      for (const fault of this.injected) await this.#remove(fault);
    });
  }

  async #remove(fault: StackFault): Promise<void> {
    if (!this.#faults.has(keyOf(fault))) return;
    await this.#actions(fault).remove();
    this.#faults.delete(keyOf(fault));
  }

  /** A cluster can have one fault: a manager cannot be killed in a cluster that is down. */
  #assertFree({ cluster }: StackFault): void {
    const other = this.injected.find((one) => cluster !== undefined && one.cluster === cluster);
    if (other === undefined) return;
    throw failedPrecondition(
      other.fault,
      `${cluster} already has the fault ${other.fault}; remove it first: oaas lab restore`,
    );
  }

  #actions({ fault, cluster: name = "" }: StackFault): { inject(): Promise<void>; remove(): Promise<void> } {
    const packageManager = this.#packageManager;
    if (fault === "pm-killed") return { inject: () => packageManager.kill(), remove: () => packageManager.restart() };
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) throw failedPrecondition(name, `${name} is not a cluster of this stack`);
    switch (fault) {
      case "cluster-down":
        return { inject: () => cluster.takeDown(), remove: () => cluster.bringUp() };
      case "crm-killed":
        return { inject: () => cluster.killManager(), remove: () => cluster.restartManager() };
      case "partition":
        return { inject: () => cluster.isolate(), remove: () => cluster.reconnect() };
      case "node-lost":
        return { inject: () => cluster.failNode(), remove: () => cluster.recoverNode() };
      case "load-spike":
        return { inject: () => cluster.raiseLoad(), remove: () => cluster.lowerLoad() };
    }
  }
}

function keyOf({ fault, cluster = "" }: StackFault): string {
  return `${fault} ${cluster}`;
}
