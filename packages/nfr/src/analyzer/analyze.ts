import type { Requirement } from "../compliance.ts";
import type { Analysis, AnalysisInput, AnalyzerState, RequestSeries, Verdict } from "./analysis.ts";
import type { Window } from "./aggregates.ts";
import { assessRequirements, type AssessedRequirement } from "./assess-requirements.ts";
import type { CapacityEstimate } from "./capacity.ts";
import { estimateCapacity } from "./estimate-capacity.ts";
import { Findings } from "./findings.ts";
import { EMPTY_CURVE, learnCapacity, reviseCurve } from "./learn-capacity.ts";
import { measureComponent, optional, type Measurements } from "./measure.ts";
import { observeLoad } from "./observe-load.ts";
import { recommendReplicas, usableCpu } from "./recommend-replicas.ts";
import { addRequests, type RequestCounts, type RequestHistory } from "./request-history.ts";
import { assessUrgency } from "./urgency.ts";
import { cleanSeries } from "./window.ts";

/**
 * Analyzes one component: a pure function of its input.
 *
 * The decision uses the capacity that was learnt before; the samples of this window are learnt for the next one. Analyzing
 * the same samples again, with the new state, changes nothing.
 */
export function analyze(input: AnalysisInput): Analysis {
  const findings = new Findings();
  const measured = measureComponent(input, findings);
  const curve = reviseState(input, findings);
  const capacity = estimateFor(input, measured, curve);
  const requests = updateRequests(input, measured, findings);
  const assessed = assessRequirements(input, measured, requests);
  const hold = holdAfterLoss(input, capacity, findings);
  const replicas = recommendReplicas({
    input,
    measured,
    capacity,
    curve,
    findings,
    ...optional("heldTarget", hold?.target),
  });
  const urgency = assessUrgency(input, measured, assessed, capacity);
  reportMissing(measured, findings);
  const badness = worstRatio(assessed);
  const target = replicas?.target ?? input.state?.target;
  return {
    recommendations: replicas === undefined ? [] : [replicas],
    compliance: assessed.map(({ compliance }) => compliance),
    urgency,
    ...optional("badness", badness),
    capacity,
    findings: findings.list(),
    ...optional("dataAgeMs", measured.dataAgeMs),
    state: {
      verdicts: collectVerdicts(assessed),
      curve: learnNew(input, measured, curve),
      requests,
      ...optional("target", target),
      ...optional("hold", hold),
      ...optional("urgentSinceMs", urgency.ratioSinceMs),
    },
  };
}

/** The state without the request counts, which are rebuilt from `AnalysisInput.history`: small enough for a status. */
export function durableState(state: AnalyzerState): AnalyzerState {
  return { ...state, requests: {} };
}

function reviseState({ state, requirements, revision }: AnalysisInput, findings: Findings) {
  const before = state?.curve ?? EMPTY_CURVE;
  const curve = reviseCurve(before, requirements.latencyPercentile ?? 99, revision);
  if (before.points.length > 0 && before.revision !== curve.revision) {
    findings.add("revision-changed", `the capacity of revision ${revision ?? "unknown"} is learnt again`);
  }
  return curve;
}

function estimateFor(input: AnalysisInput, measured: Measurements, curve: AnalyzerState["curve"]): CapacityEstimate {
  const { nowMs, requirements, settings } = input;
  const { cpuMillicores, demand } = measured;
  const cost = cpuMillicores === undefined || demand === undefined || demand <= 0 ? undefined : cpuMillicores / demand;
  const question = {
    nowMs,
    settings,
    usableCpuMillicores: usableCpu(input),
    ...optional("maxLatencyMs", requirements.maxLatencyMs),
    ...optional("windowCost", cost),
  };
  const learnt = estimateCapacity(curve, question);
  if (learnt.source !== "measured" || learnt.confidence >= settings.minConfidence) return learnt;
  // A capacity without enough confidence may lower the assumed one, but never raise it.
  const fallback = estimateCapacity(EMPTY_CURVE, question);
  if (learnt.rpsPerReplica <= fallback.rpsPerReplica) return learnt;
  return {
    ...learnt,
    source: fallback.source,
    rpsPerReplica: fallback.rpsPerReplica,
    lower: Math.min(learnt.lower, fallback.lower),
  };
}

