import { unavailable } from "@oaas/foundation";
import type { Committed, KeyValueStore, Transaction } from "@oaas/storage";

/** Wraps the n-th commit of a store, counted from 1. */
export type CommitHook = (nth: number, commit: () => Promise<Committed>) => Promise<Committed>;

/** A store that counts commits and records the keys that are read. */
export type HookedStore = KeyValueStore & { readonly commits: number; readonly reads: readonly string[] };

/** A store whose commits pass through a hook, which can kill the process or lose the response. */
export function hookedStore(store: KeyValueStore, hook: () => CommitHook | undefined): HookedStore {
  let commits = 0;
  const reads: string[] = [];
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "commits") return commits;
      if (property === "reads") return reads;
      if (property === "get") {
        return (...args: Parameters<KeyValueStore["get"]>) => {
          reads.push(args[0]);
          return target.get(...args);
        };
      }
      if (property === "commit") {
        return async (transaction: Transaction): Promise<Committed> => {
          commits += 1;
          const commit = (): Promise<Committed> => target.commit(transaction);
          const around = hook();
          return around === undefined ? commit() : around(commits, commit);
        };
      }
      const value = Reflect.get(target, property) as unknown;
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  }) as HookedStore;
}

/** The fault of a commit whose outcome is unknown, because the connection broke. */
export function lostResponse(): Error {
  return unavailable("the store", "the response was lost", { context: { outcomeUnknown: true } });
}
