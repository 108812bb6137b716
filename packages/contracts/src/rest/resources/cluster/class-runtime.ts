import {
  COUNT_RANGE,
  RuntimePhase,
  type ClassRuntime,
  type ClassRuntimeStatus,
  type ClusterName,
  type FunctionKey,
  type FunctionStatus,
  type NfrCompliance,
  type ResourceReference,
  type UnitId,
  DeploymentCondition,
} from "@oaas/models";
import { z } from "zod";
import {
  choice,
  flag,
  listOf,
  object,
  optional,
  present,
  text,
  view,
  whole,
  withDefault,
} from "../../reading/fields.ts";
import { pascal, screaming } from "../../reading/spelling.ts";
import { conditionInput } from "../deployment/class-deployment.ts";

/** Phases of September 2025, read as what they mean today. */
const phaseInput = choice(RuntimePhase, screaming, {
  TEMPLATE_SELECTION: RuntimePhase.resourceProvisioning,
  ENFORCEMENT: RuntimePhase.running,
  COMPLETED: RuntimePhase.running,
});

const functionStatusInput = object({
  function_key: text(),
  service: text(),
  port: whole(COUNT_RANGE),
  predicted_url: text(),
  observed_url: optional(text()),
  template: text(),
  ready: optional(flag()),
  reason: optional(text()),
  message: optional(text()),
  last_transition_time: optional(text()),
}).transform((wire): FunctionStatus =>
  present({
    functionKey: wire.function_key as FunctionKey,
    service: wire.service,
    port: wire.port,
    predictedUrl: wire.predicted_url,
    observedUrl: wire.observed_url,
    template: wire.template,
    ready: wire.ready,
    reason: wire.reason,
    message: wire.message,
    lastTransitionTime: wire.last_transition_time,
  }),
);

const statusInput = object({
  condition: conditionInput,
  phase: phaseInput,
  message: optional(text()),
  last_updated: text(),
  functions: optional(z.array(functionStatusInput)),
}).transform(({ last_updated, ...rest }): ClassRuntimeStatus => present({ ...rest, lastUpdated: last_updated }));

const nfrComplianceInput = object({
  overall_status: text(),
  throughput_status: optional(text()),
  latency_status: optional(text()),
  availability_status: optional(text()),
  last_checked: text(),
}).transform((wire): NfrCompliance =>
  present({
    overall: wire.overall_status,
    throughput: wire.throughput_status,
    latency: wire.latency_status,
    availability: wire.availability_status,
    lastChecked: wire.last_checked,
  }),
);

const resourceReferenceInput = object({
  kind: text(),
  name: text(),
  namespace: optional(text()),
  uid: optional(text()),
}).transform((wire): ResourceReference => present(wire));

/** A class runtime as a PM answers it, read back by a client. */
export const classRuntimeInput = object({
  id: text(),
  deployment_unit_id: text(),
  package_name: text(),
  class_key: text(),
  target_environment: text(),
  cluster_name: optional(text()),
  status: optional(statusInput),
  nfr_compliance: optional(nfrComplianceInput),
  resource_refs: listOf(resourceReferenceInput),
  created_at: text(),
  updated_at: text(),
  partition_count: withDefault(whole(COUNT_RANGE), 1),
}).transform((wire): ClassRuntime =>
  present({
    id: wire.id as UnitId,
    unitId: wire.deployment_unit_id as UnitId,
    packageName: wire.package_name,
    classKey: wire.class_key,
    targetEnvironment: wire.target_environment,
    cluster: wire.cluster_name as ClusterName | undefined,
    status: wire.status,
    nfrCompliance: wire.nfr_compliance,
    resourceRefs: wire.resource_refs,
    createdAt: wire.created_at,
    updatedAt: wire.updated_at,
    partitionCount: wire.partition_count,
  }),
);

/** One function of a class runtime as it is sent. */
export const functionStatusView = view(
  {
    function_key: z.string(),
    service: z.string(),
    port: z.int(),
    predicted_url: z.string(),
    observed_url: z.string().nullable(),
    template: z.string(),
    ready: z.boolean().nullable(),
    reason: z.string().nullable(),
    message: z.string().nullable(),
    last_transition_time: z.string().nullable(),
  },
  {
    function_key: "Function key.",
    service: "Kubernetes Service of the function.",
    port: "Port of the Service.",
    predicted_url: "URL derived from the Service name.",
    observed_url: "URL reported by the cluster; null until it is known.",
    template: "Template that rendered the function.",
    ready: "Whether the function is ready; null when unknown.",
    reason: "Machine-readable reason (one CamelCase word).",
    message: "Human-readable message.",
    last_transition_time: "Time of the last transition.",
  },
);

