import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import { resourceType } from "../client/resource-type.ts";

/** An Event of events.k8s.io/v1. */
export interface KubeEvent extends KubeObject {
  readonly eventTime?: string;
  readonly reportingController?: string;
  readonly reportingInstance?: string;
  readonly action?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly type?: "Normal" | "Warning";
  readonly regarding?: ObjectRef;
  readonly related?: ObjectRef;
  readonly series?: { readonly count: number; readonly lastObservedTime: string };
}

/** Resource type of Events. */
export const EVENTS = resourceType<KubeEvent>({
  group: "events.k8s.io",
  version: "v1",
  kind: "Event",
  resource: "events",
  namespaced: true,
});

/** An event to record. Built by small functions next to the code that knows the facts. */
export interface EventInput {
  readonly type: "Normal" | "Warning";
  /** CamelCase, short, from a fixed list. */
  readonly reason: string;
  /** CamelCase: the attempted action. */
  readonly action: string;
  readonly note: string;
  readonly regarding: ObjectRef;
  readonly related?: ObjectRef;
  /** The name of the Event, for events that are looked up by it; unique by default. */
  readonly name?: string;
  /** Annotations of the Event object, such as the correlation id. */
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The server's limit for a note. */
const LONGEST_NOTE = 1024;

/** Shortens a note to the server's limit, never inside a character. */
export function truncateNote(note: string): string {
  if (new TextEncoder().encode(note).length <= LONGEST_NOTE) return note;
  const bytes = new TextEncoder().encode(note).slice(0, LONGEST_NOTE - 3);
  return `${new TextDecoder().decode(bytes).replace(/\uFFFD+$/, "")}…`;
}

/** RFC 3339 with microseconds, as MicroTime requires. */
export function microTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace("Z", "000Z");
}
