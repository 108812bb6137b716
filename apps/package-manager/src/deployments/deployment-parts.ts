import { isFault, type Ambient, type Clock, type Ids } from "@oaas/foundation";
import type { DeploymentKey, PackageName } from "@oaas/models";
import {
  NOOP_CONTEXT,
  NOOP_METER,
  type ContextStore,
  type Logger,
  type Meter,
  NOOP_TRACER,
  type Tracer,
} from "@oaas/observability";
import { CollectionView, type KeyValueStore } from "@oaas/storage";
import type { CrmGateway } from "../ports.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { keyOfSubject } from "../records/deployment-saga.ts";
import { SagaEngine, type SagaEngineOptions } from "../saga-engine/engine.ts";
import { isOpen } from "../saga-engine/saga.ts";
import { deployClass } from "../sagas/deploy-class.ts";
import { removePackageCascade } from "../sagas/remove-package-cascade.ts";
import { withCorrelation } from "../saga-engine/kind.ts";
import type { RolloutPolicy } from "../sagas/saga-plans.ts";
import { undeployClass } from "../sagas/undeploy-class.ts";
import { UnitSender, type UnitEncoder } from "../sagas/unit-sender.ts";
import { DeploymentStore } from "../stores/deployment-store.ts";
import { UnaccountedUnits } from "../stores/unaccounted-units.ts";
import type { Call } from "../use-cases.ts";
import { CollectionClaims } from "../stores/collection-claims.ts";
import { DeploymentPauses } from "./deployment-pauses.ts";
import { StoredFreezeCalendar } from "./freeze-calendar.ts";
import { OpenOperations } from "./open-operations.ts";
import type { PlanInputSources } from "./planning/gather-plan-input.ts";
import type { PlanDeps } from "./plan-deployment.ts";
import { renderPlan } from "./planning/render-plan.ts";
import { Planning } from "./planning/planning.ts";
import { DEPLOYMENT_ORDERS } from "./read-deployment.ts";
import { startRemoval } from "./remove-deployment.ts";
import { SagaLauncher } from "./saga-launcher.ts";

export interface DeploymentPartsOptions extends Omit<PlanInputSources, "usedCollections"> {
  readonly store: KeyValueStore;
  readonly gateway: CrmGateway;
  readonly encoder: UnitEncoder;
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter?: Meter;
  /** Passes the correlation id of the request to the calls to clusters, also after a restart. */
  readonly workContext?: ContextStore;
  readonly tracer?: Tracer | undefined;
  /** See `installationId`. */
  readonly managedBy: string;
  /** `DEPLOY_MAX_RETRIES`: retries per cluster. */
  readonly maxRetries: number;
  /** `DEPLOY_ROLLBACK_ON_PARTIAL`. */
  readonly rollBackOnPartial: boolean;
  /** Removes a package at the end of a cascade, when its last deployment is removed. */
  readonly forgetPackage: (name: PackageName) => Promise<void>;
  /** How long a caller waits for acceptance. */
  readonly waitMs?: number;
  readonly gateTimeoutMs?: number;
  readonly gatePollMs?: number;
  readonly fanOut?: number;
  readonly history?: number;
  readonly engine?: Pick<SagaEngineOptions, "policy" | "budget" | "maxStepsPerTarget" | "leaseMs">;
  /** Called when an operation on a deployment ended, in any process. */
  readonly onOperationEnded?: (key: DeploymentKey) => void;
}

/** The objects that the use cases of deployments and the drift reconciler are composed of. */
export interface DeploymentParts {
  readonly store: KeyValueStore;
  readonly deployments: DeploymentStore;
  /** Every deployment, in memory. */
  readonly view: CollectionView<DeploymentRecord>;
  readonly pauses: DeploymentPauses;
  readonly freezes: StoredFreezeCalendar;
  readonly unaccounted: UnaccountedUnits;
  readonly engine: SagaEngine;
  readonly sender: UnitSender;
  readonly planning: Planning;
  readonly render: PlanDeps["render"];
  readonly launcher: SagaLauncher;
  readonly claims: CollectionClaims;
  readonly policy: RolloutPolicy;
  /** Revisions to keep in the history of a deployment. */
  readonly history: number;
  readonly waitMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Creates the parts and registers the sagas. Nothing is started. */
export function createDeploymentParts(options: DeploymentPartsOptions): DeploymentParts {
  const { store, ambient, logger, fanOut = 128, rollBackOnPartial, waitMs = 15_000, history = 50 } = options;
  const deployments = new DeploymentStore(store);
  const view = new CollectionView<DeploymentRecord>(deployments.deployments, { ambient, orders: DEPLOYMENT_ORDERS });
  const engine = createEngine(options);
  const launcher = new SagaLauncher({ deployments, view, engine, ambient, waitMs, history });
  const sender = createSender(options);
  const claims = new CollectionClaims({ store, deployments, view });
  const freezes = new StoredFreezeCalendar({ store, clusters: options.clusters, ambient });
  const parts: DeploymentParts = {
    store,
    deployments,
    view,
    pauses: new DeploymentPauses({ store, deployments, ambient }),
    freezes,
    unaccounted: new UnaccountedUnits({ store, logger, meter: options.meter ?? NOOP_METER }),
    engine,
    sender,
    render: (plan, previous) => renderPlan(plan, previous, { gateway: options.gateway, sender, ambient }),
    planning: new Planning(
      {
        ...options,
        clock: ambient.clock,
        frozen: (name) => freezes.activeOf(name),
        usedCollections: (deployment) => claims.usedCollections(deployment),
      },
      options,
    ),
    launcher,
    claims,
    policy: { fanOut, rollBackOnPartial },
    history,
    waitMs,
    clock: ambient.clock,
    ids: ambient.ids,
  };
  registerSagas(parts, options);
  return parts;
}

function createEngine(options: DeploymentPartsOptions): SagaEngine {
  const { store, ambient, logger, maxRetries, onOperationEnded } = options;
  const operations = new OpenOperations(options.meter ?? NOOP_METER);
  return new SagaEngine({
    store,
    ambient,
    logger,
    context: options.workContext ?? NOOP_CONTEXT,
    tracer: options.tracer ?? NOOP_TRACER,
    meter: options.meter ?? NOOP_METER,
    retries: maxRetries,
    ...options.engine,
    onProgress: (subject, saga) => {
      operations.update(subject, saga);
      const key = keyOfSubject(subject);
      if (key !== undefined && saga !== undefined && !isOpen(saga)) onOperationEnded?.(key);
    },
  });
}

function createSender(options: DeploymentPartsOptions): UnitSender {
  const { gateway, encoder, ambient, managedBy, gateTimeoutMs = 300_000, gatePollMs = 1_000 } = options;
  return new UnitSender({ gateway, encoder, ambient, managedBy, gateTimeoutMs, gatePollMs });
}

function registerSagas(parts: DeploymentParts, options: DeploymentPartsOptions): void {
  const { engine, deployments } = parts;
  const { ambient, forgetPackage, workContext = NOOP_CONTEXT } = options;
  const removeDeployment = async (key: DeploymentKey, call: Call): Promise<void> => {
    try {
      await startRemoval(parts, key, call);
    } catch (thrown) {
      if (!isFault(thrown, "not-found")) throw thrown;
    }
  };
  engine.register(withCorrelation(deployClass(parts), workContext));
  engine.register(withCorrelation(undeployClass(parts), workContext));
  engine.register(
    removePackageCascade({
      ambient,
      keysOf: (name) => deployments.keysOf(name),
      removeDeployment,
      forgetPackage,
    }),
  );
}
