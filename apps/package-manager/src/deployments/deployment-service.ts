import { isFault, type Ambient, type Fault } from "@oaas/foundation";
import type { ClusterName, DeploymentKey, PackageName } from "@oaas/models";
import { NOOP_CONTEXT, NOOP_METER, type ContextStore, type Logger, type Meter } from "@oaas/observability";
import { CollectionView, type KeyValueStore } from "@oaas/storage";
import { DeploymentStore } from "../stores/deployment-store.ts";
import { retryOnConflict } from "../concurrency.ts";
import type { CrmGateway } from "../ports.ts";
import { SagaEngine, type SagaEngineOptions } from "../saga-engine/engine.ts";
import { isOpen } from "../saga-engine/saga.ts";
import { restoreFault } from "../saga-engine/stored-fault.ts";
import { deployClass } from "../sagas/deploy-class.ts";
import { cascadeSaga, cascadeSubject, removePackageCascade } from "../sagas/remove-package-cascade.ts";
import { withCorrelation } from "../sagas/saga-context.ts";
import { undeployClass } from "../sagas/undeploy-class.ts";
import { UnitSender, type UnitWriter } from "../sagas/unit-sender.ts";
import type { Call, Deployments, OperationStatus } from "../use-cases.ts";
import { applyDeployment, cancelDeployment, planOnly, rollBackDeployment } from "./apply-deployment.ts";
import { launch, type DeploymentContext, type Launched, type DeploymentSnapshot } from "./context.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import type { PlanInputSources } from "./planning/gather-plan-input.ts";
import { abandonRemovals } from "./abandon-removals.ts";
import { operationStatus } from "../records/deployment-saga.ts";
import { Planning } from "./planning/planning.ts";
import {
  DEPLOYMENT_ORDERS,
  diffRevisions,
  listDeployments,
  listRevisions,
  readDeployment,
  readMappings,
  readRevision,
} from "./read-deployment.ts";
import { beginRemoval, removeDeployment } from "./remove-deployment.ts";
import { UnaccountedUnits } from "../stores/unaccounted-units.ts";
import { keyOfSubject, subjectOf } from "../records/deployment-saga.ts";

export interface DeploymentServiceOptions extends PlanInputSources {
  readonly store: KeyValueStore;
  readonly gateway: CrmGateway;
  readonly writeUnit: UnitWriter;
  readonly ambient: Ambient;
  readonly logger: Logger;
  /** Lets calls to clusters carry the correlation id of the request, also after a restart. */
  readonly workContext?: ContextStore;
  /** See `installationId`. */
  readonly managedBy: string;
  /** `DEPLOY_MAX_RETRIES`: tries per cluster after the first. */
  readonly maxRetries: number;
  /** `DEPLOY_ROLLBACK_ON_PARTIAL`. */
  readonly rollBackOnPartial: boolean;
  /** Removes a package when its last deployment is gone: the end of a cascade. */
  readonly forgetPackage: (name: PackageName) => Promise<void>;
  /** How long a caller waits for acceptance. */
  readonly waitMs?: number;
  readonly gateTimeoutMs?: number;
  readonly gatePollMs?: number;
  readonly fanOut?: number;
  readonly history?: number;
  readonly engine?: Pick<SagaEngineOptions, "policy" | "budget" | "maxStepsPerTarget" | "leaseMs">;
  readonly meter?: Meter;
  /** Told of each deployment whose operation ended, whoever carried it out. */
  readonly onOperationEnded?: (key: DeploymentKey) => void;
}

/** The deployments: everything that use cases and other parts of the package manager may ask about them. */
export class DeploymentService implements Deployments {
  readonly #context: DeploymentContext;
  readonly #options: DeploymentServiceOptions;

