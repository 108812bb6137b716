import { Fault, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import { PRIORITY, type Enqueue, type LedTask, type Source } from "@oaas/kube-runtime";
import type { Logger, Meter } from "@oaas/observability";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import type { Grid } from "./grid.ts";
import { assessAnswers, isSameReading, type NodeAnswer } from "./judge.ts";

/** Asks the nodes of a grid. Nodes that do not answer before the signal aborts are left out; it throws only when none can be found at all. */
export interface OdgmClient {
  query(grid: Grid, signal: AbortSignal): Promise<readonly NodeAnswer[]>;
}

export interface OdgmHealthOptions {
  readonly client: OdgmClient;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  /** How often each grid is asked. */
  readonly everyMs: number;
  /** What one grid may take to answer. */
  readonly timeoutMs: number;
  /** Grids asked at once. Default 8. */
  readonly concurrency?: number;
}

interface Known {
  readonly reading: OdgmReading | undefined;
  /** Rounds in a row without an answer. */
  readonly silent: number;
}

/** So many rounds without an answer are forgiven before what was known counts no more. */
const MAX_SILENT_ROUNDS = 3;
/** A grid that never answers is asked less and less often: every so many rounds at most. */
const MAX_ROUNDS_BETWEEN_CHECKS = 16;

/**
 * Reads what state stores say of themselves, apart from reconcile, while this process leads.
 *
 * Guarantees: a class is looked at again only when its store says something new; a store that does not answer is neither well nor ill, after a few rounds
 * its last word counts no more; at most `concurrency` are asked at once, each within its time.
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

  /** Asks these grids too; their classes are objects of that kind. */
  follow(kind: string, list: () => Iterable<Grid>): void {
    this.#grids.push({ kind, list });
  }

  /** Wakes the classes of that kind whose store says something new. */
  source(kind: string): Source {
    return (enqueue) => {
      const listeners = this.#listeners.get(kind) ?? new Set();
      this.#listeners.set(kind, listeners.add(enqueue));
      return () => void listeners.delete(enqueue);
    };
  }

  /** What the store of this class said last; undefined when that is not known. */
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

  /** A term begins with what statuses say, which another process may have written; it must come before the first reconcile. */
  #rememberTold(): void {
    this.#known.clear();
    for (const { list } of this.#grids) {
      for (const { uid, lastReading } of list())
        if (lastReading) this.#known.set(uid, { reading: lastReading, silent: 0 });
    }
  }

  async #round(round: number, signal: AbortSignal): Promise<void> {
    const all = this.#grids.flatMap(({ kind, list }) => [...list()].map((grid) => ({ kind, grid })));
    const there = new Set(all.map(({ grid }) => grid.uid));
    for (const uid of this.#known.keys()) if (!there.has(uid)) this.#known.delete(uid);
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

/** Every round for who answers; the longer the silence, the more rounds are left out. */
function restOf(known: Known | undefined): number {
  if (known === undefined || known.silent <= MAX_SILENT_ROUNDS) return 1;
  return Math.min(MAX_ROUNDS_BETWEEN_CHECKS, 2 ** (known.silent - MAX_SILENT_ROUNDS));
}
