import { sleep, type Random } from "@oaas/foundation";
import { seededRandom, virtualAmbient } from "@oaas/foundation/virtual";
import { MEASURED_MISSING_SHARDS, StoreNetwork } from "@oaas/test-store";
import type { Mutant } from "./mutants.ts";
import { Obligations } from "./obligations.ts";
import { SimCluster } from "./sim-cluster.ts";
import { SimManager } from "./sim-manager.ts";
import { SimPackageManager } from "./sim-package-manager.ts";

export interface WorldOptions {
  readonly clusters: number;
  /** Time that an empty node needs to copy the objects. */
  readonly catchUpMs: number;
  readonly electionMs: number;
  /** Whether shards fail to appear, as measured. */
  readonly missesShards: boolean;
}

const NAMES = ["cloud", "edge", "far-edge"];

/** The store, the clusters with their managers, and the package manager of one scenario, on virtual time. */
export class World {
  readonly ambient;
  readonly random: Random;
  readonly network: StoreNetwork;
  readonly obligations: Obligations;
  readonly managers: readonly SimManager[];
  readonly packageManager: SimPackageManager;
  readonly mutant: Mutant;
  readonly stop: AbortSignal;

  readonly #lines: string[] = [];

  constructor(seed: number, { clusters, catchUpMs, electionMs, missesShards }: WorldOptions, mutant: Mutant = {}) {
    this.ambient = virtualAmbient(seed);
    this.random = seededRandom(seed ^ 0x2545f491);
    this.mutant = mutant;
    this.stop = new AbortController().signal;

    this.network = new StoreNetwork({
      ambient: this.ambient,
      catchUpMs,
      electionMs,
      ...(missesShards ? { missingShards: MEASURED_MISSING_SHARDS } : {}),
    });
    this.obligations = new Obligations(this);
    this.managers = NAMES.slice(0, clusters).map((name) => new SimManager(new SimCluster(name, this), this));
    this.packageManager = new SimPackageManager(this);
  }

  get now(): number {
    return this.ambient.clock.now();
  }

  after(delayMs: number, callback: () => void): void {
    this.ambient.timers.after(delayMs, callback);
  }

  sleep(ms: number): Promise<void> {
    return sleep(this.ambient.timers, ms);
  }

  advance(ms: number): Promise<void> {
    return this.ambient.time.advance(ms);
  }

  /** A node started or ended. */
  changed(): void {
    for (const manager of this.managers) {
      manager.isDue = true;
      manager.cluster.version += 1;
    }
  }

  manager(cluster: string): SimManager | undefined {
    return this.managers.find((one) => one.cluster.name === cluster);
  }

  /** Nodes that a manager restarts, or may restart in the present turn. */
  restartingNodes(): readonly number[] {
    const { turn } = this.packageManager;
    const deleted = this.managers.flatMap(({ cluster }) =>
      [...cluster.pods.values()].flatMap(({ node, deletedAtMs }) =>
        node && deletedAtMs !== undefined ? [node.id] : [],
      ),
    );
    return [...(turn === undefined ? [] : [turn.nodeId]), ...deleted];
  }

  trace(line: string): void {
    this.#lines.push(`${(this.ambient.clock.monotonic() / 1000).toFixed(1).padStart(7)} s  ${line}`);
  }

  get lines(): readonly string[] {
    return this.#lines;
  }
}
