import { equalJson } from "@oaas/foundation";
import { digestJson } from "@oaas/foundation/hash";
import { analyze } from "../analyzer/analyze.ts";
import type { Analysis, AnalyzerState } from "../analyzer/analysis.ts";
import type { AnalyzerSettings } from "../analyzer/settings.ts";
import type { ComplianceStatus } from "../compliance.ts";
import type { Limit, PolicyDecision, PolicyInput, PolicySettings, PolicyState } from "../enforcement.ts";
import { recommendMinimum } from "../policy/autoscaler.ts";
import { decide } from "../policy/decide.ts";
import { outcomeText, recordDecision, type DecisionRecord } from "../policy/record.ts";
import { rememberTarget } from "../policy/windows.ts";
import type { ComponentSamples } from "../samples.ts";
import {
  countDirectionChanges,
  type Backtest,
  type BacktestAction,
  type BacktestPoint,
  type DecisionComparison,
} from "./backtest.ts";
import type { RecordedComponent } from "./recording.ts";
import { reasonOf } from "./reason.ts";
import { newestValue, SignalWindow } from "./signal-window.ts";

export interface ReplayOptions {
  readonly tickMs: number;
  readonly analyzer: AnalyzerSettings;
  readonly policy: PolicySettings;
}

const MINUTE_MS = 60_000;
/** Decisions between two reports of progress. */
const TICKS_PER_STEP = 100;

