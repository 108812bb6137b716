import {
  API_VERSION,
  classRuntime,
  deploymentTemplate,
  environmentConfig,
  type ClassRuntimeInput,
  type DeploymentTemplateInput,
  type DeploymentTemplateSpec,
  type EnvironmentConfigInput,
} from "@oaas/contracts/crd";
import type { ClusterFacts, Environment } from "../model/cluster-facts.ts";
import type { Owner, RenderInput } from "../model/render-input.ts";

/** A cluster with all capabilities and features, of profile dev. */
export const CLUSTER: ClusterFacts = {
  profile: "dev",
  capabilities: {
    knative: true,
    horizontalPodAutoscaler: true,
    podDisruptionBudget: true,
    networkPolicy: true,
    serviceMonitor: true,
    podMonitor: true,
    scaledObject: true,
    httpScaledObject: true,
    podResize: false,
  },
  features: { odgm: true, hpa: true, knative: true, prometheus: false },
  flags: { isEdge: false, isDatacenter: false },
  odgm: { image: "example.test/odgm:1" },
  routers: [],
  telemetry: { enabled: false },
  maxReplicas: 20,
};

/** The parts of an input that a test states. */
export interface PartialInput {
  readonly name?: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec: ClassRuntimeInput["spec"];
  readonly environment?: { readonly name: string; readonly spec: EnvironmentConfigInput["spec"] };
  readonly cluster?: Partial<Omit<ClusterFacts, "capabilities" | "features">> & {
    readonly capabilities?: Partial<ClusterFacts["capabilities"]>;
    readonly features?: Partial<ClusterFacts["features"]>;
  };
  readonly assignedNames?: Readonly<Record<string, string>>;
  readonly enforced?: RenderInput["enforced"];
  readonly isEnforced?: boolean;
}

/** A complete input, parsed with the production schemas. */
export function inputOf(given: PartialInput): RenderInput {
  const { name = "order", namespace = "shop", labels } = given;
  const object = classRuntime.parse({
    apiVersion: API_VERSION,
    kind: "ClassRuntime",
    metadata: { name, namespace },
    spec: given.spec,
  });
  const owner: Owner = {
    apiVersion: API_VERSION,
    kind: "ClassRuntime",
    namespace,
    name,
    uid: "00000000-0000-0000-0000-000000000001",
    ...(labels === undefined ? {} : { labels }),
  };
  return {
    owner,
    spec: object.spec,
    cluster: {
      ...CLUSTER,
      ...given.cluster,
      capabilities: { ...CLUSTER.capabilities, ...given.cluster?.capabilities },
      features: { ...CLUSTER.features, ...given.cluster?.features },
    },
    ...(given.environment === undefined ? {} : { environment: environmentOf(given.environment) }),
    ...(given.assignedNames === undefined ? {} : { assignedNames: new Map(Object.entries(given.assignedNames)) }),
    ...(given.enforced === undefined ? {} : { enforced: given.enforced }),
    ...(given.isEnforced === undefined ? {} : { isEnforced: given.isEnforced }),
  };
}

function environmentOf({ name, spec }: NonNullable<PartialInput["environment"]>): Environment {
  const parsed = environmentConfig.parse({
    apiVersion: API_VERSION,
    kind: "EnvironmentConfig",
    metadata: { name },
    spec,
  });
  return { name, spec: parsed.spec };
}

/** The spec of a user template, parsed with its schema. */
export function templateSpecOf(spec: DeploymentTemplateInput["spec"], name = "mine"): DeploymentTemplateSpec {
  return deploymentTemplate.parse({ apiVersion: API_VERSION, kind: "DeploymentTemplate", metadata: { name }, spec })
    .spec;
}

/** A function that runs as a container. */
export function containerFunction(functionKey: string, image = "registry.local/order:1") {
  return { function_key: functionKey, provision_config: { container_image: image } };
}
