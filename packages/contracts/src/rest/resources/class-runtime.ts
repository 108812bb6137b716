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
import { choice, flag, listOf, object, optional, present, text, view, whole, withDefault } from "../fields.ts";
import { pascal, screaming } from "../spelling.ts";
import { conditionInput } from "./class-deployment.ts";

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
    function_key: "Which function.",
    service: "The Service by which it is called inside its cluster.",
    port: "The port of that Service.",
    predicted_url: "The address that it has by its name.",
    observed_url: "The address that the cluster reports; null until it does.",
    template: "The template that made it.",
    ready: "Whether it serves; null when nobody knows.",
    reason: "Why it is as it is, in one word.",
    message: "The same in a sentence.",
    last_transition_time: "Since when it is so.",
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
    condition: "How it is.",
    phase: "How far it is on its way.",
    message: "Both in a sentence.",
    last_updated: "When its cluster said so.",
    functions: "How each function is.",
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
    overall_status: "Whether what was asked for holds.",
    throughput_status: "Whether the throughput holds; null when it is not measured.",
    latency_status: "Whether the latency holds; null when it is not measured.",
    availability_status: "Whether the availability holds; null when it is not measured.",
    last_checked: "When it was measured.",
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
    kind: "Its kind in Kubernetes.",
    name: "Its name.",
    namespace: "Its namespace; null for what has none.",
    uid: "Its uid, which no other object ever has.",
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
    id: "The id of the unit.",
    deployment_unit_id: "The same as `id`.",
    package_name: "The package of the class.",
    class_key: "The class that runs.",
    target_environment: "What its manager calls the place it runs in: the namespace.",
    cluster_name: "The cluster it runs in.",
    status: "How it is; null when its cluster has not said yet.",
    nfr_compliance: "Whether what was asked for holds; null when it is not measured.",
    resource_refs: "The objects in the cluster that it consists of.",
    created_at: "When it was made.",
    updated_at: "When it was changed.",
    partition_count: "Partitions of its state; 1 without state.",
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
