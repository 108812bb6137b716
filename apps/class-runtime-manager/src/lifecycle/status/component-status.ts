import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import { ShardType } from "@oaas/models";
import type { Assessment, ComponentHealth } from "../diagnosis/assess.ts";
import { compareText } from "../observation/observed-objects.ts";
import type { Expected, ExpectedFunction, Observation } from "../observation/observation.ts";
import { causeText, componentText } from "./cause-text.ts";

/** Status of one function. */
export type FunctionStatus = NonNullable<ClassRuntimeStatus["functions"]>[number];
type OdgmStatus = NonNullable<ClassRuntimeStatus["odgm_cluster_status"]>;
type ResourceRef = NonNullable<ClassRuntimeStatus["resource_refs"]>[number];

/** Status of each function, in the order of the spec. */
export function functionStatuses(
  observation: Observation,
  expected: Expected,
  { functions }: Assessment,
  previous: readonly FunctionStatus[],
  now: string,
): FunctionStatus[] {
  const before = new Map(previous.map((status) => [status.function_key, status]));
  const services = new Set(
    observation.children.filter(({ kind }) => kind === "Service").map(({ metadata }) => metadata.name ?? ""),
  );
  return functions.flatMap((health, index) => {
    const desired = expected.functions[index];
    if (desired === undefined) return [];
    const last = before.get(desired.functionKey);
    const { ready } = health.readiness;
    const url = observedUrlOf(desired, health, services);
    return [
      {
        function_key: desired.functionKey,
        service: desired.service,
        ...(desired.port === 0 ? {} : { port: desired.port }),
        predicted_url: desired.predictedUrl,
        ...(url === undefined ? {} : { observed_url: url }),
        template: expected.template.name,
        ready,
        serving: health.readiness.serving,
        ...replicasOf(health),
        ...reasonOf(health, observation.subject),
        lastTransitionTime: (last?.ready === ready ? last.lastTransitionTime : undefined) ?? now,
      },
    ];
  });
}

function replicasOf({ workloads: [first], readiness }: ComponentHealth): Partial<FunctionStatus> {
  if (first === undefined) return {};
  return {
    desired_replicas: readiness.desired,
    ready_replicas: readiness.readyReplicas,
    updated_replicas: readiness.updatedReplicas,
    workload: resourceRef(first.workload ?? first.ref),
  };
}

/** The observed URL: a reported route, or the predicted URL when its Service exists and the workload serves. */
function observedUrlOf(
  desired: ExpectedFunction,
  { readiness }: ComponentHealth,
  services: ReadonlySet<string>,
): string | undefined {
  if (!readiness.serving) return undefined;
  if (readiness.url !== undefined) return readiness.url;
  if (desired.predictedUrl === "" || (desired.service !== "" && !services.has(desired.service))) return undefined;
  return desired.predictedUrl;
}

/** Why the function is not ready, or that it is scaled to zero. */
function reasonOf(component: ComponentHealth, subject: ObjectRef) {
  const [first] = component.findings;
  const { reason, message } = component.readiness;
  if (first === undefined)
    return reason === "ScaledToZero" ? { reason, message: `${componentText(component)} ${message}.` } : {};
  return { reason: first.reason, message: causeText({ source: "observation", component, finding: first }, subject) };
}

/** Status of the state store, including its own report. */
export function odgmStatus(observation: Observation, expected: Expected, { odgm }: Assessment): OdgmStatus | undefined {
  const { odgm: desired } = expected;
  if (desired === undefined || odgm === undefined) return undefined;
  const { odgmReading: reading, odgmRestart: restart, odgmConfiguration: configuration } = observation;
  const reported = new Map((reading?.details?.collections_status ?? []).map((one) => [one.name, one]));
  return {
    ...reading?.details,
    collections_status: desired.collections.map(({ name, partitionCount, replicaCount }) => ({
      ...reported.get(name),
      name,
      ...(partitionCount === undefined ? {} : { partition_count: partitionCount }),
      ...(replicaCount === undefined ? {} : { replica_count: replicaCount }),
    })),
    ...(desired.clusterId === undefined ? {} : { cluster_id: desired.clusterId }),
    ready: odgm.readiness.ready,
    service: desired.service,
    desired_replicas: odgm.readiness.desired,
    ready_replicas: odgm.readiness.readyReplicas,
    updated_replicas: odgm.readiness.updatedReplicas,
    ...(isShardType(desired.shardType) ? { shard_type: desired.shardType } : {}),
    ...reasonOf(odgm, observation.subject),
    ...(reading === undefined ? {} : { last_checked: reading.checkedAt }),
    ...(restart === undefined ? {} : { restart }),
    ...(configuration === undefined ? {} : { configuration }),
  };
}

function isShardType(word: string | undefined): word is ShardType {
  return word !== undefined && Object.hasOwn(ShardType, word);
}

/** Existing children, sorted by kind and name. */
export function resourceRefs(children: readonly KubeObject[], subject: ObjectRef): ResourceRef[] {
  return children
    .map((child) => resourceRef(child, subject.namespace))
    .sort((a, b) => compareText(`${a.kind}/${a.name}`, `${b.kind}/${b.name}`));
}

function resourceRef(object: KubeObject | ObjectRef, homeNamespace?: string): ResourceRef {
  const { name = "", namespace, uid } = "metadata" in object ? object.metadata : object;
  const isElsewhere = homeNamespace !== undefined && namespace !== undefined && namespace !== homeNamespace;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    ...(isElsewhere ? { namespace } : {}),
    ...(uid === undefined ? {} : { uid }),
  };
}
