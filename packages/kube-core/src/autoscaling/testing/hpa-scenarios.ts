import { decideReplicas, EMPTY_HPA_MEMORY, type HpaSpec } from "../horizontal-autoscaler.ts";
import type { HpaPod, HpaSettings, HpaTarget } from "../hpa-replicas.ts";

/** The flags of kube-controller-manager in the scenarios, short so that they end soon. */
export const SCENARIO_SYNC_MS = 1000;
export const SCENARIO_SETTINGS: HpaSettings = {
  tolerance: 0.1,
  downscaleStabilizationMs: 4000,
  cpuInitializationMs: 1,
  initialReadinessDelayMs: 1,
};

/** The CPU request of each pod in millicores. */
export const SCENARIO_REQUEST = 100;

export interface HpaScenario {
  readonly name: string;
  readonly spec: HpaSpec & { readonly target: HpaTarget };
  /** From one replica on. */
  readonly steps: readonly HpaStep[];
}

export interface HpaStep {
  /** Millicores, spread evenly over the pods. */
  readonly load: number;
  /** Pods that the metrics API does not list. */
  readonly missing?: number;
  /** Each number of replicas that kube-controller-manager 1.36.3 sets. */
  readonly path: readonly number[];
}

export const HPA_SCENARIOS: readonly HpaScenario[] = [
  {
    name: "utilization",
    spec: { minReplicas: 1, maxReplicas: 20, target: { resource: "cpu", utilization: 50 } },
    steps: [
      { load: 400, path: [4, 8] },
      { load: 424, path: [] },
      { load: 912, path: [16, 19] },
      { load: 300, path: [6] },
    ],
  },
  {
    name: "missing-metrics",
    spec: { minReplicas: 1, maxReplicas: 10, target: { resource: "cpu", utilization: 50 } },
    steps: [
      { load: 1980, path: [4, 8, 10] },
      { load: 300, path: [6] },
      { load: 312, missing: 2, path: [] },
      { load: 150, missing: 2, path: [] },
      { load: 20, path: [1] },
    ],
  },
  {
    name: "average-value",
    spec: { minReplicas: 2, maxReplicas: 12, target: { resource: "cpu", averageValue: 60 } },
    steps: [
      { load: 0, path: [2] },
      { load: 480, path: [4, 8] },
      { load: 240, path: [4] },
      { load: 600, missing: 1, path: [8] },
    ],
  },
  {
    name: "behavior",
    spec: {
      minReplicas: 1,
      maxReplicas: 9,
      target: { resource: "cpu", utilization: 50 },
      behavior: {
        scaleUp: { policies: [{ type: "Pods", value: 2, periodSeconds: 3 }] },
        scaleDown: {
          stabilizationWindowSeconds: 0,
          selectPolicy: "Min",
          policies: [
            { type: "Percent", value: 50, periodSeconds: 3 },
            { type: "Pods", value: 3, periodSeconds: 3 },
          ],
        },
      },
    },
    steps: [
      { load: 360, path: [3, 5, 7] },
      { load: 40, path: [4, 2, 1] },
    ],
  },
];

/** The replicas that our implementation sets in each step, with all pods ready before the next sync. */
export function simulateScenario({ spec, steps }: HpaScenario): number[][] {
  let memory = EMPTY_HPA_MEMORY;
  let replicas = 1;
  let nowMs = 1_000_000;
  return steps.map(({ load, missing = 0 }) => {
    const path: number[] = [];
    for (let sync = 0; sync < 40; sync++) {
      nowMs += SCENARIO_SYNC_MS;
      const pods = podsUnderLoad(replicas, load, missing, nowMs);
      const decision = decideReplicas(spec, { nowMs, current: replicas, pods, memory }, SCENARIO_SETTINGS);
      memory = decision.memory;
      if (decision.replicas !== replicas) path.push(decision.replicas);
      replicas = decision.replicas;
    }
    return path;
  });
}

function podsUnderLoad(count: number, load: number, missing: number, nowMs: number): HpaPod[] {
  return Array.from({ length: count }, (_, index) => ({
    phase: "Running" as const,
    startedMs: 0,
    ready: { isTrue: true, sinceMs: 0 },
    request: SCENARIO_REQUEST,
    ...(index < count - missing && {
      usage: { value: Math.floor(load / count), atMs: nowMs, windowMs: 1000 },
    }),
  }));
}
