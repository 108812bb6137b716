import { refOf, selectsLabels } from "@oaas/kube-core";
import { diagnosePod, isPodReady, type PodContext } from "./diagnose-pod.ts";
import { compareFindings, finding, type Finding } from "./finding.ts";
import { eventsAbout } from "../observation/observed-event.ts";
import { conditionIn, type Pod, type Workload } from "../observation/observed-objects.ts";
import type { Readiness } from "./readiness.ts";

/** Cluster objects needed to diagnose a workload. */
export interface WorkloadContext extends PodContext {
  readonly pods: readonly Pod[];
  readonly replicaSets: readonly Workload[];
}

/** Progress deadline for kinds without one in Kubernetes. */
export interface ProgressDeadline {
  readonly nowMs: number;
  readonly deadlineMs: number;
}

/** Why a workload is not ready. */
export interface Diagnosis {
  /** Sorted by rank; never empty for a workload that is not ready. */
  readonly findings: readonly Finding[];
  /** When to diagnose again, if the result depends on time. */
  readonly recheckAtMs?: number;
}

/** Finds out why a workload is not ready, from its pods, containers, nodes and events. */
export function diagnoseWorkload(
  workload: Workload,
  readiness: Readiness,
  context: WorkloadContext,
  patience: ProgressDeadline,
): Diagnosis {
  if (readiness.ready) return { findings: [] };
  const workloadRef = refOf(workload);
  const ownFinding = finding(readiness.reason, workloadRef, readiness.message);
  // The pods belong to an older generation until the controller has observed the latest one.
  if (isStale(workload)) return { findings: [ownFinding] };

  const pods = currentPods(workload, context);
  const causes = pods.flatMap((pod) => diagnosePod(pod, context) ?? []);
  const found = [ownFinding, ...podCreationFailures(workload, readiness, pods, context), ...causes];
  const deadline = found.some(({ reason }) => reason === "ProgressDeadline")
    ? {}
    : checkProgressDeadline(workload, pods, patience, causes);
  return {
    findings: [...found, ...(deadline.finding === undefined ? [] : [deadline.finding])].sort(compareFindings),
    ...(deadline.atMs === undefined ? {} : { recheckAtMs: deadline.atMs }),
  };
}

/** All pods of the workload, of any revision. */
export function podsOf(workload: Workload, pods: readonly Pod[]): readonly Pod[] {
  if (workload.apiVersion.startsWith("serving.knative.dev/")) {
    return pods.filter(({ metadata }) => metadata.labels?.["serving.knative.dev/service"] === workload.metadata.name);
  }
  return pods.filter(({ metadata }) => selectsLabels(workload.spec?.selector, metadata.labels));
}

function isStale({ metadata, status }: Workload): boolean {
  const observed = status?.observedGeneration;
  return observed !== undefined && observed < (metadata.generation ?? 1);
}

const REVISION = "deployment.kubernetes.io/revision";

/** Pods of the latest revision, so that pods of an older revision do not degrade a fixed workload. */
function currentPods(workload: Workload, context: WorkloadContext): readonly Pod[] {
  const all = podsOf(workload, context.pods);
  const revision = workload.status?.latestCreatedRevisionName;
  if (revision !== undefined) {
    return all.filter(({ metadata }) => metadata.labels?.["serving.knative.dev/revision"] === revision);
  }
  const newest = newestReplicaSet(workload, context.replicaSets);
  if (newest === undefined) return all;
  return all.filter(
    ({ metadata }) =>
      metadata.ownerReferences === undefined ||
      metadata.ownerReferences.some(({ kind, name }) => kind === "ReplicaSet" && name === newest.metadata.name),
  );
}

function newestReplicaSet(workload: Workload, replicaSets: readonly Workload[]): Workload | undefined {
  if (workload.kind !== "Deployment") return undefined;
  const revision = (set: Workload): number => Number(set.metadata.annotations?.[REVISION] ?? 0);
  return replicaSets
    .filter(({ metadata }) =>
      metadata.ownerReferences?.some(({ kind, name }) => kind === "Deployment" && name === workload.metadata.name),
    )
    .reduce<Workload | undefined>(
      (newest, set) => (newest === undefined || revision(set) > revision(newest) ? set : newest),
      undefined,
    );
}

/** Failures to create pods: reported in a condition, or only in events. */
function podCreationFailures(
  workload: Workload,
  readiness: Readiness,
  pods: readonly Pod[],
  context: WorkloadContext,
): readonly Finding[] {
  const replicaSet = newestReplicaSet(workload, context.replicaSets);
  const creators = replicaSet === undefined ? [workload] : [replicaSet, workload];
  const condition = creators
    .map(({ status }) => conditionIn(status?.conditions, "ReplicaFailure"))
    .find((failure) => failure?.status === "True");
  const events = creators
    .flatMap((creator) => eventsAbout(context.events, refOf(creator)))
    .filter(({ reason }) => reason === "FailedCreate");
  const [latest] = events;
  const newestPod = pods.reduce((last, { metadata }) => later(last, metadata.creationTimestamp ?? ""), "");
  const isShort = pods.length < readiness.desired && latest !== undefined && latest.lastSeen >= newestPod;
  const text = condition?.message ?? (isShort ? latest.message : undefined);
  if (text === undefined) return [];
  return [
    finding(
      /exceeded quota/i.test(text) ? "Quota" : "AdmissionDenied",
      refOf(workload),
      `cannot create pods: ${text}`,
      {
        since: condition?.lastTransitionTime,
        count: latest?.count,
        events,
      },
    ),
  ];
}

/**
 * Checks the progress deadline of kinds other than Deployment, which Kubernetes does not check. Time counts from when
 * the longest-waiting pod became unready, or from the creation of a workload without pods.
 */
function checkProgressDeadline(
  workload: Workload,
  pods: readonly Pod[],
  { nowMs, deadlineMs }: ProgressDeadline,
  causes: readonly Finding[],
): { readonly finding?: Finding; readonly atMs?: number } {
  if (workload.kind !== "StatefulSet" && workload.kind !== "DaemonSet") return {};
  const waiting = pods.filter((pod) => !isPodReady(pod) && pod.metadata.deletionTimestamp === undefined);
  const starts = waiting.length > 0 ? waiting.map(waitingSince) : [workload.metadata.creationTimestamp];
  const startedMs = Math.min(...starts.map((start) => Date.parse(start ?? "")));
  if (!Number.isFinite(startedMs)) return {};
  const atMs = startedMs + deadlineMs;
  if (nowMs < atMs) return { atMs };
  const cause = [...causes].sort(compareFindings)[0]?.message;
  return {
    finding: finding(
      "ProgressDeadline",
      refOf(workload),
      `has not become ready within its progress deadline${cause === undefined ? "" : `; a pod ${cause}`}`,
    ),
  };
}

function waitingSince(pod: Pod): string | undefined {
  return conditionIn(pod.status?.conditions, "Ready")?.lastTransitionTime ?? pod.metadata.creationTimestamp;
}

function later(a: string, b: string): string {
  return a < b ? b : a;
}
