import { parseApiVersion } from "@oaas/kube-core";
import { conditionIn, type Workload } from "../observation/observed-objects.ts";
import type { Reason } from "../observation/reasons.ts";

/** State of a workload by the rules of its kind. */
export interface Readiness {
  /** Whether all replicas run the latest version. */
  readonly ready: boolean;
  /** Whether it can be used, possibly with an older version or fewer replicas. */
  readonly serving: boolean;
  /** Whether its controller reports a failure. */
  readonly failed: boolean;
  readonly desired: number;
  readonly readyReplicas: number;
  /** Ready replicas of the latest version; at least this many, if replicas of an earlier version are not ready. */
  readonly updatedReplicas: number;
  readonly reason: Reason;
  readonly message: string;
  /** URL, for kinds that report one. */
  readonly url?: string;
}

type Rule = (workload: Workload) => Readiness;

/** Readiness of a workload that does not exist. */
export function missingReadiness(desired: number): Readiness {
  return {
    ready: false,
    serving: false,
    failed: false,
    desired,
    readyReplicas: 0,
    updatedReplicas: 0,
    reason: "ChildMissing",
    message: "does not exist",
  };
}

/**
 * Readiness as Kubernetes defines it: `kubectl rollout status` for Deployment, StatefulSet and DaemonSet, the Ready
 * condition for a Knative Service. A status of an older generation is ignored. Undefined for kinds without pods.
 */
export function readinessOf(workload: Workload): Readiness | undefined {
  return RULES[kindKey(workload)]?.(workload);
}

/** Whether objects of this kind run pods. */
export function isWorkload(object: { readonly apiVersion: string; readonly kind: string }): boolean {
  return Object.hasOwn(RULES, kindKey(object));
}

