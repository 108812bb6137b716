import type { PolicyDecision, PolicyInput, PolicySettings, PolicyState, Urgency } from "../enforcement.ts";
import { directionOf } from "./context.ts";
import { decide } from "./decide.ts";
import { outcomeText } from "./record.ts";
import { HOUR_MS, stabilityMs } from "./windows.ts";

/** The discretised states. The loads are the replicas that the demand needs, ascending. */
export interface ProofGrid {
  readonly tickMs: number;
  readonly loads: readonly number[];
  readonly minReplicas: number;
  readonly maxReplicas: number;
}

export const DEFAULT_GRID: ProofGrid = { tickMs: 60_000, loads: [1, 4, 9], minReplicas: 1, maxReplicas: 10 };

export const LAWS = [
  "within the limits",
  "bounded step",
  "cooldown between stable actions",
  "stability before stable actions",
  "monotone in load",
  "no limit cycle under constant load",
] as const;

export type Law = (typeof LAWS)[number];

/** One decision of a counterexample. */
export interface TraceStep {
  readonly atSeconds: number;
  readonly load: number;
  readonly current: number;
  readonly decision: string;
}

export interface Counterexample {
  readonly law: Law;
  readonly detail: string;
  readonly trace: readonly TraceStep[];
  /** The input of the last decision, to decide on it again. */
  readonly input: PolicyInput;
}

export interface Proof {
  readonly holds: boolean;
  /** Decisions that were checked. */
  readonly states: number;
  readonly counterexample?: Counterexample;
}

