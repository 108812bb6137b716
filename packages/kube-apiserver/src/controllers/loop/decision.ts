import type { JsonObject, KubeObject, Status } from "@oaas/kube-core";
import type { DeleteOptions, ObjectName, ResourceName } from "../cluster-objects.ts";
import { asJson, objectName } from "../objects/cluster-view.ts";

/**
 * The desired steps of a controller. A decision is a value computed from objects and time alone; the loop executes it
 * in order and stops at the first rejected write.
 */
export interface Decision {
  readonly steps: readonly Step[];
  /** When to requeue even without a change. */
  readonly requeueAfterMs?: number;
}

export type Step = WriteStep | EventStep;

export type WriteStep =
  | { readonly do: "create"; readonly kind: ResourceName; readonly object: JsonObject; readonly events?: WriteEvents }
  | { readonly do: "update"; readonly kind: ResourceName; readonly object: JsonObject }
  | { readonly do: "status"; readonly kind: ResourceName; readonly object: JsonObject }
  | {
      readonly do: "delete";
      readonly kind: ResourceName;
      readonly name: ObjectName;
      readonly options: DeleteOptions;
      readonly events?: WriteEvents;
    }
  | {
      readonly do: "subresource";
      readonly kind: ResourceName;
      readonly name: ObjectName;
      readonly subresource: "binding" | "finalize";
      readonly body: JsonObject;
    };

/** Events that depend on the result of a write. */
export interface WriteEvents {
  /** Receives the stored object: the server may have chosen its name. */
  readonly done?: (object: JsonObject) => EventDraft;
  readonly failed?: (status: Status) => EventDraft;
}

export interface EventStep {
  readonly do: "event";
  readonly event: EventDraft;
}

/** An Event before it is written; the controller is its reporter. */
export interface EventDraft {
  readonly about: KubeObject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** As in `spec.containers{web}`. */
  readonly fieldPath?: string;
  /** The action, for reporters of the newer form (the scheduler). */
  readonly action?: string;
  /** A kubelet names its node. */
  readonly host?: string;
}

/** No steps. */
export const SETTLED: Decision = { steps: [] };

export const create = (kind: ResourceName, object: object, events?: WriteEvents): WriteStep => ({
  do: "create",
  kind,
  object: asJson(object),
  ...(events === undefined ? {} : { events }),
});

export const update = (kind: ResourceName, object: object): WriteStep => ({
  do: "update",
  kind,
  object: asJson(object),
});

export const updateStatus = (kind: ResourceName, object: object): WriteStep => ({
  do: "status",
  kind,
  object: asJson(object),
});

/** Deletes this object by uid, not a later one of its name. */
export function remove(
  kind: ResourceName,
  object: KubeObject,
  options: DeleteOptions = {},
  events?: WriteEvents,
): WriteStep {
  const { namespace, name = "", uid } = object.metadata;
  return {
    do: "delete",
    kind,
    name: objectName(namespace, name),
    options: uid === undefined ? options : { uid, ...options },
    ...(events === undefined ? {} : { events }),
  };
}

export const recordEvent = (event: EventDraft): EventStep => ({ do: "event", event });

/** A decision of these steps; undefined ones are skipped. */
export function createDecision(steps: readonly (Step | undefined)[], requeueAfterMs?: number): Decision {
  const present = steps.filter((step) => step !== undefined);
  return requeueAfterMs === undefined
    ? { steps: present }
    : { steps: present, requeueAfterMs: Math.max(0, requeueAfterMs) };
}

/** The earlier of two requeue delays. */
export function minDelayMs(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}
