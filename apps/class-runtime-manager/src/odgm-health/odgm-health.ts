import { Fault, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import { PRIORITY, type Enqueue, type LedTask, type Source } from "@oaas/kube-runtime";
import type { Logger, Meter } from "@oaas/observability";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import type { Grid } from "./grid.ts";
import { assessAnswers, isSameReading, type NodeAnswer } from "./judge.ts";

/**
 * Queries the nodes of a state store. Nodes that do not respond before the signal aborts are left out; it throws only
 * when no node can be found.
 */
export interface OdgmClient {
  query(grid: Grid, signal: AbortSignal): Promise<readonly NodeAnswer[]>;
}

export interface OdgmHealthOptions {
  readonly client: OdgmClient;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Interval between checks of a state store. */
  readonly everyMs: number;
  /** Time limit for one state store. */
  readonly timeoutMs: number;
  /** Concurrent checks. Default: 8. */
  readonly concurrency?: number;
}

interface Known {
  readonly reading: OdgmReading | undefined;
  /** Consecutive rounds without a response. */
  readonly silent: number;
}

/** Rounds without a response after which the last reading expires. */
const MAX_SILENT_ROUNDS = 3;
/** Maximum of rounds between checks of a state store that does not respond. */
const MAX_ROUNDS_BETWEEN_CHECKS = 16;

/**
 * Checks the health of state stores, independent of reconciles, while this process is the leader.
 *
 * *Guarantees*: a class is reconciled only when the reading of its state store changes; a state store that does not
 * respond is unknown, and its last reading expires after some rounds; at most `concurrency` checks run at once, each
 * with a time limit.
 */
export class OdgmHealth implements LedTask {
  readonly name = "odgm-health";
  readonly #options: OdgmHealthOptions;
  readonly #known = new Map<string, Known>();
  readonly #grids: { readonly kind: string; readonly list: () => Iterable<Grid> }[] = [];
  readonly #listeners = new Map<string, Set<Enqueue>>();
  readonly #readings;

  constructor(options: OdgmHealthOptions) {
    this.#options = options;
    this.#readings = options.meter.counter({
      name: "crm_odgm_readings_total",
      help: "Health checks of state stores, by outcome.",
      labels: ["outcome"],
      startAtZero: ["healthy", "unhealthy", "unknown"].map((outcome) => ({ outcome })),
    });
  }

  /** Also checks these state stores; their classes are objects of that kind. */
  follow(kind: string, list: () => Iterable<Grid>): void {
    this.#grids.push({ kind, list });
  }

  /** Enqueues the classes of that kind whose reading changes. */
  source(kind: string): Source {
    return (enqueue) => {
      const listeners = this.#listeners.get(kind) ?? new Set();
      this.#listeners.set(kind, listeners.add(enqueue));
      return () => void listeners.delete(enqueue);
    };
  }

  /** The last reading of a class; undefined if unknown. */
  readingOf(uid: string): OdgmReading | undefined {
    return this.#known.get(uid)?.reading;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { ambient, everyMs } = this.#options;
    this.#rememberTold();
    for (let round = 0; !signal.aborted; round += 1) {
      await sleep(ambient.timers, everyMs, signal).catch(() => undefined);
      await this.#round(round, signal);
    }
  }

  /**
   * A leader starts with the readings in the statuses, which another process may have written. This must happen before
   * the first reconcile.
   */
  #rememberTold(): void {
    this.#known.clear();
    for (const { list } of this.#grids) {
      for (const { uid, lastReading } of list())
        if (lastReading) this.#known.set(uid, { reading: lastReading, silent: 0 });
    }
  }

  async #round(round: number, signal: AbortSignal): Promise<void> {
    const all = this.#grids.flatMap(({ kind, list }) => [...list()].map((grid) => ({ kind, grid })));
    const current = new Set(all.map(({ grid }) => grid.uid));
    for (const uid of this.#known.keys()) if (!current.has(uid)) this.#known.delete(uid);
    const due = all.filter(({ grid }) => round % restOf(this.#known.get(grid.uid)) === 0).values();
    const worker = async (): Promise<void> => {
      for (const { kind, grid } of due) if (!signal.aborted) await this.#read(kind, grid, signal);
    };
    await Promise.all(Array.from({ length: this.#options.concurrency ?? 8 }, worker));
  }

  async #read(kind: string, grid: Grid, signal: AbortSignal): Promise<void> {
    const { client, ambient, logger, timeoutMs } = this.#options;
    using deadline = startDeadline(ambient, timeoutMs, signal);
    const answers = await client.query(grid, deadline.signal).catch((thrown: unknown) => {
      logger.debug("a state store could not be asked", { ...grid.key, fault: Fault.from(thrown) });
      return [];
    });
    if (signal.aborted) return;
    const before = this.#known.get(grid.uid);
    const reading = assessAnswers(grid, answers, ambient.clock.now());
    this.#readings.add(1, { outcome: reading === undefined ? "unknown" : reading.healthy ? "healthy" : "unhealthy" });
    const silent = reading === undefined ? (before?.silent ?? 0) + 1 : 0;
    const counts = reading ?? (silent <= MAX_SILENT_ROUNDS ? before?.reading : undefined);
    this.#known.set(grid.uid, { reading: counts, silent });
    if (isSameReading(before?.reading, counts)) return;
    for (const enqueue of this.#listeners.get(kind) ?? []) enqueue(grid.key, { priority: PRIORITY.low });
  }
}

/** State stores that respond are checked every round; the longer one is silent, the more rounds are skipped. */
function restOf(known: Known | undefined): number {
  if (known === undefined || known.silent <= MAX_SILENT_ROUNDS) return 1;
  return Math.min(MAX_ROUNDS_BETWEEN_CHECKS, 2 ** (known.silent - MAX_SILENT_ROUNDS));
}
