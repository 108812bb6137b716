import { Fault, type Ambient } from "@oaas/foundation";
import { keyOf, type KubeObject, type ObjectKey } from "@oaas/kube-core";
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
  type ReconcileContext,
  type Source,
} from "@oaas/kube-runtime";
import type { Logger, Meter } from "@oaas/observability";
import { gridOf, type Grid } from "../odgm-health/grid.ts";
import type { OdgmHealth } from "../odgm-health/odgm-health.ts";
import { OWNER_LABEL } from "../templates/index.ts";
import { crmMetrics } from "../telemetry.ts";
import { logFieldsOf } from "./reconcile/log-fields.ts";
import type { PodView } from "./cluster/pod-view.ts";
import { OwnWrites } from "./reconcile/own-writes.ts";
import type { ReconcileDeps } from "./reconcile/reconcile-deps.ts";
import { reconcile } from "./reconcile/reconcile.ts";
import { SentChildren } from "./children/unconfirmed-children.ts";
import type { ServedKinds } from "./cluster/served-kinds.ts";
import type { SubjectKind } from "./kinds/class-kind.ts";
import type { TemplateUsers } from "./user-templates/template-users.ts";
import { demandFor, environmentOf } from "./reconcile/render-desired.ts";

/** What the controllers of both kinds of class objects share. */
export interface ClassControllerParts {
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly informers: InformerPool;
  readonly namespaces: readonly string[] | undefined;
  readonly concurrency: number;
  readonly shared: Omit<ReconcileDeps<KubeObject>, "subject" | "informer" | "own" | "sent">;
  readonly kinds: ServedKinds;
  readonly routers: InformerView<KubeObject>;
  readonly templateUsers: TemplateUsers;
  readonly odgmHealth: OdgmHealth | undefined;
}

/** How long a class rests after the server refused us what its reconcile cannot do without. */
const REFUSED_MS = 30_000;

/** Follows the classes of one kind; what it gives makes their controller, anew for each term. */
export function classController<T extends KubeObject>(
  subject: SubjectKind<T>,
  parts: ClassControllerParts,
): () => Controller {
  const { ambient, logger, meter, informers, namespaces, concurrency, shared, kinds } = parts;
  const informer = informers.view(subject.type, namespaces, {}, { mayBeRefused: subject.mayBeRefused });
  const deps = { ...shared, subject, informer, own: new OwnWrites(informer), sent: new SentChildren() };
  tellOthers(deps, parts);
  const { reconciliation } = crmMetrics(meter);
  return () =>
    new Controller({
      name: subject.name,
      ambient,
      logger,
      meter,
      concurrency,
      logFields: (key) => logFieldsOf(informer.get(key)),
      sources: sourcesOf(deps, parts),
      reconcile: async (key, context) => {
        await kinds.known(context.signal);
        const startedAt = ambient.clock.monotonic();
        try {
          return await patiently(key, context, deps);
        } finally {
          reconciliation.observe((ambient.clock.monotonic() - startedAt) / 1000, { kind: subject.name });
        }
      },
    });
}

/** Templates, quotas and state stores are counted and asked by the classes that there are. */
function tellOthers<T extends KubeObject>(
  deps: ReconcileDeps<T>,
  { templateUsers, odgmHealth }: ClassControllerParts,
): void {
  const { subject, informer, quotas } = deps;
  templateUsers.follow(subject.owner.kind, informer, (object) => subject.statusOf(object));
  quotas.follow(subject.name, informer, {
    environmentOf: (object) => environmentOf(object, deps),
    render: (object) => demandFor(object, deps),
  });
  odgmHealth?.follow(subject.name, () => gridsOf(deps));
}

/** The state stores of all classes that have one. */
function gridsOf<T extends KubeObject>({ subject, informer }: ReconcileDeps<T>): Grid[] {
  return [...informer.cache.list()].flatMap((object) => {
    const status = subject.statusOf(object);
    if (status?.odgm_cluster_status === undefined) return [];
    const read = subject.read(object);
    return gridOf(object, status, read.ok ? read.value.spec : undefined) ?? [];
  });
}

/** Everything whose change may concern a class. */
function sourcesOf<T extends KubeObject>(
  { subject, informer, children, pods, surroundings, quotas }: ReconcileDeps<T>,
  { kinds, routers, odgmHealth, templateUsers }: ClassControllerParts,
): Source[] {
  const everyone = (): ObjectKey[] => [...informer.cache.list()].map(keyOf);
  const inNamespace = ({ metadata }: KubeObject): ObjectKey[] =>
    [...informer.cache.list(metadata.namespace)].map(keyOf);
  return [
    own(informer, { when: anyOf(specChanged, annotationsChanged), priority: PRIORITY.high }),
    children.source(subject.owner),
    podSource(pods, informer),
    mapped(surroundings.environments, inNamespace, { when: specChanged, priority: PRIORITY.low }),
    mapped(surroundings.templates, inNamespace, { when: specChanged, priority: PRIORITY.low }),
    mapped(routers, inNamespace, { priority: PRIORITY.low }),
    kinds.source(everyone),
    ...(odgmHealth ? [odgmHealth.source(subject.name)] : []),
    quotas.admittedSource(subject.name),
    templateUsers.turns(subject.owner.kind),
  ];
}

/** A pod tells of its class by the owner label; that is quicker than waiting for the workload's status. */
function podSource(pods: PodView, informer: InformerView<KubeObject>): Source {
  return mapped(pods.informers.pods, ({ metadata }: KubeObject): ObjectKey[] => {
    const key = { namespace: metadata.namespace ?? "", name: metadata.labels?.[OWNER_LABEL] ?? "" };
    return informer.get(key) ? [key] : [];
  });
}

/** Reconciles; a class for which the server refuses even the status rests a while, since nothing tells when that is mended. */
async function patiently<T extends KubeObject>(
  key: ObjectKey,
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Outcome> {
  try {
    return await reconcile(key, context, deps);
  } catch (thrown) {
    const fault = Fault.from(thrown);
    if (fault.retryable || ["internal", "cancelled"].includes(fault.kind)) throw fault;
    // Not even the status can tell; rights, policies and credentials may be mended without our hearing of it.
    context.logger.error("the server refuses what the class needs", { fault });
    return checkAgain(REFUSED_MS, fault.message);
  }
}
