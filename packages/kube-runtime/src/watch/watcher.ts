import {
  abortFault,
  backoffDelay,
  Fault,
  isFault,
  sleep,
  unavailable,
  type Ambient,
  type BackoffPolicy,
  type Timer,
} from "@oaas/foundation";
import { isExpired } from "@oaas/kube-core";
import type { WatchEvent, WatchSink, WatchSource } from "./watch-source.ts";

/** What a watcher is doing, for logs and metrics. */
export type WatcherNote =
  | { readonly type: "listed"; readonly items: number; readonly resourceVersion: string; readonly streamed: boolean }
  | { readonly type: "watching"; readonly resourceVersion: string }
  | { readonly type: "ended"; readonly events: number }
  | { readonly type: "expired" }
  | { readonly type: "silent"; readonly afterMs: number }
  | { readonly type: "failed"; readonly fault: Fault; readonly retryInMs: number };

export interface WatcherOptions<T> {
  readonly source: WatchSource<T>;
  readonly sink: WatchSink<T>;
  readonly ambient: Ambient;
  /** Ask for the first state as a stream instead of pages; falls back to pages when the server refuses. Default true. */
  readonly streamingList?: boolean;
  /** Items per page of a list. Default 500. */
  readonly pageSize?: number;
  /** A watch that says nothing for this long is dead: servers send bookmarks about every minute. Default 150 s. */
  readonly silenceMs?: number;
  /** A watch is asked to end after this long and up to twice as long, so that clients spread over servers. Default 300 s. */
  readonly watchSeconds?: number;
  readonly backoff?: BackoffPolicy;
  readonly onNote?: (note: WatcherNote) => void;
}

const WATCH_BACKOFF: BackoffPolicy = { baseMs: 200, capMs: 30_000, factor: 2, jitter: 0.5 };

/** A watch shorter than this that brought nothing counts as failed: a polite server must not cause a busy loop. */
const TOO_SHORT_MS = 1_000;

/**
 * Follows a list of objects for ever.
 *
 * *Flow*: list (as a stream or by pages) → `replace` → watch from that version → `apply` each event, remember its version → when the
 * watch ends, breaks or falls silent, watch again from the last version → when that version has expired, list again.
 *
 * *Guarantees*: runs until the signal aborts, whatever the server does; after any fault the sink converges to the server's
 * state; versions never go back within one list; waits grow with repeated failures and start anew after a success.
 *
 * *Assumptions*: the sink does not throw.
 */
export async function runWatcher<T>(options: WatcherOptions<T>, signal: AbortSignal): Promise<void> {
  const state = {
    resourceVersion: undefined as string | undefined,
    failures: 0,
    canStream: options.streamingList ?? true,
  };
  while (!signal.aborted) {
    try {
      if (state.resourceVersion === undefined && !state.canStream) {
        state.resourceVersion = await listByPages(options, signal);
      }
      await watchOnce(options, state, signal);
      state.failures = 0;
    } catch (thrown) {
      if (signal.aborted) return;
      await recover(options, state, Fault.from(thrown), signal);
    }
  }
}

interface WatcherState {
  resourceVersion: string | undefined;
  failures: number;
  canStream: boolean;
}

async function recover<T>(
  options: WatcherOptions<T>,
  state: WatcherState,
  fault: Fault,
  signal: AbortSignal,
): Promise<void> {
  if (isExpired(fault)) {
    // At once the first time: the server told us what to do. A server that keeps saying it is failing.
    state.resourceVersion = undefined;
    options.onNote?.({ type: "expired" });
    state.failures += 1;
    if (state.failures === 1) return;
  } else if (state.canStream && state.resourceVersion === undefined && refusesStreaming(fault)) {
    state.canStream = false;
    return;
  } else {
    state.failures += 1;
  }
  const asked =
    isFault(fault, "unavailable") || isFault(fault, "resource-exhausted") ? (fault.detail.retryAfterMs ?? 0) : 0;
  const retryInMs = Math.max(
    asked,
    backoffDelay(options.backoff ?? WATCH_BACKOFF, state.failures - 1, options.ambient.random),
  );
  options.onNote?.({ type: "failed", fault, retryInMs });
  await sleep(options.ambient.timers, retryInMs, signal).catch(() => undefined);
}

