import { useSyncExternalStore } from "react";
import { absoluteTime, relativeTime } from "../lib/time.ts";

const TICK_MS = 10_000;
let now = Date.now();
const listeners = new Set<() => void>();
let ticker: ReturnType<typeof setInterval> | undefined;

/** One timer for all times of a page; none while no page shows a time. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  ticker ??= setInterval(() => {
    now = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(ticker);
    ticker = undefined;
  };
}

/** A time relative to now, with the absolute one on hover and in print. */
export function Time({ at }: { readonly at: string | null | undefined }) {
  useSyncExternalStore(subscribe, () => now);
  if (at == null) return <span className="text-ink-3">–</span>;
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return <span>{at}</span>;
  return (
    <time dateTime={at} title={absoluteTime(ms)} className="whitespace-nowrap">
      {relativeTime(ms, Math.max(now, Date.now()))}
    </time>
  );
}
