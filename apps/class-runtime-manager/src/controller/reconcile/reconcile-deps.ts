import type { Clock } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import type { EventRecorder, InformerView, KubeClient } from "@oaas/kube-runtime";
import type { OdgmReading } from "../../lifecycle/observation/observation.ts";
import type { StoreReading } from "../../state-store/decide-restart.ts";
import type { ClusterFacts } from "../../templates/index.ts";
import type { ChildApplier } from "../children/apply-children.ts";
import type { ChildCache } from "../children/child-cache.ts";
import type { DriftLog } from "../children/drift-log.ts";
import type { PodResizer } from "../children/resize-pods.ts";
import type { PodView } from "../cluster/pod-view.ts";
import type { OwnWrites } from "./own-writes.ts";
import type { ReferenceChecker } from "../references/reference-checker.ts";
import type { Quotas } from "../quotas/quotas.ts";
import type { UnconfirmedChildren } from "../children/unconfirmed-children.ts";
import type { ClassKind } from "../kinds/class-kind.ts";
import type { TemplateSources } from "../user-templates/template-sources.ts";
import type { UserTemplates } from "../user-templates/user-templates.ts";

/** Dependencies of the reconciler of one class kind. */
export interface ReconcileDeps<T extends KubeObject> {
  readonly classKind: ClassKind<T>;
  readonly informer: InformerView<T>;
  /** The same objects, never older than our last write. */
  readonly ownWrites: OwnWrites<T>;
  /** Children sent by passes that did not complete. */
  readonly unconfirmed: UnconfirmedChildren;
  /** Versions of class objects whose status write was deferred once. */
  readonly deferredStatus: WeakSet<object>;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly children: ChildCache;
  readonly applier: ChildApplier;
  /** Corrections of children that are not in the status of their class yet. */
  readonly drift: DriftLog;
  readonly resizer: PodResizer;
  readonly references: ReferenceChecker;
  readonly templateSources: TemplateSources;
  readonly templates: UserTemplates;
  readonly pods: PodView;
  readonly quotas: Quotas;
  readonly events: Pick<EventRecorder, "record">;
  /** Reads the current facts: capabilities and routers change at run time. */
  readonly facts: (namespace: string) => ClusterFacts;
  /** The last health reading of the state store of the class with this uid, if any. */
  readonly odgmReading: (uid: string) => OdgmReading | undefined;
  /** What the nodes of that state store answered, if this process asked them. */
  readonly storeReading: (uid: string) => StoreReading | undefined;
  /** Whether state stores are checked. */
  readonly odgmChecks: "on" | "off";
}