function kindKey({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): string {
  const parsed = parseApiVersion(apiVersion);
  return `${parsed.ok ? parsed.value.group : apiVersion}/${kind}`;
}

const RULES: Readonly<Record<string, Rule>> = {
  "apps/Deployment": deploymentReadiness,
  "apps/StatefulSet": statefulSetReadiness,
  "apps/DaemonSet": daemonSetReadiness,
  "batch/Job": jobReadiness,
  "serving.knative.dev/Service": knativeReadiness,
};

interface Counts {
  readonly serving: boolean;
  readonly desired: number;
  readonly readyReplicas: number;
  readonly updatedReplicas: number;
}

/** Ready replicas of the latest version. Kubernetes does not report them; replicas of earlier versions count as ready. */
function readyOfLatest(ready: number, all: number, latest: number): number {
  return Math.max(0, ready - Math.max(0, all - latest));
}

const readyState = (counts: Counts, message = "is ready"): Readiness => ({
  ...counts,
  ready: true,
  serving: true,
  failed: false,
  reason: "Ready",
  message,
});

const notReadyState = (counts: Counts, reason: Reason, message: string): Readiness => ({
  ...counts,
  ready: false,
  failed: false,
  reason,
  message,
});

const failedState = (counts: Counts, reason: Reason, message: string): Readiness => ({
  ...notReadyState(counts, reason, message),
  failed: true,
});

function isStale({ metadata, status }: Workload): boolean {
  return (status?.observedGeneration ?? 0) < (metadata.generation ?? 1);
}

const STARTING = "waits for its pods to become ready";
const ROLLING = "is being rolled out";

/** Not ready, with coarse messages so that the status changes rarely. */
const progressingState = (counts: Counts, whenServing: "RollingOut" | "Scaling" = "RollingOut"): Readiness => {
  if (!counts.serving) return notReadyState(counts, "Starting", STARTING);
  return whenServing === "RollingOut"
    ? notReadyState(counts, "RollingOut", ROLLING)
    : notReadyState(counts, "Scaling", "waits for more replicas to become ready");
};

function deploymentReadiness(deployment: Workload): Readiness {
  const { status = {}, spec = {} } = deployment;
  const desired = spec.replicas ?? 1;
  const { replicas = 0, updatedReplicas = 0, availableReplicas = 0, readyReplicas = 0 } = status;
  const counts: Counts = {
    // Not the condition Available: it is true without pods if all may be unavailable, and false while some serve.
    serving: desired === 0 || availableReplicas > 0,
    desired,
    readyReplicas,
    updatedReplicas: isStale(deployment) ? 0 : readyOfLatest(readyReplicas, replicas, updatedReplicas),
  };
  if (isStale(deployment)) return progressingState(counts);
  const progressing = conditionIn(status.conditions, "Progressing");
  if (progressing?.reason === "ProgressDeadlineExceeded") {
    return failedState(counts, "ProgressDeadline", "has not become ready within its progress deadline");
  }
  if (updatedReplicas < desired) {
    if (spec.paused === true) return notReadyState(counts, "Paused", "is paused");
    return progressingState(counts, replicas === updatedReplicas ? "Scaling" : "RollingOut");
  }
  if (replicas > updatedReplicas) return progressingState(counts);
  if (availableReplicas < updatedReplicas) return progressingState(counts, "Scaling");
  return readyState(counts);
}

function statefulSetReadiness(set: Workload): Readiness {
  const { status = {}, spec = {} } = set;
  const desired = spec.replicas ?? 1;
  const { replicas = 0, readyReplicas = 0, updatedReplicas = 0, currentRevision, updateRevision } = status;
  const available = status.availableReplicas ?? readyReplicas;
  const isUpdated = currentRevision === updateRevision;
  const counts: Counts = {
    serving: desired === 0 || available > 0,
    desired,
    readyReplicas,
    updatedReplicas: isStale(set) ? 0 : readyOfLatest(readyReplicas, replicas, isUpdated ? replicas : updatedReplicas),
  };
  if (isStale(set)) return progressingState({ ...counts, serving: available > 0 });
  if (available < desired) return progressingState(counts, "Scaling");
  const { type = "RollingUpdate", rollingUpdate } = spec.updateStrategy ?? {};
  if (type === "OnDelete") return readyState(counts);
  const partition = rollingUpdate?.partition ?? 0;
  if (partition > 0) {
    return updatedReplicas >= desired - partition
      ? readyState(counts, "is rolled out to its partition")
      : progressingState(counts);
  }
  return isUpdated ? readyState(counts) : progressingState(counts);
}

function daemonSetReadiness(set: Workload): Readiness {
  const { status = {}, spec = {} } = set;
  const { desiredNumberScheduled: desired = 0, updatedNumberScheduled = 0, numberAvailable = 0 } = status;
  const readyReplicas = status.numberReady ?? 0;
  const updatedReplicas = isStale(set) ? 0 : readyOfLatest(readyReplicas, desired, updatedNumberScheduled);
  const counts: Counts = { serving: numberAvailable > 0, desired, readyReplicas, updatedReplicas };
  if (isStale(set)) return progressingState(counts);
  // Kubernetes reports this as complete, but a function without pods cannot serve.
  if (desired === 0)
    return failedState(counts, "Unschedulable", "matches no node; check its node selector and tolerations");
  if (spec.updateStrategy?.type !== "OnDelete" && updatedNumberScheduled < desired) return progressingState(counts);
  if (numberAvailable < desired) return progressingState(counts, "Scaling");
  return readyState(counts);
}

/** A job is ready when it is complete, and while the desired number of pods is running. */
function jobReadiness(job: Workload): Readiness {
  const { status = {}, spec = {} } = job;
  const desiredPods = Math.min(
    spec.parallelism ?? 1,
    Math.max((spec.completions ?? Infinity) - (status.succeeded ?? 0), 0),
  );
  const { ready: readyReplicas = 0 } = status;
  const counts: Counts = {
    serving: false,
    desired: spec.parallelism ?? 1,
    readyReplicas,
    updatedReplicas: readyReplicas,
  };
  if (conditionIn(status.conditions, "Complete")?.status === "True") return readyState(counts, "is complete");
  const failure = ["Failed", "FailureTarget"]
    .map((type) => conditionIn(status.conditions, type))
    .find((condition) => condition?.status === "True");
  if (failure !== undefined)
    return failedState(counts, "JobFailed", `has failed: ${failure.message ?? failure.reason ?? ""}`);
  if (spec.suspend === true) return notReadyState(counts, "Paused", "is suspended");
  if (desiredPods > 0 && (status.ready ?? 0) >= desiredPods) return readyState(counts, "is running");
  return progressingState(counts);
}

/** How Knative reports image errors before a pod exists. */
const KNATIVE_IMAGE_ERROR = /fetch image|image pull|ImagePull|resolve image/i;

function knativeReadiness(service: Workload): Readiness {
  const { status = {} } = service;
  const serving = conditionIn(status.conditions, "RoutesReady")?.status === "True";
  const counts: Counts = { serving, desired: 1, readyReplicas: 0, updatedReplicas: 0 };
  const url = status.url === undefined ? {} : { url: status.url };
  if (isStale(service)) return { ...progressingState(counts), ...url };
  const ready = conditionIn(status.conditions, "Ready");
  if (ready?.status === "True") return { ...readyState({ ...counts, readyReplicas: 1, updatedReplicas: 1 }), ...url };
  const text = ready?.message ?? ready?.reason ?? "";
  if (ready?.status === "False") {
    return {
      ...failedState(counts, KNATIVE_IMAGE_ERROR.test(text) ? "ImagePull" : "KnativeFailed", `is not ready: ${text}`),
      ...url,
    };
  }
  return { ...progressingState(counts), ...url };
}
