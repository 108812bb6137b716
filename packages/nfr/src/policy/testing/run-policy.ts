import type { Lane, PolicyDecision, PolicyInput, PolicySettings, PolicyState } from "../../enforcement.ts";
import { decide } from "../decide.ts";
import { DEFAULT_POLICY } from "../settings.ts";

export const EMPTY_STATE: PolicyState = { targets: [], directionChangesMs: [] };

/** An input with one recommendation at `nowMs`, enforced and without obstacles. */
export function createInput(
  over: Partial<PolicyInput> & { readonly nowMs: number; readonly current: number; readonly target: number },
): PolicyInput {
  const { target, ...rest } = over;
  const dimension = over.dimension ?? "replicas";
  return {
    mode: "enforce",
    component: "echo",
    dimension,
    isAllowed: true,
    recommendation: {
      component: "echo",
      dimension,
      target,
      lowerBound: target,
      upperBound: target,
      basis: { window: "5m", query: "", values: {} },
      confidence: 1,
      observedAtMs: over.nowMs,
      validUntilMs: over.nowMs + 90_000,
    },
    minimums: [],
    maximums: [],
    urgency: {},
    blockers: [],
    isFrozen: false,
    leaderSinceMs: -3_600_000,
    state: EMPTY_STATE,
    ...rest,
  };
}

export interface Run {
  readonly ticks: number;
  readonly tickMs?: number;
  readonly current: number;
  readonly target: (tick: number, current: number) => number;
  readonly urgency?: (tick: number, current: number) => PolicyInput["urgency"];
  readonly badness?: (current: number) => number;
  readonly minimums?: PolicyInput["minimums"];
  readonly maximums?: PolicyInput["maximums"];
  readonly dimension?: PolicyInput["dimension"];
  readonly settings?: Partial<PolicySettings>;
  /** Without measurements no action is reverted. */
  readonly verificationOff?: boolean;
  readonly state?: PolicyState;
}

export interface RunResult {
  readonly decisions: readonly PolicyDecision[];
  readonly changes: readonly {
    readonly atMs: number;
    readonly lane: Lane;
    readonly from: number;
    readonly to: number;
  }[];
  /** The reasons to hold, without repetition in a row. */
  readonly reasons: readonly string[];
  readonly state: PolicyState;
  readonly current: number;
}

/** Runs the policy in a closed loop: every decision is applied at once, and the state passes through JSON. */
export function runPolicy(run: Run): RunResult {
  const settings = { ...DEFAULT_POLICY, ...run.settings };
  const decisions: PolicyDecision[] = [];
  const changes: RunResult["changes"][number][] = [];
  const reasons: string[] = [];
  let current = run.current;
  let state = run.state ?? EMPTY_STATE;
  for (let tick = 0; tick < run.ticks; tick += 1) {
    const nowMs = tick * (run.tickMs ?? 30_000);
    const badness = run.badness?.(current);
    const input = createInput({
      nowMs,
      current,
      target: run.target(tick, current),
      urgency: run.urgency?.(tick, current) ?? {},
      state,
      minimums: run.minimums ?? [],
      maximums: run.maximums ?? [],
      dimension: run.dimension ?? "replicas",
      ...(badness === undefined ? {} : { badness }),
    });
    const decision = decide(input, settings);
    decisions.push(decision);
    state = JSON.parse(JSON.stringify(decision.next)) as PolicyState;
    if (decision.action === "hold") {
      if (reasons.at(-1) !== decision.reason) reasons.push(decision.reason);
    } else {
      const { lane, from, to } = decision;
      changes.push({ atMs: nowMs, lane, from, to });
      current = to;
    }
  }
  return { decisions, changes, reasons, state, current };
}
