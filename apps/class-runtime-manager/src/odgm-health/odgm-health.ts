import { Fault, sleep, startDeadline, type Ambient } from "@oaas/foundation";
import { PRIORITY, type Enqueue, type LedTask, type Source } from "@oaas/kube-runtime";
import type { Logger, Meter } from "@oaas/observability";
import type { OdgmReading } from "../lifecycle/observation/observation.ts";
import { assessStore, isSameReading, type StoreAnswers } from "../state-store/assess-store.ts";
import { changedGates, type ShardGate } from "../state-store/shard-gates.ts";
import type { NodeAnswer } from "../state-store/node-answer.ts";
import type { StoreReading } from "../state-store/decide-restart.ts";
import type { RunningStore } from "../state-store/running-store.ts";
import type { StoreNodes } from "../state-store/store-nodes.ts";
import type { CheckedStore } from "./checked-store.ts";
import { readNodes } from "./read-nodes.ts";

/** Sets conditions of pods. Rejects when a pod could not be written; pods that are gone are left out. */
export type GateWriter = (gates: readonly ShardGate[], signal: AbortSignal) => Promise<void>;

export interface OdgmHealthOptions {
  readonly nodes: StoreNodes;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  /** Interval between checks of a store. */
  readonly everyMs: number;
  /** Time limit for one request. */
  readonly timeoutMs: number;
  /** Concurrent checks. Default: 8. */
  readonly concurrency?: number;
}

interface Known {
  readonly reading: OdgmReading | undefined;
  readonly store: StoreReading | undefined;
  readonly fingerprint: string;
  readonly dueAtMs: number;
  /** Consecutive checks that were not healthy. */
  readonly failures: number;
}

/** Time between looks at which stores are due, and before an unhealthy store is checked again. */
const TICK_MS = 1_000;
/** Maximum of intervals between checks of a store that no node answers for. */
const MAX_SILENT_INTERVALS = 16;
/** Requests of one check that may follow each other: shards, writes and reads, each of them twice, and a list. */
const REQUESTS_PER_CHECK = 6;

/**
 * Checks the health of state stores, independent of reconciles, while this process is the leader: the shards of each
 * node, and one acknowledged write per partition.
 *
 * *Guarantees*: a reading is healthy only if every partition acknowledged a write in the last check; a class is
 * reconciled only when the reading of its store changes; a store whose pods change or that is unhealthy is checked
 * sooner; at most `concurrency` checks run at once, each with a time limit; conditions of pods are written only when
 * they change.
 */
export class OdgmHealth implements LedTask {
  readonly name = "odgm-health";
  readonly #options: OdgmHealthOptions;
  readonly #known = new Map<string, Known>();
  readonly #stores: { readonly kind: string; readonly list: () => Iterable<CheckedStore> }[] = [];
  readonly #listeners = new Map<string, Set<Enqueue>>();
  readonly #readings;
  #writeGates: GateWriter = async () => undefined;