  constructor(options: DeploymentServiceOptions) {
    this.#options = options;
    const { store, ambient, logger, gateway, writeUnit, managedBy } = options;
    const deployments = new DeploymentStore(store);
    const { gateTimeoutMs = 300_000, gatePollMs = 1_000 } = options;
    const sender = new UnitSender({ gateway, writeUnit, ambient, managedBy, gateTimeoutMs, gatePollMs });
    const engine = new SagaEngine({
      store,
      ambient,
      logger,
      retries: options.maxRetries,
      ...options.engine,
      onProgress: (subject, saga) => {
        const key = keyOfSubject(subject);
        if (key !== undefined && saga !== undefined && !isOpen(saga)) options.onOperationEnded?.(key);
      },
    });
    this.#context = {
      store,
      deployments,
      view: new CollectionView<DeploymentRecord>(deployments.deployments, {
        ambient,
        orders: DEPLOYMENT_ORDERS,
      }),
      unaccounted: new UnaccountedUnits({ store, logger, meter: options.meter ?? NOOP_METER }),
      engine,
      sender,
      planning: new Planning(options),
      clusters: options.clusters,
      ambient,
      policy: { fanOut: options.fanOut ?? 128, rollBackOnPartial: options.rollBackOnPartial },
      waitMs: options.waitMs ?? 15_000,
      history: options.history ?? 50,
    };
    const { workContext = NOOP_CONTEXT } = options;
    engine.register(withCorrelation(deployClass({ deployments, sender, ambient }), workContext));
    engine.register(withCorrelation(undeployClass({ deployments, sender, ambient }), workContext));
    engine.register(
      removePackageCascade({
        ambient,
        keysOf: (name) => deployments.keysOf(name),
        removeDeployment: (key, call) => this.#removeOne(key, call),
        forgetPackage: options.forgetPackage,
      }),
    );
  }

  /** For the parts that keep what is deployed as it should be. */
  get context(): DeploymentContext {
    return this.#context;
  }

  /** Loads the lists, then resumes what was left by a process that died. */
  async start(): Promise<void> {
    await this.#context.view.start();
    await this.#context.engine.start();
  }

  async close(graceMs?: number): Promise<void> {
    await this.#context.engine.close(graceMs);
    await this.#context.view.close();
  }

  plan: Deployments["plan"] = (request) => planOnly(this.#context, request);
  apply: Deployments["apply"] = (request, call, options) => applyDeployment(this.#context, request, call, options);
  remove: Deployments["remove"] = (key, call, options) => removeDeployment(this.#context, key, call, options);
  rollBack: Deployments["rollBack"] = (key, revision, call, options) =>
    rollBackDeployment(this.#context, key, revision, call, options);
  cancel: Deployments["cancel"] = (key, call) => cancelDeployment(this.#context, key, call);
  get: Deployments["get"] = (key) => readDeployment(this.#context, key);
  list: Deployments["list"] = async (query) => listDeployments(this.#context, query);
  revisions: Deployments["revisions"] = (key, page) => listRevisions(this.#context, key, page);
  revision: Deployments["revision"] = (key, revision) => readRevision(this.#context, key, revision);
  diff: Deployments["diff"] = (key, from, to) => diffRevisions(this.#context, key, from, to);
  mappings: Deployments["mappings"] = (key) => readMappings(this.#context, key);

  /** The operation on a deployment that is under way or was the last, as this process last heard of it. */
  operation(key: DeploymentKey): OperationStatus | undefined {
    const saga = this.#context.engine.peek(subjectOf(key));
    return saga && operationStatus(saga);
  }

  /** The deployment as it is kept, for those who tell how it is. */
  async record(key: DeploymentKey): Promise<DeploymentRecord | undefined> {
    return (await this.#context.deployments.get(key))?.record;
  }

  /** Every deployment as the lists of this process show it. */
  *records(): Iterable<DeploymentRecord> {
    for (const { record } of this.#context.view.all()) yield record;
  }

  /** Why lists may be behind; undefined when they are not. */
  get viewFault(): Fault | undefined {
    return this.#context.view.trouble;
  }

  /** Keys of the deployments of a package, complete as of now. */
  keysOf(name: PackageName): Promise<readonly DeploymentKey[]> {
    return this.#context.deployments.keysOf(name);
  }

  /** Resolves when the lists show a revision at which a deployment changed. */
  reached(revision: number, options?: { readonly signal?: AbortSignal }): Promise<void> {
    return this.#context.view.reached(revision, options);
  }

  /** Keys of the deployments that have, or may have left, something in a cluster. */
  keysIn(cluster: ClusterName): readonly DeploymentKey[] {
    return [...this.#context.view.all()]
      .filter(({ record }) => Object.hasOwn(record.placements, cluster))
      .map(({ id }) => id as DeploymentKey);
  }

  /** Gives up what is left to be removed in a cluster that is gone; answers how many deployments that was. */
  async abandonRemovals(cluster: ClusterName): Promise<number> {
    const given = await abandonRemovals(this.#context, cluster, this.#options.clusters);
    if (given.length > 0) {
      this.#options.logger.warn("what was still to be removed in a cluster that is gone is given up", {
        cluster,
        deployments: given,
      });
    }
    return given.length;
  }

  /** Deletes all deployments of a package, then the package; carried on after a crash. */
  async removeAll(name: PackageName, call: Call): Promise<"deleted" | "accepted"> {
    const context = this.#context;
    const { outcome } = await retryOnConflict(async (): Promise<Launched> => {
      const saga = await context.engine.get(cascadeSubject(name));
      const at: DeploymentSnapshot = { key: name as string as DeploymentKey, current: undefined, saga };
      if (saga === undefined || !isOpen(saga.record)) return launch(context, at, cascadeSaga(name, call), []);
      const { subject, id } = saga.record;
      return {
        id,
        outcome: context.engine.wait({ subject, id, revision: saga.revision }, { timeoutMs: context.waitMs }),
      };
    });
    const waited = await outcome;
    if (waited.state !== "ended") return waited.state === "gone" ? "deleted" : "accepted";
    const failed = waited.saga.steps.find(({ fault }) => fault !== undefined);
    if (failed?.fault !== undefined) throw restoreFault(failed.fault);
    return "deleted";
  }

  async #removeOne(key: DeploymentKey, call: Call): Promise<void> {
    try {
      await beginRemoval(this.#context, key, call);
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) throw thrown;
    }
  }
}
