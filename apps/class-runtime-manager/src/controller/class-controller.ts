import { equalJson, Fault, type Ambient } from "@oaas/foundation";
import { keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import {
  annotationsChanged,
  anyOf,
  checkAgain,
  Controller,
  mapped,
  own,
  PRIORITY,
  specChanged,
  type InformerPool,
  type InformerView,
  type Outcome,
  type Predicate,
  type ReconcileContext,
  type Source,
} from "@oaas/kube-runtime";
import type { Logger, Meter, Tracer } from "@oaas/observability";
import { podsFingerprint, type CheckedStore } from "../odgm-health/checked-store.ts";
import type { OdgmHealth } from "../odgm-health/odgm-health.ts";
import { DEPLOYMENT_ID_LABEL } from "../mapping/object-identity.ts";
import { healthyReading } from "../state-store/assess-store.ts";
import { probeObjectId } from "../state-store/node-answer.ts";
import { OWNER_LABEL, ownerLabelValue } from "../templates/index.ts";
import { crmMetrics } from "../telemetry.ts";
import { classLogFields } from "./reconcile/log-fields.ts";
import { classTrace } from "./reconcile/class-trace.ts";
import type { RouterServices } from "./cluster/cluster-facts.ts";
import type { PodView } from "./cluster/pod-view.ts";
import { runningStoreOf } from "./reconcile/restart-store.ts";
import { OwnWrites } from "./reconcile/own-writes.ts";
import type { ReconcileDeps } from "./reconcile/reconcile-deps.ts";
import { reconcile } from "./reconcile/reconcile.ts";
import { UnconfirmedChildren } from "./children/unconfirmed-children.ts";
import type { ServedKinds } from "./cluster/served-kinds.ts";
import type { ClassKind } from "./kinds/class-kind.ts";
import type { TemplateUsers } from "./user-templates/template-users.ts";
import { renderDemand, environmentOfClass } from "./reconcile/render-desired.ts";

/** Dependencies that the controllers of both class kinds share. */
export interface ClassControllerDeps {
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly tracer: Tracer;
  readonly informers: InformerPool;
  readonly namespaces: readonly string[] | undefined;
  readonly concurrency: number;
  readonly shared: Omit<ReconcileDeps<KubeObject>, "classKind" | "informer" | "ownWrites" | "unconfirmed">;
  readonly kinds: ServedKinds;
  readonly routers: RouterServices;
  readonly templateUsers: TemplateUsers;
  readonly odgmHealth: OdgmHealth | undefined;
}

/** Delay before a class is reconciled again after the server rejected its status write. */
const FORBIDDEN_RETRY_MS = 30_000;

/**
 * Watches the classes of one kind and returns a factory for their controller: each term of leadership needs a new one.
 */
export function createClassController<T extends KubeObject>(
  classKind: ClassKind<T>,
  options: ClassControllerDeps,
): () => Controller {
  const { ambient, logger, meter, tracer, informers, namespaces, concurrency, shared, kinds } = options;
  const informer = informers.view(classKind.type, namespaces, {}, { isOptional: classKind.isOptional });
  const deps: ReconcileDeps<T> = {
    ...shared,
    classKind,
    informer,
    ownWrites: new OwnWrites(informer),
    unconfirmed: new UnconfirmedChildren(),
  };
  registerClasses(deps, options);
  const { reconciliation } = crmMetrics(meter);
  return () =>
    new Controller({
      name: classKind.name,
      ambient,
      logger,
      meter,
      tracer,
      traceOf: (key) => classTrace(informer.get(key), (object) => classKind.statusOf(object)),
      concurrency,
      logFields: (key) => classLogFields(informer.get(key)),
      sources: watchSources(deps, options),
      reconcile: async (key, context) => {
        await kinds.whenKnown(context.signal);
        const startedAt = ambient.clock.monotonic();
        try {
          return await reconcileOrBackOff(key, context, deps);
        } finally {
          reconciliation.observe((ambient.clock.monotonic() - startedAt) / 1000, { kind: classKind.name });
        }
      },
    });
}

/** Registers the classes with the template users, the quotas and the health checks of state stores. */
function registerClasses<T extends KubeObject>(
  deps: ReconcileDeps<T>,
  { templateUsers, odgmHealth }: ClassControllerDeps,
): void {
  const { classKind, informer, quotas } = deps;
  templateUsers.watch(classKind.owner.kind, informer, (object) => classKind.statusOf(object));
  quotas.watch(classKind.name, informer, {
    environmentOf: (object) => environmentOfClass(object, deps),
    render: (object) => renderDemand(object, deps),
  });
  odgmHealth?.follow(classKind.name, () => checkedStores(deps));
}

/** The state stores of all classes that have one. */
function checkedStores<T extends KubeObject>(deps: ReconcileDeps<T>): CheckedStore[] {
  const { classKind, informer, pods } = deps;
  return [...informer.cache.list()].flatMap((object): CheckedStore[] => {
    const { uid, name, deletionTimestamp } = object.metadata;
    const store = classKind.statusOf(object)?.odgm_cluster_status;
    if (store === undefined || deletionTimestamp !== undefined) return [];
    const key = keyOf(object);
    return [
      {
        uid,
        key,
        objectId: probeObjectId(object.metadata.labels?.[DEPLOYMENT_ID_LABEL] ?? name),
        fingerprint: podsFingerprint(pods.podsOf(key.namespace, ownerLabelValue(name))),
        read: () => runningStoreOf(object, deps),
        lastReading: healthyReading(store),
      },
    ];
  });
}

/** The watches that enqueue a class. */
function watchSources<T extends KubeObject>(
  { classKind, informer, children, pods, templateSources, quotas }: ReconcileDeps<T>,
  { kinds, routers, odgmHealth, templateUsers }: ClassControllerDeps,
): Source[] {
  const all = (): ObjectKey[] => [...informer.cache.list()].map(keyOf);
  const inNamespace = ({ metadata }: KubeObject): ObjectKey[] =>
    [...informer.cache.list(metadata.namespace)].map(keyOf);
  const inEnvironment = (object: KubeObject): ObjectKey[] =>
    templateSources.isShared(object.metadata.namespace) ? all() : inNamespace(object);
  const ofRouter = (object: KubeObject): ObjectKey[] =>
    object.metadata.namespace === routers.sharedNamespace ? all() : inNamespace(object);
  return [
    own(informer, {
      when: anyOf(specChanged, annotationsChanged, enforcementChanged(classKind)),
      priority: PRIORITY.high,
    }),
    children.source(classKind.owner),
    podSource(pods, informer),
    mapped(templateSources.environments, inEnvironment, { when: specChanged, priority: PRIORITY.low }),
    mapped(templateSources.templates, inNamespace, { when: specChanged, priority: PRIORITY.low }),
    mapped(routers.view, ofRouter, { priority: PRIORITY.low }),
    kinds.source(all),
    ...(odgmHealth ? [odgmHealth.source(classKind.name)] : []),
    quotas.admittedSource(classKind.name),
    templateUsers.releasedSource(classKind.owner.kind),
  ];
}

/** The enforcer wrote another value into the status. */
function enforcementChanged<T extends KubeObject>(classKind: ClassKind<T>): Predicate<T> {
  const valuesOf = (object: Stored<T>): unknown =>
    classKind
      .statusOf(object)
      ?.enforcement_state?.map(({ component, dimension, last_action: action }) => [component, dimension, action?.to]);
  return (change) => change.type === "updated" && !equalJson(valuesOf(change.object), valuesOf(change.previous));
}

/** Enqueues the class of a changed pod by its owner label, without waiting for the status of the workload. */
function podSource(pods: PodView, informer: InformerView<KubeObject>): Source {
  return mapped(pods.informers.pods, ({ metadata }: KubeObject): ObjectKey[] => {
    const key = { namespace: metadata.namespace ?? "", name: metadata.labels?.[OWNER_LABEL] ?? "" };
    return informer.get(key) ? [key] : [];
  });
}

/**
 * Reconciles. If the server rejects even the status write, the class is checked again later: no event reports a change
 * of permissions.
 */
async function reconcileOrBackOff<T extends KubeObject>(
  key: ObjectKey,
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Outcome> {
  try {
    return await reconcile(key, context, deps);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.retryable || ["internal", "cancelled"].includes(fault.kind)) throw fault;
    context.logger.error("reconcile class failed", { fault });
    return checkAgain(FORBIDDEN_RETRY_MS, fault.message);
  }
}
