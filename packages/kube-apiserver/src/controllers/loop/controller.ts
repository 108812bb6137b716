import type { JsonObject, Status } from "@oaas/kube-core";
import type { ObjectChange, ResourceName } from "../cluster-objects.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { keyOf, PODS, type Resource } from "../objects/resources.ts";
import type { Pod } from "../objects/typed.ts";
import type { Decision, WriteStep } from "./decision.ts";

/** The inputs of a decision. */
export interface ControllerContext {
  readonly view: ClusterView;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A level-triggered controller: given a key, it reads the current state and returns the desired steps.
 * It does not receive the change that triggered it.
 */
export interface Controller {
  /** For messages to the operator, and part of the queue keys. */
  readonly name: string;
  /** The reporting component of its Events. */
  readonly reporter: string;
  /** The field manager of its writes. */
  readonly writer: string;
  /** Writes Events in the events.k8s.io form (eventTime, action, series), like the scheduler. */
  readonly newStyleEvents?: boolean;
  /** The keys affected by a change; called with the new and the previous state. */
  readonly watches: readonly WatchedKind[];
  /** For controllers of every kind, including custom ones. */
  readonly watchesAll?: WatchedKinds;
  decide(key: string, context: ControllerContext): Decision;
  /** Handles a rejected write, other than a conflict, besides the retry. */
  afterError?(key: string, writeError: WriteError, context: ControllerContext): Decision;
}

export interface WatchedKind {
  readonly kind: ResourceName;
  keys(object: JsonObject, view: ClusterView, change?: ObjectChange): Iterable<string>;
  /** Skipped in the initial pass: the affected keys are found through other objects. */
  readonly isSecondary?: boolean;
}

export interface WatchedKinds {
  /** The keys affected by a change. */
  changed(change: ObjectChange, view: ClusterView): Iterable<string>;
  /** The keys affected by an initial object. */
  initial(kind: ResourceName, object: JsonObject): Iterable<string>;
}

export interface WriteError {
  readonly step: WriteStep;
  readonly status: Status;
}

/** The objects of a controller, each by its own key. */
export function watchOwn(kind: Resource): WatchedKind {
  return { kind, keys: (object) => [keyOf(typed(object))] };
}

/** Pods with a node. */
export function watchScheduledPods(): WatchedKind {
  return {
    kind: PODS,
    keys: (object) => {
      const pod = typed<Pod>(object);
      return pod.spec?.nodeName === undefined ? [] : [keyOf(pod)];
    },
  };
}
