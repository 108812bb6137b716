import {
  backoffDelay,
  Fault,
  isFault,
  sleep,
  startDeadline,
  unavailable,
  type Ambient,
  type BackoffPolicy,
  type FaultKind,
} from "@oaas/foundation";
import { isExpired, statusReasonOf } from "@oaas/kube-core";
import { SilenceGuard } from "./silence-guard.ts";
import type { WatchEvent, WatchSink, WatchSource } from "./watch-source.ts";

/** State of a watcher, for logs and metrics. */
export type WatcherEvent =
  | { readonly type: "listed"; readonly items: number; readonly resourceVersion: string; readonly streamed: boolean }
  | { readonly type: "watching"; readonly resourceVersion: string }
  | { readonly type: "ended"; readonly events: number }
  | {
      readonly type: "failed";
      /** Expired: the version is too old, so a list follows. Silent: nothing was received for too long. */
      readonly reason: "expired" | "silent" | "broken";
      readonly fault: Fault;
      readonly retryInMs: number;
    };

/** Source, sink and timing of a watcher. */
export interface WatcherOptions<T> {
  readonly source: WatchSource<T>;
  readonly sink: WatchSink<T>;
  readonly ambient: Ambient;
  /**
   * Request the initial state as a stream instead of pages; falls back to pages when the server refuses. Saves server
   * memory, not time: the server sends every object separately, twice the work of pages. Default false.
   */
  readonly streamingList?: boolean;
  /** Items per page of a list. Default 2,000. */
  readonly pageSize?: number;
  /**
   * A watch without any message for this long is restarted: servers send bookmarks about every minute. Default 150 s.
   */
  readonly silenceMs?: number;
  /**
   * Requested watch duration, randomised up to twice this value, so that clients spread over servers. Default 300 s.
   */
  readonly watchSeconds?: number;
  /** Backoff between failures. Default 200 ms doubling to 30 s, half of it jitter. */
  readonly backoff?: BackoffPolicy;
  readonly onNote?: (note: WatcherEvent) => void;
}

const WATCH_BACKOFF: BackoffPolicy = { baseMs: 200, capMs: 30_000, factor: 2, jitter: 0.5 };

/** Servers send bookmarks about every minute. */
const SILENCE_MS = 150_000;

/** A shorter watch counts as failed even if it delivered events, to avoid a busy loop. */
const TOO_SHORT_MS = 1_000;

/**
 * Follows a list of objects forever.
 *
 * *Flow*: list (as a stream or by pages) → `replace` → watch from that version → `apply` each event and remember its
 * version → when the watch ends, breaks or is silent, watch again from the last version → when that version has expired
 * or the server does not know it, list again.
 *
 * *Guarantees*: runs until the signal aborts; after any fault the sink converges to the server's state, also when the
 * kind was absent in between or the server's store was restored to an earlier state; delays grow with repeated failures
 * and reset when a watch delivers something.
 *
 * *Assumptions*: the sink does not throw.
 */