  constructor(options: OdgmHealthOptions) {
    this.#options = options;
    this.#readings = options.meter.counter({
      name: "crm_odgm_readings_total",
      help: "Health checks of state stores, by outcome.",
      labels: ["outcome"],
      startAtZero: ["healthy", "unhealthy", "unknown"].map((outcome) => ({ outcome })),
    });
  }

  /** Also checks these stores; their classes are objects of that kind. */
  follow(kind: string, list: () => Iterable<CheckedStore>): void {
    this.#stores.push({ kind, list });
  }

  /** Sets how conditions of pods are written. */
  writeGatesWith(writer: GateWriter): void {
    this.#writeGates = writer;
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

  /** What the nodes answered in this term of leadership; undefined before. */
  storeReadingOf(uid: string): StoreReading | undefined {
    return this.#known.get(uid)?.store;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { ambient, everyMs } = this.#options;
    this.#restoreReadings();
    while (!signal.aborted) {
      await this.#checkDue(signal);
      await sleep(ambient.timers, Math.min(TICK_MS, everyMs), signal).catch(() => undefined);
    }
  }

  /**
   * A leader starts with the healthy readings in the statuses, which another process may have written. This must happen
   * before the first reconcile.
   */
  #restoreReadings(): void {
    this.#known.clear();
    for (const { list } of this.#stores)
      for (const { uid, lastReading } of list())
        if (lastReading) this.#known.set(uid, { ...NOTHING_KNOWN, reading: lastReading });
  }

  async #checkDue(signal: AbortSignal): Promise<void> {
    const all = this.#stores.flatMap(({ kind, list }) => [...list()].map((store) => ({ kind, store })));
    const current = new Set(all.map(({ store }) => store.uid));
    for (const uid of this.#known.keys()) if (!current.has(uid)) this.#known.delete(uid);
    const now = this.#options.ambient.clock.monotonic();
    const due = all
      .filter(({ store }) => {
        const known = this.#known.get(store.uid);
        return known === undefined || known.dueAtMs <= now || known.fingerprint !== store.fingerprint;
      })
      .values();
    const checkQueued = async (): Promise<void> => {
      for (const { kind, store } of due) if (!signal.aborted) await this.#check(kind, store, signal);
    };
    await Promise.all(Array.from({ length: this.#options.concurrency ?? 8 }, checkQueued));
  }

  async #check(kind: string, store: CheckedStore, signal: AbortSignal): Promise<void> {
    const { ambient, logger } = this.#options;
    const running = store.read();
    const before = this.#known.get(store.uid) ?? NOTHING_KNOWN;
    const found = running && (await this.#ask(running, store, signal));
    if (signal.aborted) return;
    const assessed = running && found && assessStore(running, found, before.store, ambient.clock.now());
    const reading = assessed?.reading;
    const isSilent = assessed === undefined || assessed.store.answers.length === 0;
    this.#readings.add(1, { outcome: isSilent ? "unknown" : reading?.healthy ? "healthy" : "unhealthy" });
    const failures = reading?.healthy === true ? 0 : before.failures + 1;
    this.#known.set(store.uid, {
      reading,
      store: assessed?.store,
      fingerprint: store.fingerprint,
      failures,
      dueAtMs: ambient.clock.monotonic() + this.#delayAfter(failures, isSilent),
    });
    if (running && found) await this.#openGates(running, found.answers, signal, logger);
    if (!isSameReading(before.reading, reading) || isProgress(before.store, assessed?.store))
      for (const enqueue of this.#listeners.get(kind) ?? []) enqueue(store.key, { priority: PRIORITY.low });
  }

  async #ask(running: RunningStore, store: CheckedStore, signal: AbortSignal): Promise<StoreAnswers> {
    const { nodes, ambient, logger, timeoutMs } = this.#options;
    using deadline = startDeadline(ambient, timeoutMs * REQUESTS_PER_CHECK, signal);
    return readNodes(running, store.objectId, { nodes, ambient, logger, timeoutMs }, deadline.signal);
  }

  /** An unhealthy store is checked sooner, but less and less often; one that no node answers for ever more rarely. */
  #delayAfter(failures: number, isSilent: boolean): number {
    const { everyMs } = this.#options;
    if (failures === 0) return everyMs;
    return Math.min(TICK_MS * 2 ** Math.min(failures, 20), everyMs * (isSilent ? MAX_SILENT_INTERVALS : 1));
  }

  async #openGates(
    running: RunningStore,
    answers: readonly NodeAnswer[],
    signal: AbortSignal,
    logger: Logger,
  ): Promise<void> {
    const gates = changedGates(running, answers, this.#options.ambient.clock.now());
    if (gates.length === 0) return;
    using deadline = startDeadline(this.#options.ambient, this.#options.timeoutMs * REQUESTS_PER_CHECK, signal);
    await this.#writeGates(gates, deadline.signal).catch((thrown: unknown) => {
      // The next check tries again.
      if (!signal.aborted) logger.warn("write shards condition of pod failed", { fault: Fault.from(thrown) });
    });
  }
}

const NOTHING_KNOWN: Known = {
  reading: undefined,
  store: undefined,
  fingerprint: "",
  dueAtMs: 0,
  failures: 0,
};

/** Whether a restart may be decided otherwise although the reading for the status is equal. */
function isProgress(before: StoreReading | undefined, after: StoreReading | undefined): boolean {
  const relevant = (reading: StoreReading | undefined): string =>
    JSON.stringify([
      reading?.answers.map(({ podUid, behind }) => `${podUid} ${behind === undefined}`).toSorted() ?? null,
      [...(reading?.missingReadings ?? [])].map(([id, readings]) => [id, Math.min(readings, 2)]),
    ]);
  return relevant(before) !== relevant(after);
}
