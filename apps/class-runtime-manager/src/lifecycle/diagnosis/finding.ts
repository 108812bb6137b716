import type { ObjectRef } from "@oaas/kube-core";
import { compareText } from "../observation/observed-objects.ts";
import type { ObservedEvent } from "../observation/observed-event.ts";
import { isFaultReason, rankOf, REASONS, type Reason, type Verdict } from "../observation/reasons.ts";

/** A detected cause: reason, object, verdict and action. */
export interface Finding {
  readonly reason: Reason;
  readonly verdict: Verdict;
  /** A predicate without its subject: "cannot pull …". It has no ages or counts, so that it is stable. */
  readonly message: string;
  /** The cause without Kubernetes objects, for the first sentence of an explanation; absent if the message serves. */
  readonly plain?: string;
  readonly action: string;
  readonly object: ObjectRef;
  /** Start time in RFC 3339, if known. */
  readonly since?: string;
  /** Number of occurrences, if known. */
  readonly count?: number;
  /** The node that causes it, if any. */
  readonly node?: string;
  /** Related events, latest first. */
  readonly events: readonly ObservedEvent[];
}

interface FindingDetails {
  readonly verdict?: Verdict | undefined;
  readonly action?: string | undefined;
  readonly plain?: string | undefined;
  readonly since?: string | undefined;
  readonly count?: number | undefined;
  readonly node?: string | undefined;
  readonly events?: readonly ObservedEvent[] | undefined;
}

/** Creates a finding with the default verdict and action of its reason. */
export function finding(reason: Reason, object: ObjectRef, message: string, details: FindingDetails = {}): Finding {
  const {
    verdict = REASONS[reason].verdict,
    action = REASONS[reason].action,
    plain,
    since,
    count,
    node,
    events = [],
  } = details;
  return {
    reason,
    verdict,
    message: withoutFullStop(message),
    ...(plain === undefined ? {} : { plain: withoutFullStop(plain) }),
    action,
    object,
    ...(since === undefined ? {} : { since }),
    ...(count === undefined ? {} : { count }),
    ...(node === undefined ? {} : { node }),
    events,
  };
}

function withoutFullStop(text: string): string {
  return text.replace(/(?<![\s.])[\s.]+$/, "");
}

/** Sorts findings by rank. The order of equal reasons does not depend on the input order. */
export function compareFindings(
  a: Pick<Finding, "reason" | "verdict" | "object">,
  b: Pick<Finding, "reason" | "verdict" | "object">,
): number {
  return (
    Number(isFaultReason(b.reason)) - Number(isFaultReason(a.reason)) ||
    rankOf(a.reason) - rankOf(b.reason) ||
    Number(b.verdict === "permanent") - Number(a.verdict === "permanent") ||
    compareText(a.object.name, b.object.name)
  );
}