/** Checks the policy on every state of the grid, or up to the first counterexample. */
export function prove(settings: PolicySettings, grid: ProofGrid = DEFAULT_GRID): Proof {
  const steps = proveInSteps(settings, grid);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** How far a proof is. */
export interface ProofProgress {
  readonly states: number;
  /** 0 to 1. */
  readonly share: number;
}

/** The same in steps of some thousand states, so that a caller can report progress and stop. */
export function* proveInSteps(settings: PolicySettings, grid: ProofGrid): Generator<ProofProgress, Proof> {
  const situations = [...listSituations(settings, grid)];
  const runs = listRuns(grid);
  const total = situations.length + runs.length / 10;
  let states = 0;
  for (const [index, situation] of situations.entries()) {
    const checked = checkSituation(situation, settings, grid);
    states += checked.states;
    if (checked.counterexample) return { holds: false, states, counterexample: checked.counterexample };
    yield { states, share: index / total };
  }
  const settled = new Set<string>();
  for (const [index, run] of runs.entries()) {
    const checked = checkRun(run, settings, grid, settled);
    states += checked.states;
    if (checked.counterexample) return { holds: false, states, counterexample: checked.counterexample };
    if (index % 100 === 0) yield { states, share: (situations.length + index / 10) / total };
  }
  return { holds: true, states };
}

interface Checked {
  readonly states: number;
  readonly counterexample?: Counterexample;
}

/** Everything but the history of the load. */
interface Situation {
  readonly current: number;
  readonly state: Omit<PolicyState, "targets">;
  readonly urgency: Urgency;
  readonly badness: number;
}

/** Now, in all states of the grid: long after the first of January 1970, so that no time is negative. */
const NOW_MS = 10 * HOUR_MS;

const EMERGENCY: Urgency = { burnRate5m: 1e6, burnRate1h: 1e6 };

function* listSituations(settings: PolicySettings, grid: ProofGrid): Generator<Situation> {
  for (let current = grid.minReplicas; current <= grid.maxReplicas; current += 1)
    for (const state of listMemories(current, settings, grid))
      for (const urgency of [{}, EMERGENCY]) for (const badness of [0.8, 2]) yield { current, state, urgency, badness };
}

/** What the policy may remember besides the targets. */
function listMemories(current: number, settings: PolicySettings, grid: ProofGrid): Omit<PolicyState, "targets">[] {
  const none = { directionChangesMs: [] };
  const ages = [0.5, 1, 2, 5, 11].map((ticks) => ticks * grid.tickMs);
  const actions = ages.flatMap((ageMs) =>
    ([-1, 1] as const).flatMap((sign) =>
      (["stable", "emergency"] as const).flatMap((lane) =>
        [true, false].map((isVerified) => ({
          directionChangesMs: [],
          lastAction: {
            atMs: NOW_MS - ageMs,
            from: current - sign,
            to: current,
            lane,
            target: current,
            badnessBefore: 1,
            isVerified,
          },
          ...(lane === "emergency" ? { lastEmergencyMs: NOW_MS - ageMs } : {}),
        })),
      ),
    ),
  );
  const full = Array.from({ length: settings.maxDirectionChangesPerHour }, (_, index) => NOW_MS - 1000 - index);
  const middle = grid.loads[Math.floor(grid.loads.length / 2)] ?? current;
  return [
    none,
    ...actions,
    ...actions.slice(0, 8).map((one) => ({ ...one, directionChangesMs: full })),
    { ...none, frozenUntilMs: NOW_MS + grid.tickMs },
    { ...none, rejected: { from: current, to: current + 1, target: middle } },
    { ...none, rejected: { from: current, to: current - 1, target: middle } },
  ];
}

/** Checks one situation with all histories of the load. */
function checkSituation(situation: Situation, settings: PolicySettings, grid: ProofGrid): Checked {
  const { loads } = grid;
  const ticks = Math.ceil(Math.max(stabilityMs("up", settings), stabilityMs("down", settings)) / grid.tickMs) + 1;
  const count = loads.length ** ticks;
  const results = new Float64Array(count);
  const inputOf = (index: number): PolicyInput => createInput(situation, historyOf(index, ticks, loads), grid);
  for (let index = 0; index < count; index += 1) {
    const input = inputOf(index);
    const decision = decide(input, settings);
    results[index] = valueAfter(decision, input.current);
    const problem = findOneStepProblem(input, decision, settings, grid);
    if (problem) return { states: index + 1, counterexample: createCounterexample(problem, [{ input, decision }]) };
  }
  const lower = findDrop(results, ticks, loads.length);
  if (!lower) return { states: count };
  const trace = [lower.low, lower.high].map((index) => {
    const input = inputOf(index);
    return { input, decision: decide(input, settings) };
  });
  const detail = `more load leads to fewer replicas: ${results[lower.low]} at less load, ${results[lower.high]} at more`;
  return { states: count, counterexample: createCounterexample({ law: "monotone in load", detail }, trace) };
}

/** The loads of a history, oldest first; the index is a number in base `loads.length`. */
function historyOf(index: number, ticks: number, loads: readonly number[]): number[] {
  const history: number[] = [];
  for (let tick = 0, rest = index; tick < ticks; tick += 1, rest = Math.floor(rest / loads.length))
    history.push(loads[rest % loads.length] ?? 0);
  return history;
}

/** Two histories that differ in one load, of which the higher one leads to the lower value. */
function findDrop(results: Float64Array, ticks: number, base: number): { low: number; high: number } | undefined {
  for (let index = 0; index < results.length; index += 1) {
    for (let tick = 0, stride = 1; tick < ticks; tick += 1, stride *= base) {
      const isHighest = Math.floor(index / stride) % base === base - 1;
      if (!isHighest && (results[index + stride] ?? 0) < (results[index] ?? 0))
        return { low: index, high: index + stride };
    }
  }
  return undefined;
}

function createInput(situation: Situation, history: readonly number[], grid: ProofGrid): PolicyInput {
  const newest = history.length - 1;
  const targets = history
    .slice(0, -1)
    .map((target, index) => ({ atMs: NOW_MS - (newest - index) * grid.tickMs, target }));
  const { current, state, urgency, badness } = situation;
  return policyInput(
    { nowMs: NOW_MS, current, target: history[newest] ?? 0, urgency, badness, state: { ...state, targets } },
    grid,
  );
}

type Variable = Pick<PolicyInput, "nowMs" | "current" | "urgency" | "state"> & {
  readonly target: number;
  readonly badness: number;
};

function policyInput(variable: Variable, grid: ProofGrid): PolicyInput {
  const { target, ...given } = variable;
  return {
    mode: "enforce",
    component: "function",
    dimension: "replicas",
    isAllowed: true,
    recommendation: {
      component: "function",
      dimension: "replicas",
      target,
      lowerBound: target,
      upperBound: target,
      basis: { window: "", query: "", values: {} },
      confidence: 1,
      observedAtMs: given.nowMs,
      validUntilMs: given.nowMs + grid.tickMs,
    },
    minimums: [{ value: grid.minReplicas, source: "grid" }],
    maximums: [{ value: grid.maxReplicas, source: "grid" }],
    blockers: [],
    isFrozen: false,
    leaderSinceMs: 0,
    ...given,
  };
}

interface Problem {
  readonly law: Law;
  readonly detail: string;
}

/** Checks one decision against the laws, computed independently of the policy. */
function findOneStepProblem(
  { state, current, nowMs, recommendation }: PolicyInput,
  decision: PolicyDecision,
  settings: PolicySettings,
  { minReplicas, maxReplicas }: ProofGrid,
): Problem | undefined {
  if (decision.action === "hold") return undefined;
  const { from, to, lane } = decision;
  if (to < minReplicas || to > maxReplicas)
    return { law: "within the limits", detail: `${to} is outside ${minReplicas} to ${maxReplicas}` };
  const share = lane === "emergency" ? settings.emergencyMaxDelta : settings.maxDelta;
  const largest = Math.max(lane === "emergency" ? settings.emergencyMinPods : 1, Math.ceil(from * share));
  if (lane !== "verification" && Math.abs(to - from) > largest)
    return { law: "bounded step", detail: `${from} to ${to} is more than ${largest}` };
  if (lane !== "stable") return undefined;
  const elapsedMs = nowMs - (state.lastAction?.atMs ?? Number.NEGATIVE_INFINITY);
  if (elapsedMs < settings.cooldownMs)
    return { law: "cooldown between stable actions", detail: `${elapsedMs / 1000} s after the last action` };
  const direction = to > from ? "up" : "down";
  const startMs = nowMs - stabilityMs(direction, settings);
  const seen = [
    ...state.targets.filter(({ atMs }) => atMs >= startMs),
    { atMs: nowMs, target: recommendation?.target ?? 0 },
  ];
  const isStable = seen.every(({ target }) => {
    const limited = Math.min(Math.max(target, minReplicas), maxReplicas);
    return directionOf(limited, current, settings) === direction;
  });
  return isStable
    ? undefined
    : { law: "stability before stable actions", detail: `not every target points ${direction}` };
}

function valueAfter(decision: PolicyDecision, current: number): number {
  return decision.action === "hold" ? current : decision.to;
}

interface Decided {
  readonly input: PolicyInput;
  readonly decision: PolicyDecision;
}

function createCounterexample({ law, detail }: Problem, decided: readonly Decided[]): Counterexample {
  const trace = decided.map(({ input, decision }) => ({
    atSeconds: (input.nowMs - NOW_MS) / 1000,
    load: input.recommendation?.target ?? 0,
    current: input.current,
    decision: outcomeText(decision),
  }));
  const last = decided.at(-1) as Decided;
  return { law, detail, trace, input: last.input };
}

/**
 * What happens to the worst requirement. exact: the recommendation meets it. optimistic: the demand needs half as many
 * replicas more than recommended. contended: every replica makes it worse.
 */
const PLANTS = {
  exact: (load: number, current: number): number => load / current,
  optimistic: (load: number, current: number): number => (1.5 * load) / current,
  contended: (_load: number, current: number): number => 0.9 + current / 5,
} as const;

/** A constant load after another one, from one value. */
interface ClosedLoop {
  readonly plant: keyof typeof PLANTS;
  readonly before: number;
  readonly load: number;
  readonly current: number;
}

function listRuns({ loads, minReplicas, maxReplicas }: ProofGrid): readonly ClosedLoop[] {
  const values = Array.from({ length: maxReplicas - minReplicas + 1 }, (_, index) => minReplicas + index);
  return (Object.keys(PLANTS) as ClosedLoop["plant"][]).flatMap((plant) =>
    values.flatMap((current) => loads.flatMap((before) => values.map((load) => ({ plant, before, load, current })))),
  );
}

/** Runs one constant load until a state repeats. `settled` has the states that are known to reach rest. */
function checkRun(run: ClosedLoop, settings: PolicySettings, grid: ProofGrid, settled: Set<string>): Checked {
  const decided: Decided[] = [];
  const seen = new Map<string, number>();
  const badnessOf = PLANTS[run.plant];
  const history = Math.ceil(stabilityMs("down", settings) / grid.tickMs);
  const longestMs = longestAge(settings);
  let { current } = run;
  let state: PolicyState = {
    targets: Array.from({ length: history }, (_, index) => ({
      atMs: NOW_MS - (history - index) * grid.tickMs,
      target: run.before,
    })),
    directionChangesMs: [],
  };
  let ratioSinceMs: number | undefined;
  for (let nowMs = NOW_MS; ; nowMs += grid.tickMs) {
    const badness = badnessOf(run.load, current);
    ratioSinceMs = badness >= settings.emergencyRatio ? (ratioSinceMs ?? nowMs) : undefined;
    const urgency = { ratio: badness, ...(ratioSinceMs === undefined ? {} : { ratioSinceMs }) };
    const ageOf = (atMs: number | undefined): number => (atMs === undefined ? -1 : Math.min(nowMs - atMs, longestMs));
    const key = `${run.plant} ${run.load} ${current} ${relativeState(state, nowMs, ageOf)} ${ageOf(ratioSinceMs)}`;
    const first = seen.get(key);
    if (settled.has(key) || first !== undefined) {
      const values = new Set(decided.slice(first ?? decided.length).map(({ input }) => input.current));
      if (values.size > 1) {
        const detail = `the ${run.plant} plant at load ${run.load} repeats ${[...values].join(", ")} replicas`;
        const cycle = decided.slice(first).filter(({ decision }) => decision.action !== "hold");
        const problem: Problem = { law: "no limit cycle under constant load", detail };
        return { states: decided.length, counterexample: createCounterexample(problem, cycle) };
      }
      for (const passed of seen.keys()) settled.add(passed);
      return { states: decided.length };
    }
    seen.set(key, decided.length);
    const input = policyInput({ nowMs, current, target: run.load, urgency, badness, state }, grid);
    const decision = decide(input, settings);
    decided.push({ input, decision });
    ({ next: state } = decision);
    current = valueAfter(decision, current);
  }
}

/** A state with ages instead of times, so that equal states at different times are equal. */
function relativeState(state: PolicyState, nowMs: number, ageOf: (atMs: number | undefined) => number): string {
  const { targets, lastAction, lastEmergencyMs, frozenUntilMs, rejected, directionChangesMs } = state;
  return JSON.stringify([
    targets.map(({ atMs, target }) => [nowMs - atMs, target]),
    lastAction && { ...lastAction, atMs: ageOf(lastAction.atMs) },
    ageOf(lastEmergencyMs),
    Math.max(0, (frozenUntilMs ?? nowMs) - nowMs),
    rejected,
    directionChangesMs.map((atMs) => nowMs - atMs),
  ]);
}

/** Beyond this age, a time makes no difference. */
function longestAge(settings: PolicySettings): number {
  const { cooldownMs, verificationMs, maxGapMs, emergencyRatioMs } = settings;
  const verifiedMs = verificationMs + Math.max(verificationMs, maxGapMs);
  return (
    Math.max(cooldownMs, verifiedMs, emergencyRatioMs, stabilityMs("down", settings), stabilityMs("up", settings)) + 1
  );
}
