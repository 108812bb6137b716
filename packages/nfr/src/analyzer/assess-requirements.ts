import { REQUIREMENTS, type Compliance, type ComplianceStatus, type Requirement } from "../compliance.ts";
import { roundTo } from "./aggregates.ts";
import type { AnalysisInput, RequirementTargets } from "./analysis.ts";
import { computeBurnRates, type BudgetUse } from "./burn-rates.ts";
import type { Measurements } from "./measure.ts";
import { optional } from "./optional.ts";
import type { RequestHistory } from "./request-history.ts";

const SHORTEST_WINDOW_MS = 300_000;

/** The verdict on one requirement. */
interface Assessment {
  readonly status: ComplianceStatus;
  readonly target: number;
  readonly measured?: number;
  /** Why the status is unknown, or met without demand. */
  readonly reason?: string;
  readonly budget?: BudgetUse;
  /** How bad it is as a ratio to the target: above 1 is violated. */
  readonly ratio?: number;
}

/** The smallest budget, for a requirement that allows no failures. */
const LEAST_BUDGET = 1e-6;

/** A requirement with its ratio to the target, which is not part of the compliance. */
export interface AssessedRequirement {
  readonly compliance: Compliance;
  readonly ratio?: number;
}

/** The compliance with each stated requirement. */
export function assessRequirements(
  input: AnalysisInput,
  measured: Measurements,
  requests: RequestHistory,
): AssessedRequirement[] {
  const context: Context = { input, measured, requests };
  const assessed: AssessedRequirement[] = [];
  for (const requirement of REQUIREMENTS) {
    const assessment = ASSESSORS[requirement](context);
    if (assessment !== undefined) assessed.push(toCompliance(requirement, assessment, input));
  }
  return assessed;
}

interface Context {
  readonly input: AnalysisInput;
  readonly measured: Measurements;
  readonly requests: RequestHistory;
}

const ASSESSORS: Readonly<Record<Requirement, (context: Context) => Assessment | undefined>> = {
  throughput: assessThroughput,
  latency: assessLatency,
  availability: assessAvailability,
  error_rate: assessErrorRate,
};

function toCompliance(requirement: Requirement, assessment: Assessment, input: AnalysisInput): AssessedRequirement {
  const { status, target, measured, reason, budget, ratio } = assessment;
  const previous = input.state?.verdicts[requirement];
  const compliance: Compliance = {
    component: input.component,
    requirement,
    status,
    ...optional("reason", reason),
    ...optional("measured", measured === undefined ? undefined : roundTo(measured, 4)),
    target,
    window: formatDuration(input.settings.windowMs),
    sinceMs: previous?.status === status ? previous.sinceMs : input.nowMs,
    ...optional("errorBudgetLeft", budget?.errorBudgetLeft),
    burnRates: withMeasuredWindow(budget?.burnRates ?? [], input.settings.windowMs),
  };
  return { compliance, ...optional("ratio", ratio) };
}

/**
 * Violated when less than the tolerated share of the required rate is served although requests wait, fail or are slow. A
 * class that serves all of a smaller demand meets its requirement.
 */
function assessThroughput({ input, measured }: Context): Assessment | undefined {
  const target = input.requirements.minThroughputRps;
  if (target === undefined) return undefined;
  const { rps } = measured;
  if (rps === undefined) return { status: "unknown", target, reason: missing("requests_per_second", input) };
  const least = input.settings.throughputTolerance * target;
  if (rps >= least) return { status: "met", target, measured: rps, ratio: least / rps };
  const unserved = describeUnserved(input.requirements, measured);
  if (unserved === undefined) {
    return { status: "met", target, measured: rps, reason: "the demand is smaller, and all of it is served" };
  }
  return { status: "violated", target, measured: rps, reason: unserved, ratio: least / Math.max(rps, least / 100) };
}

/** The share of failed requests that is evidence of overload when the class states none. */
const OVERLOAD_ERROR_RATE = 0.05;

function describeUnserved(requirements: RequirementTargets, measured: Measurements): string | undefined {
  const { waiting = 0, readyReplicas, latencyMs } = measured;
  if (waiting >= Math.max(1, readyReplicas)) return `${roundTo(waiting, 3)} requests wait`;
  const errorRate = errorRateOf(measured);
  if (errorRate !== undefined && errorRate > Math.max(requirements.maxErrorRate ?? 0, OVERLOAD_ERROR_RATE)) {
    return `${roundTo(errorRate * 100, 3)} % of the requests fail`;
  }
  if (latencyMs !== undefined && requirements.maxLatencyMs !== undefined && latencyMs > requirements.maxLatencyMs) {
    return `requests take ${roundTo(latencyMs, 3)} ms`;
  }
  return undefined;
}

