import type { ClassRuntime } from "@oaas/contracts/crd";
import type { Ambient } from "@oaas/foundation";
import type { KubeObject, Stored } from "@oaas/kube-core";
import {
  EventRecorder,
  InformerPool,
  LeaseElector,
  Manager,
  type InformerView,
  type KubeClient,
  type LedTask,
} from "@oaas/kube-runtime";
import { NOOP_LOGGER, NOOP_METER, type Logger, type Meter } from "@oaas/observability";
import type { Observation } from "../lifecycle/observation/observation.ts";
import type { OdgmHealth } from "../odgm-health/odgm-health.ts";
import { ChildApplier } from "./children/apply-children.ts";
import { ChildCache } from "./children/child-cache.ts";
import { classController, type ClassControllerParts } from "./class-controller.ts";
import { FactsReader, type ConfiguredFacts } from "./cluster/cluster-facts.ts";
import { PodView } from "./cluster/pod-view.ts";
import { KindDefinitions } from "./cluster/kind-definitions.ts";
import { OwnWrites } from "./reconcile/own-writes.ts";
import { Quotas } from "./quotas/quotas.ts";
import { SentChildren } from "./children/unconfirmed-children.ts";
import { ServedKinds } from "./cluster/served-kinds.ts";
import { observeClass } from "./reconcile/write-status.ts";
import { environmentStatusController, templateStatusController } from "./status-controllers.ts";
import { CLASS_RUNTIME_SUBJECT, DEPLOYMENT_RECORD_SUBJECT } from "./kinds/class-kind.ts";
import { Surroundings } from "./user-templates/template-sources.ts";
import { TemplateRevisions } from "./user-templates/template-revisions.ts";
import { TemplateUsers } from "./user-templates/template-users.ts";
import { UserTemplates } from "./user-templates/user-templates.ts";

export interface ClassManagerOptions {
  readonly client: KubeClient;
  /** The same over connections of its own, for the Lease: renewing must not stand in line behind our own work. By default the client. */
  readonly leaseClient?: KubeClient;
  /** The same, but its writes pass only while this holds: what the controllers act with. */
  readonly fencedClient?: (mayWrite: () => boolean) => KubeClient;
  readonly ambient: Ambient;
  /** The namespaces to look after, each watched by itself; undefined for all, which needs rights over the whole cluster. */
  readonly namespaces: readonly string[] | undefined;
  readonly facts: ConfiguredFacts;
  /** Who we are, in leases and events. */
  readonly identity: string;
  /** Where the lease lives; undefined works without an election. */
  readonly election?: { readonly namespace: string; readonly name: string; readonly leaseMs: number };
  /** Classes reconciled at once. Default 8. */
  readonly concurrency?: number;
  /** How often optional kinds (Knative, monitors) are looked for where their definitions cannot be watched. Default 30 s. */
  readonly lookForKindsMs?: number;
  /** What else runs while this process leads. */
  readonly tasks?: readonly LedTask[];
  /** Asks state stores how they are; without it their workloads alone decide. */
  readonly odgmHealth?: OdgmHealth;
  readonly logger?: Logger;
  readonly meter?: Meter;
}

/** The parts of the controller that others read from. */
export interface ClassManager {
  readonly manager: Manager;
  readonly classRuntimes: InformerView<ClassRuntime & KubeObject>;
  readonly informers: InformerPool;
  readonly elector: LeaseElector | undefined;
  readonly pods: PodView;
  readonly events: EventRecorder;
  readonly children: ChildCache;
  readonly facts: FactsReader;
  readonly surroundings: Surroundings;
  readonly quotas: Quotas;
  /** Everything that is known about a class at this moment, for explanations. */
  observe(object: ClassRuntime, signal: AbortSignal): Promise<Observation>;
}

