import { Fault, type FaultKind } from "@oaas/foundation";
import type { Counter, Meter } from "@oaas/observability";
import type { KeyValueStore, WatchBatch } from "@oaas/storage";

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

/** Counts the failures of a store. Results and faults pass unchanged. */
export function measureStore(store: KeyValueStore, meter: Meter): KeyValueStore {
  const errors = new StoreErrors(meter);
  return {
    revision: (options) => errors.count("revision", store.revision(options)),
    get: (key, options) => errors.count("get", store.get(key, options)),
    getMany: (keys, options) => errors.count("getMany", store.getMany(keys, options)),
    range: (query, options) => errors.count("range", store.range(query, options)),
    commit: (transaction, options) => errors.count("commit", store.commit(transaction, options)),
    watch: (query) => errors.countBatches(store.watch(query)),
    grantLease: (request, options) => errors.count("grantLease", store.grantLease(request, options)),
    compact: (revision, options) => errors.count("compact", store.compact(revision, options)),
    close: () => store.close(),
  };
}

class StoreErrors {
  readonly #errors: Counter<"operation" | "kind">;

  constructor(meter: Meter) {
    this.#errors = meter.counter({
      name: "pm_store_errors_total",
      help: "Failed operations of the store, by operation and kind of the fault. Conflicts and other answers do not count.",
      labels: ["operation", "kind"],
      startAtZero: OPERATIONS.flatMap((operation) => KINDS.map((kind) => ({ operation, kind }))),
    });
  }

  async count<T>(operation: Operation, result: Promise<T>): Promise<T> {
    try {
      return await result;
    } catch (thrown) {
      const kind = KINDS.find((one) => one === Fault.from(thrown).kind);
      if (kind !== undefined) this.#errors.add(1, { operation, kind });
      throw thrown;
    }
  }

  countBatches(batches: AsyncIterable<WatchBatch>): AsyncIterable<WatchBatch> {
    return {
      [Symbol.asyncIterator]: () => {
        const iterator = batches[Symbol.asyncIterator]();
        const end = iterator.return?.bind(iterator);
        return {
          next: () => this.count("watch", iterator.next()),
          ...(end === undefined ? {} : { return: end }),
        };
      },
    };
  }
}
