import { isFault, type Timers } from "@oaas/foundation";

/** Time between two checks of the access of an open stream. */
const CHECK_MS = 5_000;

export interface StreamAccessOptions {
  readonly timers: Timers;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Throws unauthenticated or permission-denied when the caller may not read the stream any more. */
  readonly check: () => Promise<void>;
}

export interface StreamAccess {
  /** Aborts when the client disconnects or loses its access. */
  readonly signal: AbortSignal;
  /** Ends the checks. */
  stop(): void;
}

/**
 * Checks the access of an open stream until it ends: a stream lasts longer than the session, token or JWT that opened it.
 *
 * *Guarantees*: the stream ends within one interval after the access; not because the store or the issuer does not respond.
 */
export function watchAccess({ timers, signal, check }: StreamAccessOptions): StreamAccess {
  const lost = new AbortController();
  let isStopped = false;
  let timer = timers.after(CHECK_MS, recheck);
  function recheck(): void {
    void check().then(schedule, (thrown: unknown) => {
      if (isFault(thrown, "unauthenticated") || isFault(thrown, "permission-denied")) lost.abort(thrown);
      else schedule();
    });
  }
  function schedule(): void {
    if (!isStopped) timer = timers.after(CHECK_MS, recheck);
  }
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    stop: () => {
      isStopped = true;
      timer.cancel();
    },
  };
}

/** The events, and then the end of the checks. */
export async function* untilAccessEnds(events: AsyncIterable<string>, access: StreamAccess): AsyncGenerator<string> {
  try {
    yield* events;
  } finally {
    access.stop();
  }
}
