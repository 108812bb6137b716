import { Fault, type Clock, type FaultKind } from "@oaas/foundation";
import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";
import { conflictOf, type Committed, type KeyValueStore, type WatchBatch } from "@oaas/storage";

const OPERATIONS = ["revision", "get", "getMany", "range", "commit", "watch", "grantLease", "compact"] as const;
type Operation = (typeof OPERATIONS)[number];

/** Failures of the backend. Conflicts, compacted revisions, lost leases and wrong requests are answers. */
const KINDS = [
  "unavailable",
  "deadline-exceeded",
  "resource-exhausted",
  "unauthenticated",
  "permission-denied",
  "internal",
] as const satisfies readonly FaultKind[];

export interface MeasureOptions {
  readonly meter: Meter;
  readonly clock: Clock;
  /** The kind of store, a label of its latency and size: memory, sqlite or etcd. */
  readonly backend: string;
}

/** Measures a store: latency, failures, conflicts, size, and the lag of watches. Results and faults pass unchanged. */
export function measureStore(store: KeyValueStore, options: MeasureOptions): KeyValueStore {
  const metrics = new StoreMetrics(options);
  const sampleSize = metrics.sizeSampler(() => store.sizeInBytes());
  sampleSize();
  return {
    revision: (given) => metrics.measure("revision", () => store.revision(given)),
    get: (key, given) => metrics.measure("get", () => store.get(key, given)),
    getMany: (keys, given) => metrics.measure("getMany", () => store.getMany(keys, given)),
    range: (query, given) => metrics.measure("range", () => store.range(query, given)),
    commit: async (transaction, given) => {
      const committed = await metrics.measure("commit", () => store.commit(transaction, given));
      metrics.lag.committed(committed);
      sampleSize();
      return committed;
    },
    watch: (query) => metrics.measureBatches(store.watch(query)),
    grantLease: (request, given) => metrics.measure("grantLease", () => store.grantLease(request, given)),
    compact: (revision, given) => metrics.measure("compact", () => store.compact(revision, given)),
    sizeInBytes: (given) => store.sizeInBytes(given),
    close: () => store.close(),
  };
}

/** The size is read after a commit, at most once in this time. */
const SIZE_EVERY_MS = 30_000;

class StoreMetrics {
  readonly lag: WatchLag;
  readonly #clock: Clock;
  readonly #backend: string;
  readonly #errors: Counter<"operation" | "kind">;
  readonly #durations: Histogram<"operation" | "backend">;
  readonly #conflicts: Counter;
  readonly #size: Gauge<"backend">;

  constructor({ meter, clock, backend }: MeasureOptions) {
    this.#clock = clock;
    this.#backend = backend;
    this.lag = new WatchLag(meter, clock);
    this.#errors = meter.counter({
      name: "pm_store_errors_total",
      help: "Failed operations of the store, by operation and kind of the fault. Conflicts and other answers do not count.",
      labels: ["operation", "kind"],
      startAtZero: OPERATIONS.flatMap((operation) => KINDS.map((kind) => ({ operation, kind }))),
    });
    this.#durations = meter.histogram({
      name: "pm_store_operation_seconds",
      help: "Duration of operations of the store, failed ones included, by operation and backend: memory, sqlite or etcd.",
      labels: ["operation", "backend"],
      buckets: [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5],
    });
    this.#conflicts = meter.counter({
      name: "pm_store_conflicts_total",
      help: "Transactions that were not applied because another writer was first; most are retried.",
      startAtZero: [{}],
    });
    this.#size = meter.gauge({
      name: "pm_store_size_bytes",
      help: "Size of the store by backend: keys and values in memory, the SQLite file, or the database of an etcd member.",
      labels: ["backend"],
    });
  }

  async measure<T>(operation: Exclude<Operation, "watch">, run: () => Promise<T>): Promise<T> {
    const startedAtMs = this.#clock.monotonic();
    try {
      return await this.#count(operation, run());
    } finally {
      const seconds = (this.#clock.monotonic() - startedAtMs) / 1000;
      this.#durations.observe(seconds, { operation, backend: this.#backend });
    }
  }

  measureBatches(batches: AsyncIterable<WatchBatch>): AsyncIterable<WatchBatch> {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = batches[Symbol.asyncIterator]();
        const end = iterator.return?.bind(iterator);
        return {
          next: async () => {
            const result = await this.#count("watch", iterator.next());
            if (result.done !== true) this.lag.delivered(result.value);
            return result;
          },
          ...(end === undefined ? {} : { return: end }),
        };
      },
    };
  }

  /** Returns a function that reads the size in the background, unless it was read recently. */
  sizeSampler(read: () => Promise<number | undefined>): () => void {
    let dueAtMs = Number.NEGATIVE_INFINITY;
    return () => {
      const now = this.#clock.monotonic();
      if (now < dueAtMs) return;
      dueAtMs = now + SIZE_EVERY_MS;
      read().then(
        (bytes) => {
          if (bytes !== undefined) this.#size.set(bytes, { backend: this.#backend });
        },
        // The operations of the store show the failure.
        () => undefined,
      );
    };
  }

  async #count<T>(operation: Operation, result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (thrown) {
      if (conflictOf(thrown) !== undefined) this.#conflicts.add(1);
      const kind = KINDS.find((one) => one === Fault.from(thrown).kind);
      if (kind !== undefined) this.#errors.add(1, { operation, kind });
      throw thrown;
    }
  }
}

/** Commits and deliveries that wait for their counterpart. Keys of others are never delivered or committed here. */
const MAX_WAITING = 1024;

/** Measures how long after its commit an own write reaches the watches of this process. */
class WatchLag {
  readonly #clock: Clock;
  readonly #seconds: Histogram;
  /** Monotonic time of the commit, by revision. */
  readonly #committed = new Map<number, number>();
  /** Revisions that a watch delivered before their commit was acknowledged. */
  readonly #early = new Map<number, true>();

  constructor(meter: Meter, clock: Clock) {
    this.#clock = clock;
    this.#seconds = meter.histogram({
      name: "pm_store_watch_lag_seconds",
      help: "Time from the acknowledgement of a write of this process to its delivery by a watch of this process.",
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    });
  }

  committed({ revision, changed }: Committed): void {
    if (!changed) return;
    if (this.#early.delete(revision)) this.#seconds.observe(0);
    remember(this.#committed, revision, this.#clock.monotonic());
  }

  delivered({ revision, events }: WatchBatch): void {
    if (events.length === 0) return;
    const committedAtMs = this.#committed.get(revision);
    if (committedAtMs === undefined) remember(this.#early, revision, true);
    else this.#seconds.observe((this.#clock.monotonic() - committedAtMs) / 1000);
  }
}

/** Adds an entry to a map of at most `MAX_WAITING`; drops the oldest. */
function remember<T>(map: Map<number, T>, key: number, value: T): void {
  map.set(key, value);
  if (map.size <= MAX_WAITING) return;
  const [oldest] = map.keys();
  map.delete(oldest as number);
}
