import type { ObjectRef } from "@oaas/kube-core";
import { compareText } from "./observed-objects.ts";
import type { EventObject } from "./observed-objects.ts";

/** A Kubernetes Event, independent of the API that wrote it. */
export interface ObservedEvent {
  readonly name: string;
  readonly subject: { readonly kind: string; readonly name: string; readonly uid?: string };
  readonly warning: boolean;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  /** Last occurrence in RFC 3339; empty if unknown. */
  readonly lastSeen: string;
}

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

/** Events about this object, latest first. Events about an earlier object of the same name are excluded. */
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
