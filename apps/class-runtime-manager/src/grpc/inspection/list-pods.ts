import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListPodsResponseSchema, PodSummarySchema } from "@oaas/contracts/grpc";
import { failedPrecondition } from "@oaas/foundation";
import type { StoredClass } from "../../classes/ports.ts";
import { diagnosePod, isPodReady } from "../../lifecycle/diagnosis/diagnose-pod.ts";
import { compareText, type Node, type Pod } from "../../lifecycle/observation/observed-objects.ts";
import { COMPONENT_LABEL, FUNCTION_LABEL, ownerLabelValue } from "../../templates/index.ts";
import { functionOfLabel } from "../functions/class-functions.ts";

/** The pods of all classes, from caches. */
export interface PodSource {
  /** False without the permission to list pods. */
  readonly arePodsKnown: boolean;
  podsOf(namespace: string, ownerLabel: string): readonly Pod[];
  nodesOf(pods: readonly Pod[]): readonly Node[];
}

type PodSummary = MessageInitShape<typeof PodSummarySchema>;

/** Pods in one response. */
const MAX_PODS = 500;

/** The pods of a class by component and name, with the reason why each is not ready. */
export function listPods(object: StoredClass, source: PodSource): MessageInitShape<typeof ListPodsResponseSchema> {
  if (!source.arePodsKnown) {
    const message =
      "the pods are not known: the manager starts, or may not list pods; apply the ClusterRole oprc-crm of this release";
    throw failedPrecondition("pods", message);
  }
  const { namespace, name } = object.metadata;
  const pods = source.podsOf(namespace, ownerLabelValue(name));
  const nodes = source.nodesOf(pods);
  const summaries = pods.map((pod) => summarizePod(object, pod, nodes));
  return {
    pods: summaries.toSorted((a, b) => compareText(sortKey(a), sortKey(b))).slice(0, MAX_PODS),
    morePods: Math.max(0, summaries.length - MAX_PODS),
  };
}

function summarizePod(object: StoredClass, pod: Pod, nodes: readonly Node[]): PodSummary {
  const { name = "", labels, creationTimestamp = "", deletionTimestamp } = pod.metadata;
  const label = labels?.[FUNCTION_LABEL];
  const { reason = "", message = "" } = diagnosePod(pod, { nodes, events: [] }) ?? {};
  return {
    name,
    component: label === undefined ? (labels?.[COMPONENT_LABEL] ?? "") : functionOfLabel(object, label),
    node: pod.spec?.nodeName ?? "",
    phase: deletionTimestamp === undefined ? (pod.status?.phase ?? "Pending") : "Terminating",
    ready: isPodReady(pod),
    restarts: restartsOf(pod),
    createdAt: creationTimestamp,
    reason,
    message,
  };
}

function restartsOf({ status: { initContainerStatuses = [], containerStatuses = [] } = {} }: Pod): number {
  return [...initContainerStatuses, ...containerStatuses].reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
}

function sortKey({ component = "", name = "" }: PodSummary): string {
  return `${component}\n${name}`;
}
