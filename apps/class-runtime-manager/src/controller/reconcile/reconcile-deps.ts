import type { Clock } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import type { EventRecorder, InformerView, KubeClient } from "@oaas/kube-runtime";
import type { OdgmReading } from "../../lifecycle/observation/observation.ts";
import type { ClusterFacts } from "../../templates/index.ts";
import type { ChildApplier } from "../children/apply-children.ts";
import type { ChildCache } from "../children/child-cache.ts";
import type { PodView } from "../cluster/pod-view.ts";
import type { OwnWrites } from "./own-writes.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { SentChildren } from "../children/unconfirmed-children.ts";
import type { SubjectKind } from "../kinds/class-kind.ts";
import type { Surroundings } from "../user-templates/template-sources.ts";
import type { UserTemplates } from "../user-templates/user-templates.ts";

/** What reconciling one kind of subject needs. */
export interface ReconcileDeps<T extends KubeObject> {
  readonly subject: SubjectKind<T>;
  readonly informer: InformerView<T>;
  /** The same objects, no older than our own last writes. */
  readonly own: OwnWrites<T>;
  /** What passes sent that did not come to their end. */
  readonly sent: SentChildren;
  /** Versions of class objects whose status write was deferred once. */
  readonly deferredStatus: WeakSet<object>;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly children: ChildCache;
  readonly applier: ChildApplier;
  readonly surroundings: Surroundings;
  readonly templates: UserTemplates;
  readonly pods: PodView;
  readonly quotas: Quotas;
  readonly events: Pick<EventRecorder, "record">;
  /** As of now: capabilities and routers may change while we run. */
  readonly facts: (namespace: string) => ClusterFacts;
  /** What the state store of the class with this uid said last; undefined when that is not known. */
  readonly odgmReading: (uid: string) => OdgmReading | undefined;
}