/** The state of a class runtime as it is sent; its condition is in PascalCase, as the contract has it here. */
export const classRuntimeStatusView = view(
  {
    condition: z.enum(Object.values(DeploymentCondition).map(pascal)),
    phase: z.enum(Object.values(RuntimePhase).map(screaming)),
    message: z.string().nullable(),
    last_updated: z.string(),
    functions: z.array(functionStatusView).optional(),
  },
  {
    condition: "Condition.",
    phase: "Deployment phase.",
    message: "Human-readable message.",
    last_updated: "Time of the cluster's last report.",
    functions: "Status of each function.",
  },
);

export const nfrComplianceView = view(
  {
    overall_status: z.string(),
    throughput_status: z.string().nullable(),
    latency_status: z.string().nullable(),
    availability_status: z.string().nullable(),
    last_checked: z.string(),
  },
  {
    overall_status: "Overall compliance with the requirements.",
    throughput_status: "Throughput compliance; null when not measured.",
    latency_status: "Latency compliance; null when not measured.",
    availability_status: "Availability compliance; null when not measured.",
    last_checked: "Time of the measurement.",
  },
);

export const resourceReferenceView = view(
  {
    kind: z.string(),
    name: z.string(),
    namespace: z.string().nullable(),
    uid: z.string().nullable(),
  },
  {
    kind: "Kubernetes kind.",
    name: "Object name.",
    namespace: "Namespace; null for cluster-scoped objects.",
    uid: "Object UID.",
  },
);

/** A class runtime as it is sent. */
export const classRuntimeView = view(
  {
    id: z.string(),
    deployment_unit_id: z.string(),
    package_name: z.string(),
    class_key: z.string(),
    target_environment: z.string(),
    cluster_name: z.string().nullable(),
    status: classRuntimeStatusView.nullable(),
    nfr_compliance: nfrComplianceView.nullable(),
    resource_refs: z.array(resourceReferenceView),
    created_at: z.string(),
    updated_at: z.string(),
    partition_count: z.int(),
  },
  {
    id: "Deployment unit id.",
    deployment_unit_id: "Same as `id`.",
    package_name: "Package name.",
    class_key: "Class key.",
    target_environment: "Target environment reported by the class runtime manager: the namespace.",
    cluster_name: "Cluster name.",
    status: "Status; null until the cluster reports it.",
    nfr_compliance: "Compliance with the requirements; null when not measured.",
    resource_refs: "Kubernetes objects of the class runtime.",
    created_at: "Creation time.",
    updated_at: "Time of the last change.",
    partition_count: "Number of state partitions; 1 for a class without state.",
  },
);

/** Writes a class runtime in the contract's JSON. */
export function classRuntimeToWire(runtime: ClassRuntime): z.output<typeof classRuntimeView> {
  return {
    id: runtime.id,
    deployment_unit_id: runtime.unitId,
    package_name: runtime.packageName,
    class_key: runtime.classKey,
    target_environment: runtime.targetEnvironment,
    cluster_name: runtime.cluster ?? null,
    status: runtime.status === undefined ? null : statusToWire(runtime.status),
    nfr_compliance: runtime.nfrCompliance === undefined ? null : nfrComplianceToWire(runtime.nfrCompliance),
    resource_refs: runtime.resourceRefs.map((reference) => ({
      kind: reference.kind,
      name: reference.name,
      namespace: reference.namespace ?? null,
      uid: reference.uid ?? null,
    })),
    created_at: runtime.createdAt,
    updated_at: runtime.updatedAt,
    partition_count: Math.max(1, runtime.partitionCount),
  };
}

function statusToWire(status: ClassRuntimeStatus): z.output<typeof classRuntimeStatusView> {
  return present({
    condition: pascal(status.condition),
    phase: screaming(status.phase),
    message: status.message ?? null,
    last_updated: status.lastUpdated,
    functions: status.functions?.map(functionStatusToWire),
  });
}

/** Writes the state of one function in the contract's JSON. */
export function functionStatusToWire(status: FunctionStatus): z.output<typeof functionStatusView> {
  return {
    function_key: status.functionKey,
    service: status.service,
    port: status.port,
    predicted_url: status.predictedUrl,
    observed_url: status.observedUrl ?? null,
    template: status.template,
    ready: status.ready ?? null,
    reason: status.reason ?? null,
    message: status.message ?? null,
    last_transition_time: status.lastTransitionTime ?? null,
  };
}

function nfrComplianceToWire(compliance: NfrCompliance): z.output<typeof nfrComplianceView> {
  return {
    overall_status: compliance.overall,
    throughput_status: compliance.throughput ?? null,
    latency_status: compliance.latency ?? null,
    availability_status: compliance.availability ?? null,
    last_checked: compliance.lastChecked,
  };
}
