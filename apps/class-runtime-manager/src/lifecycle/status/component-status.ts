import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import { ShardType } from "@oaas/models";
import type { Assessment, ComponentHealth } from "../diagnosis/assess.ts";
import { compareText } from "../observation/observed-objects.ts";
import type { Expected, ExpectedFunction, Observation } from "../observation/observation.ts";
import { causeText } from "./cause-text.ts";

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
    const wanted = expected.functions[index];
    if (wanted === undefined) return [];
    const last = before.get(wanted.functionKey);
    const { ready } = health.readiness;
    const url = observedUrlOf(wanted, health, services);
    return [
      {
        function_key: wanted.functionKey,
        service: wanted.service,
        ...(wanted.port === 0 ? {} : { port: wanted.port }),
        predicted_url: wanted.predictedUrl,
        ...(url === undefined ? {} : { observed_url: url }),
        template: expected.template.name,
        ready,
        ...replicasOf(health),
        ...notReadyReason(health, observation.subject),
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
    workload: resourceRef(first.workload ?? first.ref),
  };
}

/** The observed URL: a reported route, or the predicted URL when its Service exists and the workload serves. */
function observedUrlOf(
  wanted: ExpectedFunction,
  { readiness }: ComponentHealth,
  services: ReadonlySet<string>,
): string | undefined {
  if (!readiness.serving) return undefined;
  if (readiness.url !== undefined) return readiness.url;
  if (wanted.predictedUrl === "" || (wanted.service !== "" && !services.has(wanted.service))) return undefined;
  return wanted.predictedUrl;
}

function notReadyReason(component: ComponentHealth, subject: ObjectRef) {
  const [first] = component.findings;
  if (first === undefined) return {};
  return { reason: first.reason, message: causeText({ source: "observation", component, finding: first }, subject) };
}

/** Status of the state store, including its own report. */
export function odgmStatus(observation: Observation, expected: Expected, { odgm }: Assessment): OdgmStatus | undefined {
  const { odgm: wanted } = expected;
  if (wanted === undefined || odgm === undefined) return undefined;
  const { odgmReading: reading } = observation;
  const told = new Map((reading?.details?.collections_status ?? []).map((one) => [one.name, one]));
  return {
    ...reading?.details,
    collections_status: wanted.collections.map(({ name, partitionCount, replicaCount }) => ({
      ...told.get(name),
      name,
      ...(partitionCount === undefined ? {} : { partition_count: partitionCount }),
      ...(replicaCount === undefined ? {} : { replica_count: replicaCount }),
    })),
    ...(wanted.clusterId === undefined ? {} : { cluster_id: wanted.clusterId }),
    ready: odgm.readiness.ready,
    service: wanted.service,
    desired_replicas: odgm.readiness.desired,
    ready_replicas: odgm.readiness.readyReplicas,
    ...(isShardType(wanted.shardType) ? { shard_type: wanted.shardType } : {}),
    ...notReadyReason(odgm, observation.subject),
    ...(reading === undefined ? {} : { last_checked: reading.checkedAt }),
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
  const away = homeNamespace !== undefined && namespace !== undefined && namespace !== homeNamespace;
  return {
    apiVersion: object.apiVersion,
    kind: object.kind,
    name,
    ...(away ? { namespace } : {}),
    ...(uid === undefined ? {} : { uid }),
  };
}
