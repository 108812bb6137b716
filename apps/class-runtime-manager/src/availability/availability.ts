import type { ClassRuntime } from "@oaas/contracts/crd";
import type { Reason } from "../lifecycle/observation/reasons.ts";
import { phaseOf } from "../mapping/status/class-runtime-to-wire.ts";
import { isNodeReady, type NodeFacts } from "./capacity.ts";
import type { Readiness } from "./readiness-window.ts";

/** The availability of a cluster and the inputs of its measurement. */
export interface Availability {
  /** 0 to 1; undefined without any measurement. */
  readonly value: number | undefined;
  readonly nodeRatio: number | undefined;
  readonly readiness: Readiness;
  /** Whether the value comes from the configuration. */
  readonly mocked: boolean;
}

/** Maximum weight of the readiness of class runtimes beside the nodes. */
const MAX_READINESS_WEIGHT = 0.5;

/**
 * Blends the share of ready nodes with the share of time that class runtimes were ready. The weight of the latter grows
 * with the observed time: one class over the whole window reaches the maximum.
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
  const weight = MAX_READINESS_WEIGHT * Math.min(1, observedMs / windowMs);
  return { ...measured, value: nodeRatio * (1 - weight) + ratio * weight, mocked: false };
}

/** Degraded reasons that the cluster causes. The others concern only the class. */
const CLUSTER_REASONS: ReadonlySet<string> = new Set<Reason>([
  "NodeLost",
  "Evicted",
  "Unschedulable",
  "PodSandbox",
  "ApiUnavailable",
]);

/**
 * The readiness that a class runtime contributes. A class that is starting, or degraded by its own image or spec,
 * contributes none.
 */
export function readinessSignal(object: ClassRuntime): "ready" | "not-ready" | undefined {
  const phase = phaseOf(object);
  if (phase === "available") return "ready";
  return phase === "degraded" && CLUSTER_REASONS.has(object.status?.reason ?? "") ? "not-ready" : undefined;
}