async function listByPages<T>(options: WatcherOptions<T>, signal: AbortSignal): Promise<string> {
  const items: T[] = [];
  let next: string | undefined;
  for (;;) {
    const page = await options.source.list(
      { limit: options.pageSize ?? 500, ...(next === undefined ? { resourceVersion: "" } : { continue: next }) },
      signal,
    );
    for (const item of page.items) items.push(item);
    next = page.continue;
    if (next === undefined || next === "") {
      options.sink.replace(items, page.resourceVersion);
      options.onNote?.({ type: "listed", items: items.length, resourceVersion: page.resourceVersion, streamed: false });
      return page.resourceVersion;
    }
  }
}

/** One watch from its opening to its end. Throws when it broke, fell silent, or ended at once. */
async function watchOnce<T>(options: WatcherOptions<T>, state: WatcherState, signal: AbortSignal): Promise<void> {
  const { clock } = options.ambient;
  const startedAt = clock.monotonic();
  using guard = new SilenceGuard(options.ambient, options.silenceMs ?? 150_000, signal);
  const base = options.watchSeconds ?? 300;
  const initial = state.resourceVersion === undefined;
  const events = await options.source.watch(
    {
      resourceVersion: state.resourceVersion ?? "",
      timeoutSeconds: Math.round(base * (1 + options.ambient.random.next())),
      sendInitialEvents: initial,
    },
    guard.signal,
  );
  if (!initial) options.onNote?.({ type: "watching", resourceVersion: state.resourceVersion ?? "" });
  const count = await consume(options, state, guard, events);
  options.onNote?.({ type: "ended", events: count });
  if (initial && state.resourceVersion === undefined) {
    throw unavailable("watch", "the watch ended before the first state was complete");
  }
  if (count === 0 && clock.monotonic() - startedAt < TOO_SHORT_MS) {
    throw unavailable("watch", "the watch ended as soon as it began");
  }
}

async function consume<T>(
  options: WatcherOptions<T>,
  state: WatcherState,
  guard: SilenceGuard,
  events: AsyncIterable<WatchEvent<T>>,
): Promise<number> {
  let initial: T[] | undefined = state.resourceVersion === undefined ? [] : undefined;
  let count = 0;
  try {
    for await (const event of events) {
      guard.heard();
      count += 1;
      if (event.type !== "BOOKMARK") {
        if (initial) initial.push(event.object);
        else {
          options.sink.apply(event.type, event.object);
          state.resourceVersion = event.resourceVersion;
          state.failures = 0;
        }
        continue;
      }
      if (initial && event.initialEventsEnd) {
        options.sink.replace(initial, event.resourceVersion);
        options.onNote?.({
          type: "listed",
          items: initial.length,
          resourceVersion: event.resourceVersion,
          streamed: true,
        });
        initial = undefined;
      }
      if (initial) continue;
      state.resourceVersion = event.resourceVersion;
      state.failures = 0;
    }
  } catch (thrown) {
    if (guard.silent) {
      options.onNote?.({ type: "silent", afterMs: guard.limitMs });
      throw unavailable("watch", `the watch said nothing for ${guard.limitMs} ms`);
    }
    throw thrown;
  }
  return count;
}

/** Aborts when nothing was heard for too long. */
class SilenceGuard implements Disposable {
  readonly #controller = new AbortController();
  readonly #ambient: Ambient;
  readonly #parent: AbortSignal;
  readonly #onAbort: () => void;
  readonly limitMs: number;
  #heardAt: number;
  #timer: Timer;
  silent = false;

  constructor(ambient: Ambient, limitMs: number, parent: AbortSignal) {
    this.#ambient = ambient;
    this.#parent = parent;
    this.limitMs = limitMs;
    this.#heardAt = ambient.clock.monotonic();
    this.#onAbort = () => this.#controller.abort(abortFault(parent));
    parent.addEventListener("abort", this.#onAbort, { once: true });
    if (parent.aborted) this.#onAbort();
    this.#timer = ambient.timers.after(limitMs, () => this.#look());
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.#heardAt = this.#ambient.clock.monotonic();
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
    this.#parent.removeEventListener("abort", this.#onAbort);
  }

  /** One timer that is set again, not one per event: busy watches have tens of thousands a second. */
  #look(): void {
    const leftMs = this.#heardAt + this.limitMs - this.#ambient.clock.monotonic();
    if (leftMs > 0) {
      this.#timer = this.#ambient.timers.after(leftMs, () => this.#look());
      return;
    }
    this.silent = true;
    this.#controller.abort(unavailable("watch", `nothing was heard for ${this.limitMs} ms`));
  }
}

/** Servers that do not stream lists answer that the query is invalid. */
function refusesStreaming(fault: Fault): boolean {
  return fault.kind === "invalid-argument" || fault.kind === "unimplemented";
}
