import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { RECORD_ANNOTATION } from "@oaas/nfr/policy";
import type { EventObject } from "../../lifecycle/observation/observed-objects.ts";

/** A change by enforcement. */
export interface EnforcementMark {
  /** RFC 3339. */
  readonly at: string;
  readonly component: string;
  readonly dimension: string;
  readonly from?: number | undefined;
  readonly to: number;
  readonly action: string;
}

/**
 * The changes by enforcement since a time, oldest first: from the status, which keeps the last of each dimension, and from
 * the records in Events, which the cluster keeps for about an hour.
 */
export function enforcementMarks(
  status: ClassRuntimeStatus | undefined,
  events: readonly EventObject[],
  sinceMs: number,
): readonly EnforcementMark[] {
  const applied = status?.last_applied_recommendations ?? [];
  const known = new Set(applied.map(({ digest }) => digest));
  const marks = [...applied.flatMap(markOfStatus), ...events.flatMap((event) => markOfEvent(event, known))];
  return marks.filter(({ at }) => Date.parse(at) >= sinceMs).toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

type Applied = NonNullable<ClassRuntimeStatus["last_applied_recommendations"]>[number];

function markOfStatus({ component, dimension, action = "apply", current, target, applied_at: at }: Applied) {
  return at === undefined ? [] : [{ at, component, dimension, action, from: current, to: target }];
}

const REASONS: ReadonlySet<string> = new Set(["NFRApplied", "NFRReverted"]);

/** Other clients can write Events too: nothing in a record is trusted. */
function markOfEvent(event: EventObject, known: ReadonlySet<string | undefined>): readonly EnforcementMark[] {
  const text = event.metadata.annotations?.[RECORD_ANNOTATION];
  const at = event.eventTime ?? event.metadata.creationTimestamp ?? undefined;
  if (text === undefined || at === undefined || !REASONS.has(event.reason ?? "")) return [];
  const { digest, input, outcome } = membersOf(parsed(text));
  const { component, dimension } = membersOf(input);
  const { action, from, to } = membersOf(outcome);
  if (typeof digest !== "string" || known.has(digest)) return [];
  if (typeof component !== "string" || typeof dimension !== "string") return [];
  if (typeof from !== "number" || typeof to !== "number" || typeof action !== "string") return [];
  return [{ at, component, dimension, action, from, to }];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
