/** One page of a list. */
export interface ListPage<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
  readonly continue?: string;
}

/** One event of a watch. A bookmark brings no object, only how far the watch has come. */
export type WatchEvent<T> =
  | { readonly type: "ADDED" | "MODIFIED" | "DELETED"; readonly object: T; readonly resourceVersion: string }
  | { readonly type: "BOOKMARK"; readonly resourceVersion: string; readonly initialEventsEnd: boolean };

/**
 * What a watcher reads from. A version that the server no longer has is a fault with `context.expired`; anything else that
 * goes wrong is any other fault.
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
      /** Ask for the present state as events, ended by a bookmark that says so. */
      readonly sendInitialEvents: boolean;
    },
    signal: AbortSignal,
  ): Promise<AsyncIterable<WatchEvent<T>>>;
}

/** What a watcher writes to. Calls come one at a time and in order. */
export interface WatchSink<T> {
  /**
   * What to keep of an object, asked as it arrives: while a list is under way, what is let go here is never held.
   * `replace` and `apply` are given what this answered.
   */
  admit(object: T): T;
  /** The whole state as of a version: what is not in it is gone. */
  replace(items: readonly T[], resourceVersion: string): void;
  apply(type: "ADDED" | "MODIFIED" | "DELETED", object: T): void;
}
