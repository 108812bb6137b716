import { unavailable } from "@oaas/foundation";
import type { Committed, KeyValueStore, Transaction } from "@oaas/storage";

/** What happens around the n-th commit of a store, counted from 1. */
export type CommitHook = (nth: number, commit: () => Promise<Committed>) => Promise<Committed>;

/** A store whose commits go through a hook: the place where a process dies, or an answer gets lost. */
export function hookedStore(
  store: KeyValueStore,
  hook: () => CommitHook | undefined,
): KeyValueStore & { readonly commits: number } {
  let commits = 0;
  return new Proxy(store, {
    get: (target, property) => {
      if (property === "commits") return commits;
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
  }) as KeyValueStore & { readonly commits: number };
}

/** Of a commit that was, or was not, applied before the connection broke. */
export function lostAnswer(): Error {
  return unavailable("the store", "the answer got lost", { context: { outcomeUnknown: true } });
}
