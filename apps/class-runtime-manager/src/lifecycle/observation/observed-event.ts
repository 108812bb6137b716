import type { ObjectRef } from "@oaas/kube-core";
import { compareText } from "./observed-objects.ts";
import type { EventObject } from "./observed-objects.ts";

/** One Kubernetes Event in one form, whichever API wrote it. */
export interface ObservedEvent {
  readonly name: string;
  readonly subject: { readonly kind: string; readonly name: string; readonly uid?: string };
  readonly warning: boolean;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** When it was seen last, RFC 3339; empty when the event does not say. */
  readonly lastSeen: string;
}

/** The event in our form. */
export function toObservedEvent(event: EventObject): ObservedEvent {
  const { kind = "", name = "", uid } = event.regarding ?? event.involvedObject ?? {};
  return {
    name: event.metadata.name ?? "",
    subject: { kind, name, ...(uid === undefined ? {} : { uid }) },
    warning: event.type === "Warning",
    reason: event.reason ?? "",
    message: event.note ?? event.message ?? "",
    count: event.series?.count ?? event.count ?? event.deprecatedCount ?? 1,
    lastSeen: lastSeenOf(event),
  };
}

/** Events about this very object, the latest first. One about an earlier object of the name is left out. */
export function eventsAbout(
  events: readonly ObservedEvent[],
  object: Pick<ObjectRef, "kind" | "name" | "uid">,
): readonly ObservedEvent[] {
  return events
    .filter(({ subject }) => subject.kind === object.kind && subject.name === object.name && sameUid(subject, object))
    .sort((a, b) => compareText(b.lastSeen, a.lastSeen) || compareText(a.name, b.name));
}

function sameUid(a: { readonly uid?: string }, b: { readonly uid?: string }): boolean {
  return a.uid === undefined || b.uid === undefined || a.uid === b.uid;
}

function lastSeenOf(event: EventObject): string {
  return (
    event.series?.lastObservedTime ??
    event.lastTimestamp ??
    event.deprecatedLastTimestamp ??
    event.eventTime ??
    event.firstTimestamp ??
    event.metadata.creationTimestamp ??
    ""
  );
}