/** Replays a component at once. */
export function replay(recorded: RecordedComponent, options: ReplayOptions): Backtest {
  const steps = replayInSteps(recorded, options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * Decides at each tick on the samples that were known then, and yields the share that is done. The decided replicas are
 * the current ones of the next tick; the samples stay as recorded. Blocked decisions, such as during a roll-out, are not
 * in a recording of samples.
 *
 * With the policy of the recorded decisions, the replay follows them: it decides at their times on their inputs when the
 * samples lead to others, because samples arrive late and are completed later; and it holds at the other ticks, because
 * the recorded run held there.
 */
export function* replayInSteps(component: RecordedComponent, options: ReplayOptions): Generator<number, Backtest> {
  const decisions = component.decisions.filter(({ input }) => input.dimension === "replicas");
  const recorded = { ...component, decisions };
  const ticks = ticksOf(recorded, options.tickMs);
  const run = new Replay(recorded, options);
  for (const [at, tickMs] of ticks.entries()) {
    run.tick(tickMs);
    if ((at + 1) % TICKS_PER_STEP === 0) yield (at + 1) / ticks.length;
  }
  return run.result(ticks);
}

/**
 * The times of the decisions, from the first sample to the last one. Recorded decisions set the phase, and their exact
 * times replace the nearest ones.
 */
function ticksOf({ signals, decisions }: RecordedComponent, tickMs: number): readonly number[] {
  let [firstMs, lastMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const series of Object.values(signals)) {
    firstMs = Math.min(firstMs, series[0]?.atMs ?? firstMs);
    lastMs = Math.max(lastMs, series.at(-1)?.atMs ?? lastMs);
  }
  const recordedMs = decisions.map(({ input }) => input.nowMs);
  lastMs = Math.max(lastMs, recordedMs.at(-1) ?? lastMs);
  const phase = recordedMs[0] ?? firstMs;
  const ticks: number[] = [];
  let next = 0;
  for (let at = phase - Math.floor((phase - firstMs) / tickMs) * tickMs; at <= lastMs; at += tickMs) {
    let exact = at;
    while ((recordedMs[next] ?? Number.POSITIVE_INFINITY) < at + tickMs / 2) {
      if (exact !== at) ticks.push(exact);
      exact = recordedMs[next] as number;
      next += 1;
    }
    ticks.push(exact);
  }
  return ticks;
}

class Replay {
  readonly #recorded: RecordedComponent;
  readonly #options: ReplayOptions;
  readonly #window: SignalWindow;
  readonly #points: BacktestPoint[] = [];
  readonly #actions: BacktestAction[] = [];
  readonly #comparisons: DecisionComparison[] = [];
  /** From when on the replay follows the recorded decisions. */
  readonly #followsFromMs: number;
  #nextRecord = 0;
  #current: number | undefined;
  #analyzerState: AnalyzerState | undefined;
  #policyState: PolicyState;

  constructor(recorded: RecordedComponent, options: ReplayOptions) {
    this.#recorded = recorded;
    this.#options = options;
    this.#window = new SignalWindow(recorded.signals);
    const first = recorded.decisions[0]?.input;
    this.#current = recorded.scale.current ?? first?.current;
    this.#policyState = { targets: [], directionChangesMs: [] };
    this.#followsFromMs = followsFrom(recorded.decisions, options.policy);
  }

  tick(nowMs: number): void {
    const { analyzer } = this.#options;
    const samples = this.#window.moveTo(nowMs - analyzer.windowMs, nowMs);
    const ready = newestValue(samples, "ready_replicas");
    const current = (this.#current ??= Math.max(this.#recorded.scale.min ?? 1, Math.round(ready ?? 1)));
    const analysis = this.#analyze(nowMs, current, samples);
    this.#analyzerState = analysis.state;
    const decision = this.#decide(this.#inputOf(nowMs, current, ready, analysis), analysis, samples);
    this.#policyState = decision.next;
    if (decision.action !== "hold") this.#current = decision.to;
    const rps = newestValue(samples, "requests_per_second");
    this.#points.push({
      atMs: nowMs,
      ...(rps === undefined ? {} : { requestsPerSecond: rps }),
      ...(ready === undefined ? {} : { recordedReplicas: ready }),
      decidedReplicas: this.#current ?? current,
      compliance: worstStatus(analysis),
    });
  }

  #decide(measured: PolicyInput, analysis: Analysis, samples: ComponentSamples): PolicyDecision {
    const { policy } = this.#options;
    const { nowMs } = measured;
    const recorded = this.#recorded.decisions[this.#nextRecord];
    const isRecorded = recorded?.input.nowMs === nowMs;
    const isFollowing = nowMs >= this.#followsFromMs;
    const own = decide(measured, policy);
    if (isFollowing && !isRecorded) return withoutAction(own, measured, policy);
    if (own.action === "hold" && !isRecorded) return own;
    const ownRecord = recordDecision(measured, policy, own, digestJson(samples));
    const follows = isFollowing && isRecorded && ownRecord.digest !== recorded.digest;
    const decision = follows ? decide(recorded.input, policy) : own;
    const record = follows ? recordDecision(recorded.input, policy, decision, recorded.samplesDigest) : ownRecord;
    if (isRecorded) this.#compare(recorded, record, ownRecord);
    if (decision.action !== "hold") this.#actions.push(actionOf(nowMs, decision, analysis, record));
    return decision;
  }

  result(ticks: readonly number[]): Backtest {
    const fromMs = ticks[0] ?? 0;
    const toMs = ticks.at(-1) ?? fromMs;
    const sum = (of: (point: BacktestPoint) => number): number => {
      let total = 0;
      for (const [at, point] of this.#points.entries()) {
        total += of(point) * ((this.#points[at + 1]?.atMs ?? point.atMs) - point.atMs);
      }
      return total;
    };
    const isRecorded = this.#points.some(({ recordedReplicas }) => recordedReplicas !== undefined);
    const timeIn = (status: ComplianceStatus): number =>
      sum(({ compliance }) => (compliance === status ? 1 : 0)) / MINUTE_MS;
    return {
      component: this.#recorded.component,
      mode: "recorded",
      fromMs,
      toMs,
      actions: this.#actions,
      points: this.#points,
      violatedMinutes: timeIn("violated"),
      unknownMinutes: timeIn("unknown"),
      replicaHours: sum(({ decidedReplicas }) => decidedReplicas) / (60 * MINUTE_MS),
      ...(isRecorded
        ? { recordedReplicaHours: sum(({ recordedReplicas = 0 }) => recordedReplicas) / (60 * MINUTE_MS) }
        : {}),
      changes: this.#actions.length,
      directionChanges: countDirectionChanges(this.#actions),
      comparisons: this.#comparisons,
    };
  }

  #analyze(nowMs: number, current: number, samples: ComponentSamples): Analysis {
    const { component, requirements, scale } = this.#recorded;
    return analyze({
      nowMs,
      component,
      requirements,
      scale: { ...scale, current },
      samples,
      settings: this.#options.analyzer,
      ...(this.#analyzerState === undefined ? {} : { state: this.#analyzerState }),
    });
  }

  /** What a recording of samples lacks, such as limits and the start of the leader, comes from the recorded decisions. */
  #inputOf(nowMs: number, current: number, ready: number | undefined, analysis: Analysis): PolicyInput {
    const { component, scale, decisions } = this.#recorded;
    const known = decisions[Math.min(this.#nextRecord, decisions.length - 1)]?.input;
    const recommended = analysis.recommendations.find(({ dimension }) => dimension === "replicas");
    const recommendation = recommended && known?.isMinimum ? recommendMinimum(recommended, current) : recommended;
    const { badness, dataAgeMs, urgency } = analysis;
    const isOutdated = dataAgeMs !== undefined && dataAgeMs > this.#options.analyzer.maxDataAgeMs;
    return {
      nowMs,
      mode: known?.mode ?? "enforce",
      component,
      dimension: "replicas",
      isAllowed: true,
      ...(recommendation === undefined ? {} : { recommendation }),
      current,
      ...(known?.isMinimum ? { isMinimum: true } : {}),
      minimums: known?.minimums ?? limitsOf("min", scale.min),
      maximums: known?.maximums ?? limitsOf("max", scale.max),
      urgency,
      blockers: dataAgeMs === undefined ? ["no-data"] : isOutdated ? ["data-outdated"] : [],
      isFrozen: known?.isFrozen ?? false,
      // Digests are of JSON, which has no infinity.
      leaderSinceMs: known?.leaderSinceMs ?? 0,
      // Where the record did not follow the decision, its samples say nothing about the result of the decision.
      ...(badness === undefined || (ready !== undefined && ready !== current) ? {} : { badness }),
      state: this.#policyState,
    };
  }

  /** `measured` is the decision on the samples, which may not be the one that the replay made. */
  #compare(recorded: DecisionRecord, replayed: DecisionRecord, measured: DecisionRecord): void {
    this.#nextRecord += 1;
    const [ours, theirs] = [outcomeText(replayed.outcome), outcomeText(recorded.outcome)];
    const same = ours === theirs ? "same" : "different";
    this.#comparisons.push({
      atMs: recorded.input.nowMs,
      result: measured.digest === recorded.digest ? "identical" : same,
      recorded: theirs,
      replayed: ours,
    });
  }
}

/**
 * From when on the replay follows recorded decisions: always when the first one was the first of all, else from it on;
 * never with another policy.
 */
function followsFrom(decisions: readonly DecisionRecord[], policy: PolicySettings): number {
  const [first] = decisions;
  if (first === undefined || !decisions.every(({ settings }) => equalJson(settings, policy)))
    return Number.POSITIVE_INFINITY;
  return first.input.state.lastAction === undefined ? Number.NEGATIVE_INFINITY : first.input.nowMs;
}

/** Holds, as the recorded run did at this tick. */
function withoutAction(decision: PolicyDecision, input: PolicyInput, policy: PolicySettings): PolicyDecision {
  if (decision.action === "hold") return decision;
  return { action: "hold", reason: "within-tolerance", gates: decision.gates, next: rememberTarget(input, policy) };
}

function limitsOf(source: string, value: number | undefined): readonly Limit[] {
  return value === undefined ? [] : [{ value, source }];
}

/** violated when one requirement is; unknown when nothing is known. */
function worstStatus({ compliance }: Analysis): ComplianceStatus {
  const statuses = new Set(compliance.map(({ status }) => status));
  if (statuses.has("violated")) return "violated";
  return statuses.has("met") || statuses.size === 0 ? "met" : "unknown";
}

function actionOf(
  atMs: number,
  decision: Exclude<PolicyDecision, { readonly action: "hold" }>,
  analysis: Analysis,
  record: DecisionRecord,
): BacktestAction {
  const { action, lane, from, to, clampedBy } = decision;
  return {
    atMs,
    action,
    lane,
    from,
    to,
    ...(clampedBy === undefined ? {} : { clampedBy }),
    reason: reasonOf(decision, analysis),
    record,
  };
}
