import type { Compliance, Requirement } from "../compliance.ts";
import type { SpentBudget } from "../recommendation.ts";
import type { Signal } from "../samples.ts";
import type { Analysis, AnalysisInput, AnalyzerState, RequestSeries, Verdict } from "./analysis.ts";
import type { Window } from "./aggregates.ts";
import { assessRequirements, type AssessedRequirement } from "./assess-requirements.ts";
import { usableRps, type CapacityEstimate } from "./capacity.ts";
import { estimateCapacity } from "./estimate-capacity.ts";
import { Findings } from "./findings.ts";
import { EMPTY_CURVE, learnCapacity, reviseCurve } from "./learn-capacity.ts";
import { measureComponent, type Measurements } from "./measure.ts";
import { optional } from "./optional.ts";
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
export function analyze(given: AnalysisInput): Analysis {
  const input = withRestoredState(given);
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
    isWithinBudget: isWithinBudget(assessed),
    ...optional("spent", spentBudget(assessed, requests, input)),
    ...optional("heldTarget", hold?.target),
  });
  const { urgency, sinceMs } = assessUrgency(input, measured, assessed, capacity);
  reportMissing(input, measured, findings);
  const badness = worstRatio(assessed);
  const target = replicas?.target ?? input.state?.target;
  const learnt = learnNew(input, measured, curve);
  return {
    recommendations: replicas === undefined ? [] : [replicas],
    compliance: assessed.map(({ compliance }) => compliance),
    urgency,
    ...optional("badness", badness),
    capacity,
    learntCapacity: estimateFor(input, measured, learnt),
    findings: findings.list(),
    ...optional("dataAgeMs", measured.dataAgeMs),
    state: {
      verdicts: collectVerdicts(assessed),
      curve: learnt,
      requests,
      ...optional("target", target),
      ...optional("hold", hold),
      ...optional("urgentSinceMs", sinceMs),
    },
  };
}

/** A stored capacity replaces the state that was lost; the error budgets come from the history of requests. */
function withRestoredState(input: AnalysisInput): AnalysisInput {
  const { state, restoredCurve, previousTarget } = input;
  if (state !== undefined || restoredCurve === undefined) return input;
  return {
    ...input,
    state: { verdicts: {}, curve: restoredCurve, requests: {}, ...optional("target", previousTarget) },
  };
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
  const question = {
    nowMs,
    settings,
    usableCpuMillicores: usableCpu(input),
    ...optional("maxLatencyMs", requirements.maxLatencyMs),
    ...optional("window", loadOfReplica(measured, settings.minRequests)),
  };
  const learnt = estimateCapacity(curve, question);
  if (learnt.source !== "measured" || learnt.confidence >= settings.minConfidence) return learnt;
  // A capacity without enough confidence may lower the assumed one, but never raise it.
  const fallback = estimateCapacity(EMPTY_CURVE, question);
  if (usableRps(learnt, settings.headroom) <= usableRps(fallback, settings.headroom)) return learnt;
  const { source, rpsPerReplica, hasHeadroom } = fallback;
  return { ...learnt, source, rpsPerReplica, hasHeadroom, lower: Math.min(learnt.lower, fallback.lower) };
}

/** Load and CPU of one replica, when there are enough requests to relate them. */
function loadOfReplica({ requests = 0, rps, cpuMillicores, readyReplicas }: Measurements, minRequests: number) {
  if (rps === undefined || cpuMillicores === undefined || requests < minRequests || readyReplicas <= 0)
    return undefined;
  return { rps: rps / readyReplicas, cpuMillicores: cpuMillicores / readyReplicas };
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
  // Gaps of the past are not worth a finding.
  const bounds = { nowMs, windowMs: THREE_DAYS, stepMs: Number.POSITIVE_INFINITY };
  const clean = (signal: keyof RequestSeries) => cleanSeries(history[signal], signal, bounds, findings);
  const requests = clean("requests_per_second");
  return {
    stepMs: leastStep(requests.times),
    requests,
    errors: clean("errors_per_second"),
    slow: clean("slow_requests_per_second"),
  };
}

/** The step of a history, at most an hour. */
function leastStep(times: readonly number[]): number {
  let least = 3_600_000;
  for (let i = 1; i < times.length; i += 1) least = Math.min(least, (times[i] ?? 0) - (times[i - 1] ?? 0));
  return least;
}

/** Names the signals that a requirement needs and that have no usable samples, and a window with too few requests. */
function reportMissing({ requirements, settings }: AnalysisInput, measured: Measurements, findings: Findings): void {
  if (measured.dataAgeMs === undefined) {
    findings.add("no-data", "no signal has a sample in the window");
    return;
  }
  const needed: Signal[] = ["requests_per_second"];
  if (requirements.maxLatencyMs !== undefined) needed.push(measured.latencySignal);
  if (requirements.availability !== undefined || requirements.maxErrorRate !== undefined) {
    needed.push("errors_per_second");
  }
  for (const signal of needed) {
    if (measured.windows[signal] === undefined) findings.add("signal-missing", `${signal} has no samples`, signal);
  }
  const { requests } = measured;
  if (requests !== undefined && requests < settings.minRequests) {
    const detail = `${Math.floor(requests)} of ${settings.minRequests} requests: no latency and error verdicts`;
    findings.add("too-few-requests", detail, "requests_per_second");
  }
}

/** Whether every error budget of the last hour was spent slower than allowed. Unknown is not within it. */
function isWithinBudget(assessed: readonly AssessedRequirement[]): boolean {
  return assessed.every(({ compliance: { burnRates, status } }) => {
    const hour = burnRates.find(({ long }) => long === "1h");
    return hour === undefined ? status !== "violated" : (hour.longRate ?? Number.POSITIVE_INFINITY) < 1;
  });
}

/** A shorter time does not show how the error budget is spent. */
const KNOWN_MS = 1_800_000;

/** How much of the error budget of the worst requirement was spent; undefined when latency is not known for long enough. */
function spentBudget(
  assessed: readonly AssessedRequirement[],
  { slow }: RequestHistory,
  { nowMs }: AnalysisInput,
): SpentBudget | undefined {
  if (slow === undefined || nowMs - slow.sinceMs < KNOWN_MS) return undefined;
  const rateOf = (window: string, { burnRates }: Compliance): number | undefined =>
    burnRates.find(({ long }) => long === window)?.longRate;
  const latency = assessed.find(({ compliance }) => compliance.requirement === "latency");
  if (latency === undefined || rateOf("1h", latency.compliance) === undefined) return undefined;
  const worst = (window: string): number =>
    Math.max(...assessed.map(({ compliance }) => rateOf(window, compliance) ?? 0));
  return { hour: worst("1h"), sixHours: worst("6h") };
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
