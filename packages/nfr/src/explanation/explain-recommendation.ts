import { DEFAULT_ANALYZER_SETTINGS } from "../analyzer/settings.ts";
import type { Dimension } from "../recommendation.ts";
import { SIGNALS } from "../samples.ts";
import { formatNumber, formatShare, formatSignal, formatValue, formatWindow } from "./format.ts";

/** A recommendation as it is stored in a status: what is not known is absent. */
export interface StoredRecommendation {
  readonly component: string;
  readonly dimension: Dimension;
  readonly target: number;
  readonly lowerBound?: number;
  readonly upperBound?: number;
  readonly current?: number;
  readonly confidence?: number;
  /** The numbers that entered, by name. */
  readonly values: Readonly<Record<string, number>>;
  readonly window?: string;
  readonly floor?: string;
  readonly ceiling?: string;
}

/** Sentences about one recommendation, each with its numbers. */
export interface ExplainedRecommendation {
  readonly summary: string;
  readonly signals: readonly string[];
  readonly model: readonly string[];
  /** What each rule needs; the largest decides. */
  readonly rules: readonly string[];
  /** What would change the recommendation. */
  readonly changes: readonly string[];
}

/** The signal that each rule follows, and its unit. */
const LOAD_RULES = [
  { rule: "demand", signal: "requests_per_second", unit: " requests per second" },
  { rule: "cpu", signal: "cpu_millicores", unit: " CPU" },
] as const;

/** Rules that do not follow the load, and how to change them. */
const FLOORS: Readonly<Record<string, string>> = {
  minimum: "min_scale",
  throughput: "min_throughput_rps",
  availability: "the required availability",
};

const UNITS: Readonly<Record<Dimension, string>> = {
  replicas: "replicas",
  max_replicas: "replicas at most",
  cpu: "CPU",
  memory: "memory",
};

/** Explains a recommendation from its stored numbers alone. */
export function explainRecommendation(one: StoredRecommendation): ExplainedRecommendation {
  return {
    summary: summarize(one),
    signals: listSignals(one),
    model: describeModel(one),
    rules: listRules(one),
    changes: one.dimension === "replicas" ? replicaChanges(one) : usageChanges(one),
  };
}

function summarize({ dimension, target, lowerBound, upperBound, current, confidence }: StoredRecommendation): string {
  const inUnit = (value: number) => formatValue(value, dimension);
  const hasBounds = lowerBound !== undefined && upperBound !== undefined;
  const bounds = hasBounds ? ` (${inUnit(lowerBound)} to ${inUnit(upperBound)})` : "";
  const now = current === undefined ? "" : `, ${inUnit(current)} in effect`;
  const sure = confidence === undefined ? "" : `, confidence ${formatShare(confidence)}`;
  return `${inUnit(target)} ${UNITS[dimension]} recommended${bounds}${now}${sure}`;
}

function listSignals({ values, window }: StoredRecommendation): string[] {
  const signals = Object.entries(values).filter(([name]) => SIGNAL_NAMES.has(name) || !isComputed(name));
  const over = window === undefined ? "" : ` over ${formatWindow(window)}`;
  return signals.map(([name, value]) => `${name} ${formatSignal(name, value)}${over}`);
}

const SIGNAL_NAMES: ReadonlySet<string> = new Set(SIGNALS);

const MODEL_VALUES: ReadonlySet<string> = new Set([
  "rps_per_replica",
  "rps_per_core",
  "sustained_rps",
  "saturated_rps",
  "capacity_confidence",
]);

function isComputed(name: string): boolean {
  return MODEL_VALUES.has(name) || name.endsWith("_replicas");
}

function describeModel({ values }: StoredRecommendation): string[] {
  const { rps_per_replica: rps, rps_per_core: perCore, sustained_rps: good, saturated_rps: bad } = values;
  if (rps === undefined) return [];
  const sentences = [`one replica serves ${formatNumber(rps)} requests per second`];
  if (good !== undefined) sentences.push(`latency was within its limit at ${formatNumber(good)}`);
  if (bad !== undefined) sentences.push(`latency was too high at ${formatNumber(bad)}`);
  if (perCore !== undefined) sentences.push(`one core serves ${formatNumber(perCore)}`);
  if (good === undefined && bad === undefined && perCore === undefined) sentences.push("assumed, not measured yet");
  const confidence = values["capacity_confidence"];
  return confidence === undefined ? sentences : [...sentences, `confidence ${formatShare(confidence)}`];
}

function ruleNeeds({ values }: StoredRecommendation): { rule: string; need: number }[] {
  return Object.entries(values).flatMap(([name, need]) =>
    name.endsWith("_replicas") && name !== "ready_replicas" ? [{ rule: name.slice(0, -"_replicas".length), need }] : [],
  );
}

function listRules(one: StoredRecommendation): string[] {
  const rules = ruleNeeds(one).toSorted((a, b) => b.need - a.need);
  const lines = rules.map(({ rule, need }) => `${rule} needs ${formatNumber(need)}`);
  if (one.floor !== undefined) lines.push(`the floor ${one.floor} sets the target`);
  if (one.ceiling !== undefined) lines.push(`the limit ${one.ceiling} cuts the target`);
  return lines;
}

function replicaChanges(one: StoredRecommendation): string[] {
  const { values, target, ceiling } = one;
  const needs = new Map(ruleNeeds(one).map(({ rule, need }) => [rule, need]));
  const changes: string[] = [];
  if (ceiling !== undefined) changes.push(`more than ${target} when ${ceiling} is raised`);
  for (const { rule, signal, unit } of LOAD_RULES) {
    const need = needs.get(rule);
    const value = values[signal];
    if (need === undefined || value === undefined || !(need > 0) || ceiling !== undefined) continue;
    changes.push(`more than ${target} above ${formatSignal(signal, (value * target) / need)}${unit}`);
  }
  changes.push(...describeDecrease(one, needs));
  if (needs.has("latency")) changes.push("more while latency stays above its limit, after the last change has settled");
  return changes;
}

/** Fewer replicas need every rule to fall; hysteresis keeps the target until the load saves a tenth. */
function describeDecrease({ values, target }: StoredRecommendation, needs: ReadonlyMap<string, number>): string[] {
  const floors = [...needs].filter(([rule, need]) => FLOORS[rule] !== undefined && Math.ceil(need) >= target);
  if (floors.length > 0) return floors.map(([rule]) => `fewer when ${FLOORS[rule]} is lowered`);
  const { hysteresis } = DEFAULT_ANALYZER_SETTINGS;
  const limits = LOAD_RULES.flatMap(({ rule, signal, unit }) => {
    const need = needs.get(rule);
    const value = values[signal];
    if (need === undefined || value === undefined || need * (1 + hysteresis) <= target - 1 || target <= 1) return [];
    return [`${formatSignal(signal, (value * (target - 1)) / (need * (1 + hysteresis)))}${unit}`];
  });
  return limits.length === 0 ? [] : [`fewer below ${limits.join(" and ")}`];
}

function usageChanges({ dimension, values, floor }: StoredRecommendation): string[] {
  const usage = dimension === "cpu" ? values["p90_millicores"] : values["p90_bytes"];
  const follows =
    usage === undefined ? [] : [`follows the 90th percentile of the usage, now ${formatValue(usage, dimension)}`];
  return floor === undefined ? follows : [...follows, `not below ${floor}`];
}
