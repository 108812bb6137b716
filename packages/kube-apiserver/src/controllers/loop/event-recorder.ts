import type { Clock } from "@oaas/foundation";
import { isJsonObject, type JsonObject, type KubeObject } from "@oaas/kube-core";
import type { ClusterObjects } from "../cluster-objects.ts";
import { asJson, objectName, typed } from "../objects/cluster-view.ts";
import { EVENTS } from "../objects/resources.ts";
import { microTime, wholeSeconds } from "../objects/time.ts";
import type { Controller } from "./controller.ts";
import type { EventDraft } from "./decision.ts";

/** From the tenth different message of one reason on one object, Events are combined: the real recorder's limit. */
const SIMILAR_LIMIT = 10;
/** The window of combined Events. */
const SIMILAR_WINDOW_MS = 600_000;
/** Bounded memory; a forgotten Event starts again with a count of one. */
const REMEMBERED = 4096;

interface Remembered {
  readonly name: string;
  readonly namespace: string;
}

interface Similar {
  sinceMs: number;
  readonly messages: Set<string>;
}

/**
 * Writes Events as the real recorders do: a repetition increments the existing Event; from the tenth different message
 * of one reason within ten minutes on, they are combined into one.
 */
export class EventRecorder {
  readonly #objects: ClusterObjects;
  readonly #clock: Clock;
  readonly #cache = new Map<string, Remembered>();
  readonly #similar = new Map<string, Similar>();
  #count = 0;

  constructor(objects: ClusterObjects, clock: Clock) {
    this.#objects = objects;
    this.#clock = clock;
  }

  async record(controller: Controller, draft: EventDraft): Promise<void> {
    const combined = controller.newStyleEvents === true ? draft : this.#combined(controller, draft);
    const key = eventKey(controller, combined);
    const cached = this.#cache.get(key);
    const previous = cached && this.#objects.get(EVENTS, objectName(cached.namespace, cached.name));
    if (previous) {
      const { namespace, resourceVersion: _, ...metadata } = typed<KubeObject>(previous).metadata;
      const again = {
        ...incrementEvent(previous, combined.message, this.#clock.now()),
        metadata: { ...metadata, namespace },
      };
      const updated = await this.#objects.update(EVENTS, asJson(again), controller.writer);
      if (updated.ok) return;
    }
    await this.#write(key, controller, combined);
  }

  async #write(key: string, controller: Controller, draft: EventDraft): Promise<void> {
    const event = createEvent(controller, draft, this.#clock.now(), (this.#count += 1));
    // An Event that cannot be written (its namespace is terminating) is dropped, as in the real recorders.
    const created = await this.#objects.create(EVENTS, asJson(event), controller.writer);
    if (!created.ok) return;
    cacheEvent(this.#cache, key, { name: event.metadata.name, namespace: event.metadata.namespace });
  }

  #combined(controller: Controller, draft: EventDraft): EventDraft {
    const { about, reason, type } = draft;
    const key = [controller.reporter, about.metadata.uid, about.metadata.name, type, reason].join("\u0000");
    const now = this.#clock.now();
    const similar = this.#similar.get(key);
    if (similar === undefined || now - similar.sinceMs > SIMILAR_WINDOW_MS) {
      cacheEvent(this.#similar, key, { sinceMs: now, messages: new Set([draft.message]) });
      return draft;
    }
    similar.messages.add(draft.message);
    similar.sinceMs = now;
    if (similar.messages.size < SIMILAR_LIMIT) return draft;
    // The limit is reached: the set need not grow any further.
    similar.messages.delete(draft.message);
    return { ...draft, message: `${COMBINED}${draft.message}` };
  }
}

const COMBINED = "(combined from similar events): ";

function eventKey(controller: Controller, { about, type, reason, message, fieldPath }: EventDraft): string {
  const text = message.startsWith(COMBINED) ? COMBINED : message;
  const { namespace, name, uid } = about.metadata;
  return [controller.reporter, about.kind, namespace, name, uid, fieldPath, type, reason, text].join("\u0000");
}

function cacheEvent<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED && oldest !== undefined) map.delete(oldest);
}

function incrementEvent(event: JsonObject, message: string, now: number): JsonObject {
  if (event["eventTime"] !== undefined && event["eventTime"] !== null) {
    const series = event["series"];
    const count = isJsonObject(series) && typeof series["count"] === "number" ? series["count"] : 1;
    return { ...event, series: { count: count + 1, lastObservedTime: microTime(now) } };
  }
  const count = typeof event["count"] === "number" ? event["count"] : 1;
  return { ...event, message, count: count + 1, lastTimestamp: wholeSeconds(now) };
}

interface NewEvent {
  readonly metadata: { readonly name: string; readonly namespace: string };
}

/** Names as in the real recorder: the object's name and the time in nanoseconds in hex; the count keeps them unique. */
function createEvent(controller: Controller, draft: EventDraft, now: number, count: number): NewEvent {
  const { about, type, reason, message, fieldPath, action, host } = draft;
  const { namespace = "default", name = "", uid, resourceVersion } = about.metadata;
  const nanos = (BigInt(Math.floor(now)) * 1_000_000n + BigInt(count % 1_000_000)).toString(16);
  const base = {
    apiVersion: EVENTS.apiVersion,
    kind: EVENTS.kind,
    metadata: { name: `${name}.${nanos}`, namespace: namespace === "" ? "default" : namespace },
    involvedObject: {
      apiVersion: about.apiVersion,
      kind: about.kind,
      name,
      ...(about.metadata.namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      ...(fieldPath === undefined ? {} : { fieldPath }),
    },
    type,
    reason,
    message,
    // The real recorder drops it for combined Events.
    reportingComponent: message.startsWith(COMBINED) ? "" : controller.reporter,
  };
  if (controller.newStyleEvents === true) {
    return {
      ...base,
      ...(action === undefined ? {} : { action }),
      eventTime: microTime(now),
      reportingInstance: `${controller.reporter}-simulated`,
      source: {},
    } as NewEvent;
  }
  return {
    ...base,
    source: { component: controller.reporter, ...(host === undefined ? {} : { host }) },
    reportingInstance: host ?? "",
    firstTimestamp: wholeSeconds(now),
    lastTimestamp: wholeSeconds(now),
    count: 1,
  } as NewEvent;
}
