import type { ClassRuntime, DeploymentRecord } from "@oaas/contracts/crd";
import type { Ambient } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import {
  EventRecorder,
  InformerPool,
  LeaseElector,
  Manager,
  type Controller,
  type InformerView,
  type KubeClient,
  type LedTask,
} from "@oaas/kube-runtime";
import { NOOP_LOGGER, NOOP_METER, NOOP_TRACER, type Logger, type Meter, type Tracer } from "@oaas/observability";
import type { Observation } from "../lifecycle/observation/observation.ts";
import type { OdgmHealth } from "../odgm-health/odgm-health.ts";
import { ChildApplier } from "./children/apply-children.ts";
import { ChildCache } from "./children/child-cache.ts";
import { DriftLog } from "./children/drift-log.ts";
import { PodResizer } from "./children/resize-pods.ts";
import { createClassController, type ClassControllerDeps } from "./class-controller.ts";
import { writeShardGates } from "./cluster/shard-gates.ts";
import { FactsReader, type ConfiguredFacts } from "./cluster/cluster-facts.ts";
import { PodView } from "./cluster/pod-view.ts";
import { ClusterRequirements } from "./cluster/cluster-requirements.ts";
import { KindDefinitions } from "./cluster/kind-definitions.ts";
import { OwnWrites } from "./reconcile/own-writes.ts";
import { Quotas } from "./quotas/quotas.ts";
import { UnconfirmedChildren } from "./children/unconfirmed-children.ts";
import { ServedKinds } from "./cluster/served-kinds.ts";
import { enforceableClass, type EnforceableClass } from "./reconcile/enforceable-class.ts";
import { runningStore } from "./reconcile/render-desired.ts";
import { previewClass, type ClassPreview } from "./reconcile/preview-class.ts";
import type { ExistingStore } from "../rendering/model/render-input.ts";
import { observeClass } from "./reconcile/write-status.ts";
import { environmentStatusController, templateStatusController } from "./status-controllers.ts";
import { CLASS_RUNTIME_KIND, DEPLOYMENT_RECORD_KIND } from "./kinds/class-kind.ts";
import { ReferenceChecker } from "./references/reference-checker.ts";
import { TemplateSources } from "./user-templates/template-sources.ts";
import { TemplateRevisions } from "./user-templates/template-revisions.ts";
import { TemplateUsers } from "./user-templates/template-users.ts";
import { UserTemplates } from "./user-templates/user-templates.ts";

export interface ClassManagerOptions {
  readonly client: KubeClient;
  /**
   * Client with separate connections for the Lease, so that a renewal never queues behind other requests. Default:
   * `client`.
   */
  readonly leaseClient?: KubeClient;
  /** Creates the client of the controllers; its writes are sent only while `mayWrite` returns true. */
  readonly fencedClient?: (mayWrite: () => boolean) => KubeClient;
  readonly ambient: Ambient;
  /** The watched namespaces; undefined watches the whole cluster and needs cluster-wide permissions. */
  readonly namespaces: readonly string[] | undefined;
  /** Namespaces without EnvironmentConfigs use those of this namespace; absent if they have none. */
  readonly environmentsNamespace?: string;
  /** Namespace whose routers all classes use, besides those in their own namespace. */
  readonly routerNamespace?: string;
  readonly facts: ConfiguredFacts;
  /** Identity in leases and events. */
  readonly identity: string;
  /** The Lease; undefined disables leader election. */
  readonly election?: { readonly namespace: string; readonly name: string; readonly leaseMs: number };
  /** Classes reconciled in parallel. Default 8. */
  readonly concurrency?: number;
  /** Discovery interval of optional kinds (Knative, monitors) whose definitions cannot be watched. Default 30 s. */
  readonly kindDiscoveryMs?: number;
  /** Further controllers of the leader, created for each term. */
  readonly controllers?: () => readonly Controller[];
  /** Further tasks of the leader. */
  readonly tasks?: readonly LedTask[];
  /** Reads the health of state stores; without it only their workloads count. */
  readonly odgmHealth?: OdgmHealth;
  readonly logger?: Logger;
  readonly meter?: Meter;
  readonly tracer?: Tracer;
}

