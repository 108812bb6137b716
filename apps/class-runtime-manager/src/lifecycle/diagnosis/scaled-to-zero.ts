import { isBeingDeleted, refOf, type KubeObject } from "@oaas/kube-core";
import { podsOf } from "./diagnose-workload.ts";
import { finding } from "./finding.ts";
import type { WorkloadHealth } from "./assess.ts";
import type { ExpectedFunction, Observation } from "../observation/observation.ts";
import { conditionIn, type Workload } from "../observation/observed-objects.ts";

/** What starts the first replica of a function on a request. */
const WAKERS: ReadonlySet<string> = new Set(["knative", "keda"]);

interface Scaler extends KubeObject {
  readonly spec?: { readonly scaleTargetRef?: { readonly kind?: string; readonly name?: string } };
  readonly status?: Workload["status"];
}

/**
 * The health of a ready function, in other words while it has no replica: it serves, because a request starts one. It
 * does not serve when its scaler reports that it does not work.
 */
export function withScaleToZero(
  health: WorkloadHealth,
  { replicas, replicasOwner = "" }: ExpectedFunction,
  observation: Observation,
): WorkloadHealth {
  const { readiness, workload } = health;
  if (workload === undefined || !readiness.ready || replicas !== 0 || !WAKERS.has(replicasOwner)) return health;
  if (!hasNoReplica(health, workload, observation)) return health;
  const none = { ...readiness, desired: 0, readyReplicas: 0, updatedReplicas: 0 };
  const broken = brokenScaler(workload, observation);
  if (broken === undefined)
    return {
      ...health,
      readiness: { ...none, reason: "ScaledToZero", message: "is scaled to zero; a request starts it" },
    };
  const { object, message } = broken;
  const text = `cannot start the first replica: ${message}`;
  return {
    ...health,
    readiness: { ...none, ready: false, serving: false, reason: "ScalerFailed", message: text },
    findings: [finding("ScalerFailed", refOf(object), text)],
  };
}

function hasNoReplica({ readiness }: WorkloadHealth, workload: Workload, { pods, arePodsKnown }: Observation): boolean {
  // The status of a Knative Service has no number of pods.
  if (!workload.apiVersion.startsWith("serving.knative.dev/")) return readiness.desired === 0;
  return arePodsKnown === true && podsOf(workload, pods).every((pod) => isBeingDeleted(pod));
}

/** The scaler of KEDA that targets the workload, if it reports that it does not work. */
function brokenScaler(
  { kind, metadata }: Workload,
  { children }: Observation,
): { readonly object: KubeObject; readonly message: string } | undefined {
  const scaler: Scaler | undefined = children.find((child: Scaler) => {
    const { kind: target = "Deployment", name } = child.spec?.scaleTargetRef ?? {};
    return /^(http\.)?keda\.sh\//.test(child.apiVersion) && target === kind && name === metadata.name;
  });
  const ready = conditionIn(scaler?.status?.conditions, "Ready");
  if (scaler === undefined || ready?.status !== "False") return undefined;
  return { object: scaler, message: ready.message ?? ready.reason ?? "it is not ready" };
}
