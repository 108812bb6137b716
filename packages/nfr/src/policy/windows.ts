import type { PolicyInput, PolicySettings, PolicyState } from "../enforcement.ts";

type Target = PolicyState["targets"][number];

/** Targets that the state keeps per bucket; the windows are divided into this many buckets. */
const BUCKETS = 32;

export const HOUR_MS = 3_600_000;

/** How long all targets must point in one direction before the stable lane acts. */
export function stabilityMs(direction: "up" | "down", settings: PolicySettings): number {
  return Math.max(settings.stabilityMs, direction === "up" ? settings.upWindowMs : settings.downWindowMs);
}

/**
 * The state with the newest target and without the past that no window needs. Times in the future, after the
 * clock was set back, count as now.
 */
export function rememberTarget(input: PolicyInput, settings: PolicySettings): PolicyState {
  const { nowMs, state, recommendation } = input;
  const past = (atMs: number): number => Math.min(atMs, nowMs);
  const horizonMs = Math.max(stabilityMs("up", settings), stabilityMs("down", settings));
  const targets = state.targets.filter(({ atMs }) => atMs <= nowMs);
  if (recommendation && isUsable(recommendation.target) && recommendation.validUntilMs >= nowMs)
    addTarget(targets, { atMs: past(recommendation.observedAtMs), target: recommendation.target }, horizonMs / BUCKETS);
  const { lastAction, lastEmergencyMs, rejected, frozenUntilMs, ...rest } = state;
  return {
    ...rest,
    targets: targets.slice(oldestNeeded(targets, nowMs - horizonMs)),
    directionChangesMs: state.directionChangesMs.map(past).filter((atMs) => atMs > nowMs - HOUR_MS),
    ...(lastAction ? { lastAction: { ...lastAction, atMs: past(lastAction.atMs) } } : {}),
    ...(lastEmergencyMs === undefined ? {} : { lastEmergencyMs: past(lastEmergencyMs) }),
    ...(frozenUntilMs !== undefined && frozenUntilMs > nowMs
      ? { frozenUntilMs: Math.min(frozenUntilMs, nowMs + settings.freezeMs) }
      : {}),
    ...(rejected && rejected.from === input.current ? { rejected } : {}),
  };
}

export function isUsable(value: number): boolean {
  return Number.isFinite(value) && value >= 0;
}

/** Adds a target. When ticks are shorter than a bucket, a bucket keeps its smallest and its largest target. */
function addTarget(targets: Target[], added: Target, bucketMs: number): void {
  const bucketOf = ({ atMs }: Target): number => Math.floor(atMs / bucketMs);
  const isShared = (target: Target | undefined): boolean =>
    target !== undefined && bucketOf(target) === bucketOf(added);
  const newest = targets.at(-1);
  if (newest && newest.atMs > added.atMs) return;
  if (newest?.atMs === added.atMs) targets.pop();
  targets.push(added);
  if (!isShared(targets.at(-3))) return;
  const [first, second, third] = targets.splice(-3) as [Target, Target, Target];
  const sorted = [first, second, third].toSorted((a, b) => a.target - b.target);
  targets.push(...[sorted[0], sorted[2]].filter((one) => one !== undefined).toSorted((a, b) => a.atMs - b.atMs));
}

/** The index of the newest target at or before `startMs`: it was in effect at the start of the window. */
function oldestNeeded(targets: readonly Target[], startMs: number): number {
  return Math.max(
    0,
    targets.findLastIndex(({ atMs }) => atMs <= startMs),
  );
}

/** A window that is full, or how long it has run. */
export type Window =
  | { readonly isFull: true; readonly targets: readonly number[] }
  | { readonly isFull: false; readonly coveredMs: number };

/** The targets in effect in the last `windowMs`. A gap interrupts the window. */
export function windowOf(targets: readonly Target[], nowMs: number, windowMs: number, maxGapMs: number): Window {
  const start = oldestNeeded(targets, nowMs - windowMs);
  const covered = targets.slice(Math.max(start, lastGap(targets, nowMs, maxGapMs)));
  const oldest = covered[0];
  if (oldest === undefined) return { isFull: false, coveredMs: 0 };
  if (oldest.atMs > nowMs - windowMs) return { isFull: false, coveredMs: nowMs - oldest.atMs };
  return { isFull: true, targets: covered.map(({ target }) => target) };
}

/** The index of the first target after the last gap. */
function lastGap(targets: readonly Target[], nowMs: number, maxGapMs: number): number {
  for (let index = targets.length; index > 0; index -= 1) {
    const nextMs = targets[index]?.atMs ?? nowMs;
    if (nextMs - (targets[index - 1]?.atMs ?? nextMs) > maxGapMs) return index;
  }
  return 0;
}
