import type { ObjectRef } from "@oaas/kube-core";
import { compareText } from "../observation/observed-objects.ts";
import type { ObservedEvent } from "../observation/observed-event.ts";
import { isFaultReason, rankOf, REASONS, type Reason, type Verdict } from "../observation/reasons.ts";

/** One cause that was seen: what, about which object, whether waiting helps, and what to do. */
export interface Finding {
  readonly reason: Reason;
  readonly verdict: Verdict;
  /** A sentence without its subject: "cannot pull …". Stable while the cause is: no ages, no counts. */
  readonly message: string;
  readonly action: string;
  readonly object: ObjectRef;
  /** Since when, RFC 3339, where Kubernetes tells. */
  readonly since?: string;
  /** How often, where Kubernetes counts. */
  readonly count?: number;
  /** The node to blame, when it is one. */
  readonly node?: string;
  /** Events that say so, the latest first. */
  readonly events: readonly ObservedEvent[];
}

interface FindingDetails {
  readonly verdict?: Verdict | undefined;
  readonly action?: string | undefined;
  readonly since?: string | undefined;
  readonly count?: number | undefined;
  readonly node?: string | undefined;
  readonly events?: readonly ObservedEvent[] | undefined;
}

/** A finding with the usual verdict and action of its reason, unless more is known. */
export function finding(reason: Reason, object: ObjectRef, message: string, seen: FindingDetails = {}): Finding {
  const { verdict = REASONS[reason].verdict, action = REASONS[reason].action, since, count, node, events = [] } = seen;
  return {
    reason,
    verdict,
    message: message.replace(/[\s.]+$/, ""),
    action,
    object,
    ...(since === undefined ? {} : { since }),
    ...(count === undefined ? {} : { count }),
    ...(node === undefined ? {} : { node }),
    events,
  };
}

/** Nearest to the cause first; the order of equal reasons does not depend on the order in which they were found. */
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
