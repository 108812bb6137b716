import type { JsonObject, Status } from "@oaas/kube-core";
import type { ObjectChange, ResourceName } from "../cluster-objects.ts";
import type { ClusterView } from "../objects/cluster-view.ts";
import type { Decision, WriteStep } from "./decision.ts";

/** What a decision may look at. */
export interface Surroundings {
  readonly view: ClusterView;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/**
 * A level-triggered controller: told *which* object may need something, it looks at the present state and says what it wants.
 * It never learns why it was woken.
 */
export interface Controller {
  /** In messages to the operator, and part of the keys of the queue. */
  readonly name: string;
  /** Who its Events say they are from. */
  readonly reporter: string;
  /** Whose writes they are in managedFields. */
  readonly writer: string;
  /** Events in the form of events.k8s.io (eventTime, action, series), as the scheduler writes them. */
  readonly newStyleEvents?: boolean;
  /** Which keys a change of such an object concerns; asked of the new and of the previous state. */
  readonly follows: readonly Follow[];
  /** For those who are concerned with every kind, those of definitions too. */
  readonly followsAll?: FollowAll;
  decide(key: string, around: Surroundings): Decision;
  /** What to do beside trying again later, after a write was refused for another reason than a conflict. */
  afterRefusal?(key: string, refusal: Refusal, around: Surroundings): Decision;
}

export interface Follow {
  readonly kind: ResourceName;
  keys(object: JsonObject, view: ClusterView, change?: ObjectChange): Iterable<string>;
  /** Left out of the first look at everything: what these objects concern is found through others. */
  readonly isSecondary?: boolean;
}

export interface FollowAll {
  /** Which keys a change concerns. */
  changed(change: ObjectChange, view: ClusterView): Iterable<string>;
  /** Which keys an object concerns that was there before. */
  found(kind: ResourceName, object: JsonObject): Iterable<string>;
}

export interface Refusal {
  readonly step: WriteStep;
  readonly status: Status;
}