/** Builds the controller of both kinds of class objects. Nothing runs before `manager.start()`. */
export function createClassManager(options: ClassManagerOptions): ClassManager {
  const { client, ambient, namespaces } = options;
  const logger = options.logger ?? NOOP_LOGGER;
  const meter = options.meter ?? NOOP_METER;
  const informers = new InformerPool(client, { ambient, logger, meter });
  const elector = options.election && electorOf(options.election, options);
  const acting = (elector && options.fencedClient?.(() => elector.isLeading)) ?? client;
  const children = new ChildCache(informers, namespaces);
  const surroundings = new Surroundings(informers, namespaces);
  const pods = new PodView(client, informers, namespaces);
  const facts = new FactsReader(options.facts, children, informers, namespaces);
  const events = new EventRecorder({
    client: acting,
    ambient,
    controller: "oaas.io/oprc-crm",
    instance: options.identity,
    logger,
    meter,
  });
  const writes = meter.counter({
    name: "crm_children_total",
    help: "Children looked at, by kind and whether they had to be written.",
    labels: ["kind", "outcome"],
  });
  const applier = new ChildApplier(acting, children, (kind, outcome) => writes.add(1, { kind, outcome }));
  const kinds = new ServedKinds({
    client,
    children,
    definitions: new KindDefinitions(informers),
    timers: ambient.timers,
    logger,
    everyMs: options.lookForKindsMs ?? 30_000,
  });
  const quotas = new Quotas(children);
  const templateUsers = new TemplateUsers();
  const revisions = new TemplateRevisions(informers, namespaces);
  const shared = {
    templates: new UserTemplates(surroundings, revisions, templateUsers),
    quotas,
    deferredStatus: new WeakSet<object>(),
    client: acting,
    clock: ambient.clock,
    children,
    applier,
    surroundings,
    pods,
    events,
    facts: (where: string) => facts.read(where),
    odgmReading: (uid: string) => options.odgmHealth?.readingOf(uid),
  };

  const parts: ClassControllerParts = {
    ambient,
    logger,
    meter,
    informers,
    namespaces,
    concurrency: options.concurrency ?? 8,
    shared,
    kinds,
    routers: facts.routers,
    templateUsers,
    odgmHealth: options.odgmHealth,
  };
  const makers = [classController(CLASS_RUNTIME_SUBJECT, parts), classController(DEPLOYMENT_RECORD_SUBJECT, parts)];
  const told = { client: acting, ambient, logger, meter, surroundings, quotas, users: templateUsers, revisions };
  const manager = new Manager({
    ambient,
    informers,
    controllers: () => {
      quotas.reset();
      return [...makers.map((make) => make()), templateStatusController(told), environmentStatusController(told)];
    },
    tasks: [kinds, ...(options.tasks ?? []), ...(options.odgmHealth ? [options.odgmHealth] : [])],
    logger,
    ...(elector ? { elector } : {}),
  });
  const classRuntimes = informers.view(CLASS_RUNTIME_SUBJECT.type, namespaces);
  const observed = {
    ...shared,
    subject: CLASS_RUNTIME_SUBJECT,
    informer: classRuntimes,
    own: new OwnWrites(classRuntimes),
    sent: new SentChildren(),
  };
  const observe = (object: ClassRuntime, signal: AbortSignal): Promise<Observation> =>
    observeClass(object as Stored<ClassRuntime & KubeObject>, signal, observed);
  return { manager, informers, classRuntimes, elector, pods, events, children, facts, surroundings, quotas, observe };
}

/** Others take over after the whole lease; we stop at two thirds of it, so that nobody acts beside us. */
function electorOf(election: NonNullable<ClassManagerOptions["election"]>, options: ClassManagerOptions): LeaseElector {
  const { leaseMs, ...lease } = election;
  return new LeaseElector({
    client: options.leaseClient ?? options.client,
    ambient: options.ambient,
    lease,
    identity: options.identity,
    leaseMs,
    renewWithinMs: (leaseMs * 2) / 3,
    everyMs: leaseMs / 7,
    lookEveryMs: leaseMs / 30,
    ...(options.logger ? { logger: options.logger } : {}),
    ...(options.meter ? { meter: options.meter } : {}),
  });
}