function learnNew(input: AnalysisInput, measured: Measurements, curve: AnalyzerState["curve"]): AnalyzerState["curve"] {
  const newest = measured.windows.requests_per_second?.times.at(-1);
  if (newest === undefined) return curve;
  return learnCapacity(curve, observeLoad(measured, input, curve.learntUntilMs), newest);
}

/** After a loss of the state the last written target stands until the model is confident or the time is over. */
function holdAfterLoss(input: AnalysisInput, capacity: CapacityEstimate, findings: Findings): AnalyzerState["hold"] {
  const { state, previousTarget, settings, nowMs } = input;
  if (state === undefined && previousTarget !== undefined) {
    findings.add("history-lost", `the state was lost: the target is not below ${previousTarget} for now`);
    return { target: previousTarget, untilMs: nowMs + settings.historyHoldMs };
  }
  const hold = state?.hold;
  if (hold === undefined || nowMs >= hold.untilMs) return undefined;
  return capacity.source === "measured" && capacity.confidence >= settings.minConfidence ? undefined : hold;
}

function updateRequests(input: AnalysisInput, { windows }: Measurements, findings: Findings): RequestHistory {
  const before = input.state?.requests;
  const rates = windows.requests_per_second;
  const past = input.history === undefined ? undefined : cleanHistory(input, input.history, findings);
  const update = (counts: RequestCounts | undefined, bad: Window | undefined, pastBad: Window | undefined) => {
    const { stepMs } = input.settings;
    let next = counts;
    if (past?.requests !== undefined && pastBad !== undefined) {
      next = addRequests(next, { requests: past.requests, bad: pastBad, stepMs: past.stepMs }) ?? next;
    }
    if (rates === undefined || bad === undefined) return next;
    return addRequests(next, { requests: rates, bad, stepMs }) ?? next;
  };
  return {
    ...optional("errors", update(before?.errors, windows.errors_per_second, past?.errors)),
    ...optional("slow", update(before?.slow, windows.slow_requests_per_second, past?.slow)),
  };
}

const THREE_DAYS = 3 * 24 * 3_600_000;

function cleanHistory({ nowMs }: AnalysisInput, history: RequestSeries, findings: Findings) {
  const stepMs = leastStep(history.requests_per_second ?? []);
  const bounds = { nowMs, windowMs: THREE_DAYS, stepMs };
  const clean = (signal: keyof RequestSeries) => cleanSeries(history[signal], signal, bounds, findings);
  return {
    stepMs,
    requests: clean("requests_per_second"),
    errors: clean("errors_per_second"),
    slow: clean("slow_requests_per_second"),
  };
}

function leastStep(series: readonly { readonly atMs: number }[]): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 1; i < series.length; i += 1) {
    const step = (series[i]?.atMs ?? 0) - (series[i - 1]?.atMs ?? 0);
    if (step > 0 && step < least) least = step;
  }
  return Number.isFinite(least) ? least : 60_000;
}

function reportMissing(measured: Measurements, findings: Findings): void {
  if (measured.dataAgeMs === undefined) findings.add("no-data", "no signal has a sample in the window");
}

function worstRatio(assessed: readonly AssessedRequirement[]): number | undefined {
  let worst: number | undefined;
  for (const { ratio } of assessed) if (ratio !== undefined && (worst === undefined || ratio > worst)) worst = ratio;
  return worst;
}

function collectVerdicts(assessed: readonly AssessedRequirement[]): AnalyzerState["verdicts"] {
  const verdicts: Partial<Record<Requirement, Verdict>> = {};
  for (const { compliance } of assessed) {
    verdicts[compliance.requirement] = { status: compliance.status, sinceMs: compliance.sinceMs };
  }
  return verdicts;
}