function assessLatency({ input, measured, requests }: Context): Assessment | undefined {
  const { maxLatencyMs: target, latencyPercentile = 99 } = input.requirements;
  if (target === undefined) return undefined;
  const allowed = 1 - latencyPercentile / 100;
  const budget = computeBurnRates(
    { allowed, kind: "slow", counts: requests.slow },
    measured,
    input.nowMs,
    input.settings,
  );
  const { latencyMs } = measured;
  if (latencyMs === undefined) {
    return { status: "unknown", target, budget, reason: whyNoVerdict(measured, measured.latencySignal, input) };
  }
  const status = latencyMs <= target ? "met" : "violated";
  // What was slow earlier in the window does not make the present worse.
  const ratio = Math.min(latencyMs, measured.newestLatencyMs ?? latencyMs) / target;
  return { status, target, measured: latencyMs, budget, ratio };
}

/** By requests when there are enough; otherwise by the share of the window in which a replica was ready. */
function assessAvailability({ input, measured, requests }: Context): Assessment | undefined {
  const target = input.requirements.availability;
  if (target === undefined) return undefined;
  const allowed = Math.max(1 - target, LEAST_BUDGET);
  const budget = computeErrorBudget({ input, measured, requests }, allowed);
  const errorRate = hasEnoughRequests(measured, input) ? errorRateOf(measured) : undefined;
  const availability = errorRate === undefined ? upShare(measured, input) : 1 - errorRate;
  if (availability === undefined) {
    return { status: "unknown", target, budget, reason: whyNoVerdict(measured, "errors_per_second", input) };
  }
  const status = availability + 1e-9 >= target ? "met" : "violated";
  return { status, target, measured: availability, budget, ratio: (1 - availability) / allowed };
}

function assessErrorRate({ input, measured, requests }: Context): Assessment | undefined {
  const target = input.requirements.maxErrorRate;
  if (target === undefined) return undefined;
  const allowed = Math.max(target, LEAST_BUDGET);
  const budget = computeErrorBudget({ input, measured, requests }, allowed);
  const errorRate = hasEnoughRequests(measured, input) ? errorRateOf(measured) : undefined;
  if (errorRate === undefined) {
    return { status: "unknown", target, budget, reason: whyNoVerdict(measured, "errors_per_second", input) };
  }
  const status = errorRate <= target + 1e-9 ? "met" : "violated";
  return { status, target, measured: errorRate, budget, ratio: errorRate / allowed };
}

function computeErrorBudget({ input, measured, requests }: Context, allowed: number): BudgetUse {
  return computeBurnRates({ allowed, kind: "errors", counts: requests.errors }, measured, input.nowMs, input.settings);
}

function hasEnoughRequests({ requests }: Measurements, { settings }: AnalysisInput): boolean {
  return requests !== undefined && requests >= settings.minRequests;
}

function errorRateOf({ errors, requests }: Measurements): number | undefined {
  return errors === undefined || requests === undefined || requests <= 0 ? undefined : Math.min(1, errors / requests);
}

/** The share of samples with a ready replica. The start of a component that is younger than the window does not count. */
function upShare({ windows }: Measurements, { nowMs, settings }: AnalysisInput): number | undefined {
  const { values = [], times = [] } = windows.ready_replicas ?? windows.availability ?? {};
  const isYoung = (times[0] ?? nowMs) > nowMs - settings.windowMs + 2 * settings.stepMs;
  const firstUp = values.findIndex((value) => value > 0);
  const counted = isYoung ? values.slice(firstUp < 0 ? values.length : firstUp) : values;
  return counted.length === 0 ? undefined : counted.filter((value) => value > 0).length / counted.length;
}

function whyNoVerdict({ requests }: Measurements, signal: Parameters<typeof missing>[0], input: AnalysisInput): string {
  if (requests === undefined) return missing("requests_per_second", input);
  const { minRequests } = input.settings;
  if (requests < minRequests) return `too few requests: ${Math.floor(requests)} of ${minRequests}`;
  return missing(signal, input);
}

function missing(signal: keyof AnalysisInput["samples"]["signals"], { settings }: AnalysisInput): string {
  return `no usable samples of ${signal} in the last ${formatDuration(settings.windowMs)}`;
}

/** The shortest window is measured with the samples, which may cover less than it. */
function withMeasuredWindow(rates: BudgetUse["burnRates"], windowMs: number): BudgetUse["burnRates"] {
  if (windowMs >= SHORTEST_WINDOW_MS) return rates;
  return rates.map((rate) => (rate.short === "5m" ? { ...rate, short: formatDuration(windowMs) } : rate));
}

/** A duration in the notation of PromQL, such as `10m` or `90s`. */
export function formatDuration(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000}h`;
  return ms % 60_000 === 0 ? `${ms / 60_000}m` : `${Math.round(ms / 1000)}s`;
}
