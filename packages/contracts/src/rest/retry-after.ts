import type { Fault } from "@oaas/foundation";

/** The value of the Retry-After header for a fault: whole seconds, never less than was asked for; undefined without one. */
export function retryAfterOf(fault: Fault): string | undefined {
  const ms = retryAfterMsOf(fault);
  return ms === undefined ? undefined : String(Math.ceil(ms / 1000));
}

/** How long a fault asks to wait; a partial failure asks for the longest of its parts. */
function retryAfterMsOf({ detail }: Fault): number | undefined {
  if (detail.kind === "unavailable" || detail.kind === "resource-exhausted") return detail.retryAfterMs;
  if (detail.kind !== "partial-failure") return undefined;
  const waits = detail.parts.map((part) => retryAfterMsOf(part.fault)).filter((ms) => ms !== undefined);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Milliseconds from a Retry-After header (seconds or an HTTP date); undefined when it says nothing usable. */
export function retryAfterMsFrom(header: string | undefined | null, nowMs: number): number | undefined {
  const value = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const at = /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs);
}
