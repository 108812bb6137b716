import type { ClassRuntime } from "@oaas/contracts/crd";
import type { Reason } from "../lifecycle/observation/reasons.ts";
import { phaseOf } from "../mapping/status/class-runtime-to-wire.ts";
import { isNodeReady, type NodeFacts } from "./capacity.ts";
import type { Readiness } from "./readiness-window.ts";

/** How available a cluster is, and what that was measured by. */
export interface Availability {
  /** 0 to 1; undefined when nothing could be measured. */
  readonly value: number | undefined;
  readonly nodeRatio: number | undefined;
  readonly readiness: Readiness;
  /** Set by configuration instead. */
  readonly mocked: boolean;
}

/** Most that the readiness of class runtimes counts beside the nodes. */
const MOST_WEIGHT = 0.5;

/**
 * Ready nodes of all nodes, blended with the share of time that class runtimes were ready. The latter counts the more the longer there was
 * something to observe: one class over the whole window gives it half the weight, nothing observed gives it none.
 */
export function measureAvailability(
  nodes: readonly NodeFacts[] | undefined,
  readiness: Readiness,
  mock: number | undefined,
): Availability {
  const nodeRatio =
    nodes === undefined || nodes.length === 0 ? undefined : nodes.filter(isNodeReady).length / nodes.length;
  const measured = { nodeRatio, readiness };
  if (mock !== undefined) return { ...measured, value: mock, mocked: true };
  const { ratio, observedMs, windowMs } = readiness;
  if (ratio === undefined) return { ...measured, value: nodeRatio, mocked: false };
  if (nodeRatio === undefined) return { ...measured, value: nodes === undefined ? ratio : undefined, mocked: false };
  const weight = MOST_WEIGHT * Math.min(1, observedMs / windowMs);
  return { ...measured, value: nodeRatio * (1 - weight) + ratio * weight, mocked: false };
}

/** Reasons for which the cluster is to blame; the others are about the class, and say nothing of where it runs. */
const CLUSTER_AT_FAULT: ReadonlySet<string> = new Set<Reason>([
  "NodeLost",
  "Evicted",
  "Unschedulable",
  "PodSandbox",
  "ApiUnavailable",
]);

/**
 * What a class runtime says of its cluster: it serves, it does not though it should, or nothing. One that is still on its way, or whose own
 * image or spec is at fault, says nothing.
 */
export function witness(object: ClassRuntime): "ready" | "not-ready" | undefined {
  const phase = phaseOf(object);
  if (phase === "available") return "ready";
  return phase === "degraded" && CLUSTER_AT_FAULT.has(object.status?.reason ?? "") ? "not-ready" : undefined;
}
