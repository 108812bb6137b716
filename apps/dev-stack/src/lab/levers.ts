import { failedPrecondition, Semaphore } from "@oaas/foundation";
import type { StackCluster } from "../clusters/stack-cluster.ts";
import type { StackPlatform } from "../platform/stack-platform.ts";
import type { StackFault } from "./fault.ts";

/** Breaks parts of the running stack on command and mends them; one thing at a time, each at most once. */
export class Levers {
  readonly #clusters: ReadonlyMap<string, StackCluster>;
  readonly #platform: StackPlatform;
  readonly #broken = new Map<string, StackFault>();
  readonly #changes = new Semaphore({ name: "the fault lab", permits: 1 });

  constructor(clusters: readonly StackCluster[], platform: StackPlatform) {
    this.#clusters = new Map(clusters.map((cluster) => [cluster.plan.name, cluster]));
    this.#platform = platform;
  }

  /** What is broken on purpose now. */
  get broken(): readonly StackFault[] {
    return [...this.#broken.values()];
  }

  /** Breaks it; what is broken already stays so. */
  break(fault: StackFault): Promise<void> {
    return this.#changes.run(undefined, async () => {
      if (this.#broken.has(keyOf(fault))) return;
      this.#assertFree(fault);
      await this.#lever(fault).break();
      this.#broken.set(keyOf(fault), fault);
    });
  }

  /** Mends it; what is whole stays so. */
  mend(fault: StackFault): Promise<void> {
    return this.#changes.run(undefined, () => this.#mend(fault));
  }

  /** Mends everything. */
  mendAll(): Promise<void> {
    return this.#changes.run(undefined, async () => {
      for (const fault of this.broken) await this.#mend(fault);
    });
  }

  async #mend(fault: StackFault): Promise<void> {
    if (!this.#broken.has(keyOf(fault))) return;
    await this.#lever(fault).mend();
    this.#broken.delete(keyOf(fault));
  }

  /** One cluster bears one fault: a manager cannot be killed in a cluster that is down. */
  #assertFree({ cluster }: StackFault): void {
    const other = this.broken.find((one) => cluster !== undefined && one.cluster === cluster);
    if (other === undefined) return;
    throw failedPrecondition(
      other.fault,
      `${cluster} already has the fault ${other.fault}; remove it first: oaas lab restore`,
    );
  }

  #lever({ fault, cluster: name = "" }: StackFault): { break(): Promise<void>; mend(): Promise<void> } {
    const platform = this.#platform;
    if (fault === "pm-killed") return { break: () => platform.kill(), mend: () => platform.revive() };
    const cluster = this.#clusters.get(name);
    if (cluster === undefined) throw failedPrecondition(name, `${name} is no cluster of this stack`);
    switch (fault) {
      case "cluster-down":
        return { break: () => cluster.takeDown(), mend: () => cluster.bringUp() };
      case "crm-killed":
        return { break: () => cluster.killManager(), mend: () => cluster.reviveManager() };
      case "partition":
        return { break: () => cluster.cutOff(), mend: () => cluster.join() };
      case "node-lost":
        return { break: () => cluster.loseNode(), mend: () => cluster.findNode() };
    }
  }
}

function keyOf({ fault, cluster = "" }: StackFault): string {
  return `${fault} ${cluster}`;
}