/** The controllers and the parts that other services read. */
export interface ClassManager {
  readonly manager: Manager;
  readonly classRuntimes: InformerView<ClassRuntime & KubeObject>;
  readonly informers: InformerPool;
  readonly elector: LeaseElector | undefined;
  readonly pods: PodView;
  readonly events: EventRecorder;
  readonly children: ChildCache;
  readonly facts: FactsReader;
  readonly templateSources: TemplateSources;
  readonly quotas: Quotas;
  /** Its writes are sent only while this process is the leader. */
  readonly actingClient: KubeClient;
  /** A class of either kind as the enforcer sees it; undefined when it cannot be rendered. */
  enforceable(object: Stored<KubeObject>): EnforceableClass | undefined;
  /** Observes a class, for explanations. */
  observe(object: ClassRuntime, signal: AbortSignal): Promise<Observation>;
  /** The changes that the next reconcile of this object would make, once the served kinds are known. */
  preview(object: ClassRuntime, signal: AbortSignal): Promise<ClassPreview>;
  /** The state store of a class as it runs. */
  runningStore(object: ClassRuntime): ExistingStore;
}

/**
 * Creates the controllers of class runtimes, deployment records, templates and environments. Nothing runs before
 * `manager.start()`.
 */
export function createClassManager(options: ClassManagerOptions): ClassManager {
  const { client, ambient, namespaces } = options;
  const logger = options.logger ?? NOOP_LOGGER;
  const meter = options.meter ?? NOOP_METER;
  const informers = new InformerPool(client, { ambient, logger, meter });
  const elector = options.election && createElector(options.election, options);
  const actingClient = (elector && options.fencedClient?.(() => elector.isLeading)) ?? client;
  const children = new ChildCache(informers, namespaces);
  const templateSources = new TemplateSources(informers, namespaces, options.environmentsNamespace);
  const pods = new PodView(client, informers, namespaces);
  const facts = new FactsReader(options.facts, children, informers, namespaces, options.routerNamespace);
  const events = new EventRecorder({
    client: actingClient,
    ambient,
    controller: "oaas.io/oprc-crm",
    instance: options.identity,
    logger,
    meter,
  });
  const writes = meter.counter({
    name: "crm_children_total",
    help: "Reconciled children, by kind and whether they were written.",
    labels: ["kind", "outcome"],
  });
  const corrections = meter.counter({
    name: "crm_drift_corrections_total",
    help: "Children that another client changed or deleted and that were set back, by kind.",
    labels: ["kind"],
  });
  const applier = new ChildApplier(actingClient, children, ambient.clock, {
    onWrite: (kind, outcome) => writes.add(1, { kind, outcome }),
    onCorrection: (kind) => corrections.add(1, { kind }),
  });
  const kinds = new ServedKinds({
    client,
    children,
    definitions: new KindDefinitions(informers),
    timers: ambient.timers,
    logger,
    everyMs: options.kindDiscoveryMs ?? 30_000,
  });
  options.odgmHealth?.writeGatesWith((gates, signal) => writeShardGates(actingClient, gates, signal));
  const quotas = new Quotas(children);
  const templateUsers = new TemplateUsers();
  const revisions = new TemplateRevisions(informers, namespaces);
  const shared = {
    templates: new UserTemplates(templateSources, revisions, templateUsers),
    quotas,
    deferredStatus: new WeakSet<object>(),
    client: actingClient,
    clock: ambient.clock,
    children,
    applier,
    drift: new DriftLog(),
    resizer: new PodResizer(actingClient, events),
    references: new ReferenceChecker({ client, clock: ambient.clock, logger }),
    templateSources,
    pods,
    events,
    facts: (where: string) => facts.read(where),
    odgmReading: (uid: string) => options.odgmHealth?.readingOf(uid),
    storeReading: (uid: string) => options.odgmHealth?.storeReadingOf(uid),
    odgmChecks: options.odgmHealth ? ("on" as const) : ("off" as const),
  };

  const classDeps: ClassControllerDeps = {
    ambient,
    logger,
    meter,
    tracer: options.tracer ?? NOOP_TRACER,
    informers,
    namespaces,
    concurrency: options.concurrency ?? 8,
    shared,
    kinds,
    routers: facts.routers,
    templateUsers,
    odgmHealth: options.odgmHealth,
  };
  const classControllers = [
    createClassController(CLASS_RUNTIME_KIND, classDeps),
    createClassController(DEPLOYMENT_RECORD_KIND, classDeps),
  ];
  const statusDeps = {
    client: actingClient,
    ambient,
    logger,
    meter,
    templateSources,
    quotas,
    users: templateUsers,
    revisions,
  };
  const manager = new Manager({
    ambient,
    informers,
    prerequisite: new ClusterRequirements({ discovery: client.discovery, timers: ambient.timers, logger }),
    controllers: () => {
      quotas.reset();
      return [
        ...classControllers.map((create) => create()),
        templateStatusController(statusDeps),
        environmentStatusController(statusDeps),
        ...(options.controllers?.() ?? []),
      ];
    },
    tasks: [kinds, ...(options.tasks ?? []), ...(options.odgmHealth ? [options.odgmHealth] : [])],
    logger,
    ...(elector ? { elector } : {}),
  });
  const classRuntimes = informers.view(CLASS_RUNTIME_KIND.type, namespaces);
  const observeDeps = {
    ...shared,
    classKind: CLASS_RUNTIME_KIND,
    informer: classRuntimes,
    ownWrites: new OwnWrites(classRuntimes),
    unconfirmed: new UnconfirmedChildren(),
  };
  const records = informers.view(DEPLOYMENT_RECORD_KIND.type, namespaces, {}, { isOptional: true });
  const recordDeps = {
    ...observeDeps,
    classKind: DEPLOYMENT_RECORD_KIND,
    informer: records,
    ownWrites: new OwnWrites(records),
  };
  const enforceable = (object: Stored<KubeObject>): EnforceableClass | undefined =>
    object.kind === DEPLOYMENT_RECORD_KIND.owner.kind
      ? enforceableClass(object as Stored<DeploymentRecord & KubeObject>, recordDeps)
      : enforceableClass(object as Stored<ClassRuntime & KubeObject>, observeDeps);
  const observe = (object: ClassRuntime, signal: AbortSignal): Promise<Observation> =>
    observeClass(object as Stored<ClassRuntime & KubeObject>, signal, observeDeps);
  const preview = async (object: ClassRuntime, signal: AbortSignal): Promise<ClassPreview> => {
    await kinds.whenKnown(signal);
    return previewClass(object as Stored<ClassRuntime & KubeObject>, signal, observeDeps);
  };
  const storeOf = (object: ClassRuntime): ExistingStore =>
    runningStore(object as Stored<ClassRuntime & KubeObject>, object.status, observeDeps);
  return {
    manager,
    informers,
    classRuntimes,
    elector,
    pods,
    events,
    children,
    facts,
    templateSources,
    quotas,
    actingClient,
    enforceable,
    observe,
    preview,
    runningStore: storeOf,
  };
}

/** Stops acting after two thirds of the lease, so that no other replica takes over while this one still writes. */
function createElector(
  election: NonNullable<ClassManagerOptions["election"]>,
  options: ClassManagerOptions,
): LeaseElector {
  const { leaseMs, ...lease } = election;
  return new LeaseElector({
    client: options.leaseClient ?? options.client,
    ambient: options.ambient,
    lease,
    identity: options.identity,
    leaseMs,
    renewWithinMs: (leaseMs * 2) / 3,
    everyMs: leaseMs / 7,
    pollIntervalMs: leaseMs / 30,
    ...(options.logger ? { logger: options.logger } : {}),
    ...(options.meter ? { meter: options.meter } : {}),
  });
}
