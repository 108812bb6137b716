import {
  AccessModifier,
  ClusterStatus,
  ConsistencyModel,
  FunctionType,
  StateShape,
  type ClassDefinition,
  type ClassDeployment,
  type ClassKey,
  type ClusterName,
  type DeploymentKey,
  type FunctionBinding,
  type FunctionDefinition,
  type FunctionKey,
  type Package,
  type PackageName,
  type StateSpecification,
} from "@oaas/models";
import { planDeployment } from "../plan.ts";
import {
  DEFAULT_PLANNER_SETTINGS,
  type CandidateCluster,
  type CompletePlan,
  type DeploymentPlan,
  type PlanInput,
  type PlannerSettings,
  type PlanRefusal,
} from "../plan-types.ts";

export const clusterName = (name: string): ClusterName => name as ClusterName;
export const functionKey = (key: string): FunctionKey => key as FunctionKey;

/** A healthy cluster with this availability, in the data plane network `main`. */
export function clusterOf(name: string, availability: number, more: Partial<CandidateCluster> = {}): CandidateCluster {
  return {
    name: clusterName(name),
    labels: {},
    reading: {
      cluster: clusterName(name),
      status: ClusterStatus.healthy,
      availability,
      dataPlaneNetwork: "main",
    },
    readingAgeMs: 1000,
    breaker: "closed",
    ...more,
  };
}

/** Clusters c00, c01, … with these availabilities. */
export function clustersOf(availabilities: readonly number[]): CandidateCluster[] {
  return availabilities.map((availability, index) => clusterOf(`c${String(index).padStart(2, "0")}`, availability));
}

export function functionOf(key: string, more: Partial<FunctionDefinition> = {}): FunctionDefinition {
  return {
    key: functionKey(key),
    functionType: FunctionType.custom,
    provision: { containerImage: "registry.local/order:1", maxConcurrency: 0, needHttp2: false },
    config: {},
    disabled: false,
    ...more,
  };
}

export function bindingOf(name: string, key: string): FunctionBinding {
  return {
    name,
    functionKey: functionKey(key),
    accessModifier: AccessModifier.public,
    stateless: false,
    parameters: [],
    triggerOnStateChange: false,
    asyncExecution: false,
  };
}

export function stateOf(more: Partial<StateSpecification> = {}): StateSpecification {
  return {
    keySpecs: [],
    defaultProvider: "",
    consistencyModel: ConsistencyModel.none,
    shape: StateShape.data,
    persistent: false,
    serializationFormat: "",
    ...more,
  };
}

export const STRONG_STATE = stateOf({ consistencyModel: ConsistencyModel.strong });

interface TestInput {
  readonly package?: Partial<Package>;
  readonly definition?: Partial<ClassDefinition>;
  readonly functions?: readonly FunctionDefinition[];
  readonly deployment?: Partial<ClassDeployment>;
  readonly clusters?: readonly CandidateCluster[];
  readonly settings?: Partial<PlannerSettings>;
  readonly previous?: DeploymentPlan;
  /** Fields of the deployment of the previous plan. */
  readonly running?: Partial<ClassDeployment>;
  readonly mayMoveState?: boolean;
  readonly usedCollections?: PlanInput["usedCollections"];
  readonly whatIf?: PlanInput["whatIf"];
}

/** A complete input: by default class shop.Order with one function, over three clusters of 0.99. */
export function inputOf(given: TestInput = {}): PlanInput {
  const { previous, running, mayMoveState, usedCollections, whatIf } = given;
  const classKey = "Order" as ClassKey;
  const definition: ClassDefinition = {
    key: classKey,
    bindings: [bindingOf("place", "Order.place")],
    disabled: false,
    ...given.definition,
  };
  const deployment: ClassDeployment = {
    key: "orders" as DeploymentKey,
    classKey,
    targetClusters: [],
    availableClusters: [],
    nfr: {},
    clusterTemplates: {},
    functions: [],
    allowBestEffort: false,
  };
  return {
    package: {
      name: "shop" as PackageName,
      metadata: { tags: [] },
      classes: [definition],
      functions: given.functions ?? [functionOf("Order.place")],
      dependencies: [],
      deployments: [],
      disabled: false,
      ...given.package,
    },
    packageRevision: 1,
    deployment: { ...deployment, ...given.deployment },
    clusters: given.clusters ?? clustersOf([0.99, 0.99, 0.99]),
    settings: { ...DEFAULT_PLANNER_SETTINGS, ...given.settings },
    ...(previous === undefined ? {} : { previous }),
    ...(running === undefined ? {} : { running: { ...deployment, ...running } }),
    ...(mayMoveState === undefined ? {} : { mayMoveState }),
    ...(usedCollections === undefined ? {} : { usedCollections }),
    ...(whatIf === undefined ? {} : { whatIf }),
  };
}

/** Plans the input; throws on a refusal. */
export function expectPlan(given: TestInput | PlanInput = {}): CompletePlan {
  const result = planDeployment("packageRevision" in given ? given : inputOf(given));
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

/** The refusal of the input; throws if it can be planned. */
export function expectRefusal(given: TestInput = {}): PlanRefusal {
  const result = planDeployment(inputOf(given));
  if (result.ok) throw new Error(`planned ${JSON.stringify(result.value.units)}`);
  return result.error;
}

export function clustersIn(plan: DeploymentPlan): string[] {
  return plan.units.map(({ cluster }) => cluster);
}
