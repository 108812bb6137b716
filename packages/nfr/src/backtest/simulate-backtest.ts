import { ok, type Random, type Result } from "@oaas/foundation";
import { runToEnd, simulateInSteps, type Observation } from "../simulation/simulate.ts";
import { workloadOf, type Workload } from "../simulation/workload.ts";
import type { PolicyDecision } from "../enforcement.ts";
import type { Analysis } from "../analyzer/analysis.ts";
import { countDirectionChanges, type Backtest, type BacktestAction, type BacktestPoint } from "./backtest.ts";
import { estimatePlant } from "./estimate-plant.ts";
import { createPolicyAutoscaler } from "./policy-autoscaler.ts";
import { reasonOf } from "./reason.ts";
import type { RecordedComponent } from "./recording.ts";
import type { ReplayOptions } from "./replay.ts";

const MINUTE_MS = 60_000;

type SimulationOptions = ReplayOptions & { readonly random: () => Random };

/** Runs the policy on a model of the component with the recorded load; or why it cannot be simulated. */
export function simulateBacktest(recorded: RecordedComponent, options: SimulationOptions): Result<Backtest, string> {
  return runToEnd(simulateBacktestInSteps(recorded, options));
}

/** The same in steps: yields the share that is done. */
export function* simulateBacktestInSteps(
  recorded: RecordedComponent,
  options: SimulationOptions,
): Generator<number, Result<Backtest, string>> {
  const { analyzer, policy, tickMs, random } = options;
  const { component, requirements, scale, signals } = recorded;
  const replicaMillicores = scale.cpuRequestMillicores ?? analyzer.assumedCpuMillicores;
  const estimated = estimatePlant(recorded, replicaMillicores);
  if (!estimated.ok) return estimated;
  const { model, curve, startMs } = estimated.value;
  const workload: Workload = {
    ...workloadOf(curve, random()),
    concurrency: model.concurrency,
    latencyTargetMs: model.latencyTargetMs,
    minReplicas: Math.max(1, scale.min ?? 1),
    maxReplicas: Math.min(scale.max ?? policy.maxReplicas, policy.maxReplicas),
  };
  const actions: BacktestAction[] = [];
  const onDecision = ({ nowMs }: Observation, decision: PolicyDecision, analysis: Analysis): void => {
    if (decision.action === "hold") return;
    const { action, lane, from, to, clampedBy } = decision;
    const limit = clampedBy === undefined ? {} : { clampedBy };
    const reason = reasonOf(decision, analysis);
    actions.push({ atMs: startMs + nowMs, action, lane, from, to, ...limit, reason });
  };
  const autoscaler = createPolicyAutoscaler(workload, {
    component,
    requirements: { ...requirements, maxLatencyMs: model.latencyTargetMs },
    analyzer,
    policy,
    tickMs,
    replicaMillicores,
    onDecision,
  });
  const recordedStart = scale.current ?? signals.ready_replicas?.[0]?.value ?? workload.minReplicas;
  const startReplicas = Math.min(workload.maxReplicas, Math.max(workload.minReplicas, Math.round(recordedStart)));
  const result = yield* simulateInSteps(workload, autoscaler, { random: random(), startReplicas });
  return ok({
    component,
    mode: "simulated",
    fromMs: startMs,
    toMs: startMs + workload.horizonMs,
    actions,
    points: pointsOf(curve.counts, result.violatedAt, actions, { startMs, startReplicas }, recorded),
    violatedMinutes: result.violatedMinutes,
    unknownMinutes: 0,
    replicaHours: result.replicaHours,
    ...(signals.ready_replicas === undefined ? {} : { recordedReplicaHours: hoursOf(signals.ready_replicas) }),
    changes: actions.length,
    directionChanges: countDirectionChanges(actions),
    comparisons: [],
    model,
  });
}

/** One point per minute. */
function pointsOf(
  counts: readonly number[],
  violatedAt: readonly number[],
  actions: readonly BacktestAction[],
  { startMs, startReplicas }: { readonly startMs: number; readonly startReplicas: number },
  { signals }: RecordedComponent,
): readonly BacktestPoint[] {
  const recorded = signals.ready_replicas ?? [];
  const violated = new Set(violatedAt);
  let [action, sample, replicas] = [0, 0, startReplicas];
  return counts.map((count, minute) => {
    const atMs = startMs + minute * MINUTE_MS;
    for (; (actions[action]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs; action += 1)
      replicas = actions[action]?.to ?? replicas;
    while ((recorded[sample + 1]?.atMs ?? Number.POSITIVE_INFINITY) <= atMs) sample += 1;
    const known = recorded[sample];
    return {
      atMs,
      requestsPerSecond: count / 60,
      ...(known === undefined ? {} : { recordedReplicas: known.value }),
      decidedReplicas: replicas,
      compliance: violated.has(minute) ? "violated" : "met",
    };
  });
}

/** The integral of a gauge; a value holds until the next sample. */
function hoursOf(gauge: RecordedComponent["signals"]["ready_replicas"] & object): number {
  let total = 0;
  for (const [at, { atMs, value }] of gauge.entries()) total += value * ((gauge[at + 1]?.atMs ?? atMs) - atMs);
  return total / (60 * MINUTE_MS);
}
