import type { JsonObject, KubeObject, Status } from "@oaas/kube-core";
import type { DeleteOptions, ObjectName, ResourceName } from "../cluster-objects.ts";
import { asJson, objectName } from "../objects/cluster-view.ts";

/**
 * What a controller wants done. A decision is a value: it is made from objects and the time alone, and compared in tests; the loop
 * carries it out in order and stops at the first write that is refused.
 */
export interface Decision {
  readonly steps: readonly Step[];
  /** When to look again even if nothing changes; without it only a change leads to another look. */
  readonly lookAgainInMs?: number;
}

export type Step = WriteStep | EventStep;

export type WriteStep =
  | { readonly do: "create"; readonly kind: ResourceName; readonly object: JsonObject; readonly told?: Told }
  | { readonly do: "update"; readonly kind: ResourceName; readonly object: JsonObject }
  | { readonly do: "status"; readonly kind: ResourceName; readonly object: JsonObject }
  | {
      readonly do: "delete";
      readonly kind: ResourceName;
      readonly name: ObjectName;
      readonly options: DeleteOptions;
      readonly told?: Told;
    }
  | {
      readonly do: "subresource";
      readonly kind: ResourceName;
      readonly name: ObjectName;
      readonly subresource: "binding" | "finalize";
      readonly body: JsonObject;
    };

/** Events that follow from how a write went. */
export interface Told {
  /** Given the object as the server has it: its name may be the server's choice. */
  readonly done?: (object: JsonObject) => EventDraft;
  readonly refused?: (status: Status) => EventDraft;
}

export interface EventStep {
  readonly do: "event";
  readonly event: EventDraft;
}

/** An Event before it is written; who reports it is the controller's to say. */
export interface EventDraft {
  readonly about: KubeObject;
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** As in `spec.containers{web}`. */
  readonly fieldPath?: string;
  /** Reporters of the newer form (the scheduler) say what they did. */
  readonly action?: string;
  /** A kubelet names its node. */
  readonly host?: string;
}

/** Nothing to do, as things are. */
export const SETTLED: Decision = { steps: [] };

export const create = (kind: ResourceName, object: object, told?: Told): WriteStep => ({
  do: "create",
  kind,
  object: asJson(object),
  ...(told === undefined ? {} : { told }),
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

/** Deletes this very object, not a later one of its name. */
export function remove(kind: ResourceName, object: KubeObject, options: DeleteOptions = {}, told?: Told): WriteStep {
  const { namespace, name = "", uid } = object.metadata;
  return {
    do: "delete",
    kind,
    name: objectName(namespace, name),
    options: uid === undefined ? options : { uid, ...options },
    ...(told === undefined ? {} : { told }),
  };
}

export const tell = (event: EventDraft): EventStep => ({ do: "event", event });

/** A decision of these steps; undefined ones are left out, so that a rule may say "nothing". */
export function decision(steps: readonly (Step | undefined)[], lookAgainInMs?: number): Decision {
  const kept = steps.filter((step) => step !== undefined);
  return lookAgainInMs === undefined ? { steps: kept } : { steps: kept, lookAgainInMs: Math.max(0, lookAgainInMs) };
}

/** The nearer of two times to look again. */
export function sooner(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}