export async function runWatcher<T>(options: WatcherOptions<T>, signal: AbortSignal): Promise<void> {
  const state: WatcherState = {
    resourceVersion: undefined,
    failures: 0,
    silences: 0,
    silence: undefined,
    canStream: options.streamingList ?? false,
    pagesNext: false,
  };
  while (!signal.aborted) {
    try {
      if (state.resourceVersion === undefined && (!state.canStream || state.pagesNext)) {
        state.resourceVersion = await listByPages(options, signal);
        state.pagesNext = false;
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
  /** The version to continue from; undefined means to list first. */
  resourceVersion: string | undefined;
  /** Consecutive. */
  failures: number;
  /** Consecutive watches without any message: after two, the version itself is suspect. */
  silences: number;
  /** The fault of the last silent watch. */
  silence: Fault | undefined;
  /** Whether the server streams lists. */
  canStream: boolean;
  /** The last streamed list was incomplete; the next one uses pages, which every server supports. */
  pagesNext: boolean;
}

async function recover<T>(
  options: WatcherOptions<T>,
  state: WatcherState,
  fault: Fault,
  signal: AbortSignal,
): Promise<void> {
  const listing = state.resourceVersion === undefined;
  if (listing && state.canStream && !state.pagesNext && refusesStreaming(fault)) {
    state.canStream = false;
    return;
  }
  const reason = isExpired(fault) ? "expired" : fault === state.silence ? "silent" : "broken";
  state.silences += reason === "silent" ? 1 : 0;
  if (reason === "expired" || shouldDropVersion(fault, state.failures) || state.silences > 1) {
    state.resourceVersion = undefined;
    state.silences = 0;
  }
  state.failures += 1;
  const delayMs = backoffDelay(options.backoff ?? WATCH_BACKOFF, state.failures - 1, options.ambient.random);
  const retryInMs = Math.max(retryAfterMs(fault), delayMs);
  options.onNote?.({ type: "failed", reason, fault, retryInMs });
  await sleep(options.ambient.timers, retryInMs, signal).catch(() => undefined);
}

async function listByPages<T>(options: WatcherOptions<T>, signal: AbortSignal): Promise<string> {
  const items: T[] = [];
  let next: string | undefined;
  for (;;) {
    using deadline = startDeadline(options.ambient, options.silenceMs ?? SILENCE_MS, signal);
    const page = await options.source.list(
      { limit: options.pageSize ?? 2_000, ...(next === undefined ? { resourceVersion: "" } : { continue: next }) },
      deadline.signal,
    );
    for (const item of page.items) items.push(options.sink.admit(item));
    next = page.continue;
    if (next === undefined || next === "") {
      options.sink.replace(items, page.resourceVersion);
      options.onNote?.({ type: "listed", items: items.length, resourceVersion: page.resourceVersion, streamed: false });
      return page.resourceVersion;
    }
  }
}

/** One watch from opening to end. Throws when it broke, was silent, or ended too soon. */
async function watchOnce<T>(options: WatcherOptions<T>, state: WatcherState, signal: AbortSignal): Promise<void> {
  const { clock } = options.ambient;
  const startedAt = clock.monotonic();
  using guard = new SilenceGuard(options.ambient, options.silenceMs ?? SILENCE_MS, signal);
  const base = options.watchSeconds ?? 300;
  const listing = state.resourceVersion === undefined;
  try {
    const events = await options.source.watch(
      {
        resourceVersion: state.resourceVersion ?? "",
        timeoutSeconds: Math.round(base * (1 + options.ambient.random.next())),
        sendInitialEvents: listing,
      },
      guard.signal,
    );
    if (!listing) options.onNote?.({ type: "watching", resourceVersion: state.resourceVersion ?? "" });
    // Set until the list is complete; a server without streamed lists sends objects without marking the end.
    state.pagesNext = listing;
    const count = await consume(options, state, guard, events);
    options.onNote?.({ type: "ended", events: count });
  } catch (thrown) {
    if (!guard.silent) throw thrown;
    throw (state.silence = unavailable("watch", `the watch received nothing for ${guard.limitMs} ms`, {
      cause: thrown,
    }));
  }
  if (state.resourceVersion === undefined) {
    throw unavailable("watch", "the watch ended before the initial state was complete");
  }
  if (clock.monotonic() - startedAt < TOO_SHORT_MS) {
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
  for await (const event of events) {
    guard.heard();
    count += 1;
    if (!initial) {
      if (event.type !== "BOOKMARK") options.sink.apply(event.type, options.sink.admit(event.object));
      state.resourceVersion = event.resourceVersion;
      state.failures = 0;
      state.silences = 0;
    } else if (event.type !== "BOOKMARK") {
      initial.push(options.sink.admit(event.object));
    } else if (event.initialEventsEnd) {
      const { resourceVersion } = event;
      options.sink.replace(initial, resourceVersion);
      options.onNote?.({ type: "listed", items: initial.length, resourceVersion, streamed: true });
      state.resourceVersion = resourceVersion;
      state.pagesNext = false;
      initial = undefined;
    } else {
      throw unavailable("watch", "the server does not mark the end of the initial state");
    }
  }
  return count;
}

/** Servers without streamed lists reject the query as invalid. */
function refusesStreaming(fault: Fault): boolean {
  return fault.kind === "invalid-argument" || fault.kind === "unimplemented";
}

/** Consecutive failures with one version before the version itself is suspected. */
const MAX_FAILURES = 5;

/**
 * Faults that make the version suspect: the kind was removed, the server has never reached that version, or it keeps
 * failing. An unreachable or overloaded server does not make the version suspect.
 */
function shouldDropVersion(fault: Fault, failures: number): boolean {
  const kinds: readonly FaultKind[] = ["not-found", "invalid-argument"];
  if (kinds.includes(fault.kind) || statusReasonOf(fault) === "Timeout") return true;
  return failures >= MAX_FAILURES && fault.context["httpStatus"] !== undefined && fault.kind !== "resource-exhausted";
}

function retryAfterMs(fault: Fault): number {
  return isFault(fault, "unavailable") || isFault(fault, "resource-exhausted") ? (fault.detail.retryAfterMs ?? 0) : 0;
}
