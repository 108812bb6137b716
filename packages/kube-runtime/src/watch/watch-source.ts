/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue?: string;
}

/** One event of a watch. A bookmark has no object, only a version. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T; readonly resourceVersion: string }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/**
 * What a watcher reads from. An expired version is a fault with `context.expired`; any other failure is any other
 * fault.
 */
export interface WatchSource<T> {
  list(
    query: { readonly limit?: number; readonly continue?: string; readonly resourceVersion?: string },
    signal: AbortSignal,
  ): Promise<ListPage<T>>;
  /** Opens a watch; the events end when the server ends it, and throw when it breaks. */
  watch(
    query: {
      readonly resourceVersion: string;
      readonly timeoutSeconds: number;
      /** Request the current state as events, ended by a marked bookmark. */
      readonly sendInitialEvents: boolean;
    },
    signal: AbortSignal,
  ): Promise<AsyncIterable<WatchEvent<T>>>;
}

/** What a watcher writes to. Calls come one at a time and in order. */
export interface WatchSink<T> {
  /**
   * Transforms an object as it arrives, so that dropped parts are never held in memory during a list. `replace` and
   * `apply` receive the result.
   */
  admit(object: T): T;
  /** The complete state at a version: objects not in it are gone. */
  replace(items: readonly T[], resourceVersion: string): void;
  apply(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void;
}
