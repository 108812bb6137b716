import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { equalJson, Fault, sleep, timestamp, type Ambient } from "@oaas/foundation";
import type { EventInput, LedTask } from "@oaas/kube-runtime";
import {
  DIMENSIONS,
  TARGET_UTILIZATION,
  type Blocker,
  type PolicyDecision,
  type PolicyInput,
  type PolicySettings,
  type PolicyState,
  type Recommendation,
  type Urgency,
} from "@oaas/nfr";
import { decide, POLICY_VERSION, recordDecision, rememberTarget, type DecisionRecord } from "@oaas/nfr/policy";
import type { Counter, Logger, Meter } from "@oaas/observability";
import type { FindForeignScaler } from "../../controller/children/foreign-scaler.ts";
import type { EnforceableClass } from "../../controller/reconcile/enforceable-class.ts";
import { enforcedCondition, NFR_ENFORCED } from "../../enforcement/enforced-condition.ts";
import type { EnforceableValue } from "../../enforcement/enforceable-values.ts";
import { actionEvents, failureEvent, skipEvent } from "../../enforcement/enforcement-events.ts";
import {
  policyStateFromStatus,
  policyStateToStatus,
  type DimensionState,
} from "../../mapping/status/enforcement-state.ts";
import { appliedToStatus, limitRecords } from "../../mapping/status/nfr-recommendations.ts";
import { ActionBudget } from "./action-budget.ts";
import { HeldValues } from "./held-values.ts";
import { recommendationFor } from "./recommendation-for.ts";

/** What the analyzer found about one component. */
export interface ComponentFindings {
  readonly component: string;
  readonly recommendations: readonly Recommendation[];
  readonly urgency: Urgency;
  readonly badness?: number;
  /** The age of the newest sample; absent without any. */
  readonly dataAgeMs?: number;
  /** The digest of the samples behind the recommendations; computed for actions only. */
  readonly digestSamples?: () => string;
}

export interface EnforcerOptions {
  readonly ambient: Ambient;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly recordEvent: (event: EventInput) => void;
  readonly settings: PolicySettings;
  readonly isFrozen: boolean;
  readonly actionsPerMinute: number;
  /** Older measurements lead to no action. */
  readonly maxDataAgeMs: number;
  readonly findForeignScaler: FindForeignScaler;
}

type Action = Exclude<PolicyDecision, { readonly action: "hold" }>;

interface Decided {
  readonly value: EnforceableValue;
  readonly input: PolicyInput;
  readonly decision: PolicyDecision;
  readonly found: ComponentFindings | undefined;
}

/** What is remembered of one class while this process leads. */
interface Memory {
  states: Map<string, PolicyState>;
  writtenAtMs: number;
  /** Foreign scalers by component, with the time of the next check. */
  readonly conflicts: Map<string, { readonly message: string; readonly untilMs: number }>;
  /** After a failure, nothing is tried before this time. */
  failure?: { readonly message: string; readonly untilMs: number };
  /** Resizes that the server would reject, by component and dimension. */
  readonly refused: Map<string, { readonly message: string; readonly untilMs: number }>;
  /** After the server rejected a write. */
  rejected?: { readonly untilMs: number };
}

/** Running windows are written at most this often: shorter than the gap that interrupts a window. */
const WINDOWS_EVERY_MS = 60_000;
/** A problem outside of our control is checked again after this time, so that it causes no storm of requests. */
const RECHECK_MS = 300_000;
const MAX_ATTEMPTS = 5;
const CONFLICT_DELAY_MS = 100;
/** After a rejected write, the next one follows after this time. */
const REJECTED_RETRY_MS = 60_000;

/**
 * Applies recommendations after each tick of the analyzer, while this process is the leader.
 *
 * ```
 *   findings ─▶ policy (pure) ─▶ status: value, windows, audit entry ─▶ the controller renders the value into the children
 * ```
 *
 * The status is the only thing it writes, under its own field manager: the controller stays the only writer of the
 * children, and an action is durable before its effect.
 *
 * *Guarantees*: an idle class is not written; a failed write starts no cooldown and is tried again later; every action
 * and every change of the reason to hold has an event.
 */
export class Enforcer implements LedTask {
  readonly name = "nfr-enforcer";
  readonly #options: EnforcerOptions;
  readonly #budget: ActionBudget;
  readonly #classes = new Map<string, Memory>();
  readonly #actions: Counter<"dimension" | "lane" | "outcome">;
  readonly #held: HeldValues;
  #leaderSinceMs: number;

  constructor(options: EnforcerOptions) {
    this.#options = options;
    this.#budget = new ActionBudget(options.actionsPerMinute);
    this.#leaderSinceMs = options.ambient.clock.now();
    this.#actions = options.meter.counter({
      name: "crm_enforcement_actions_total",
      help: "Changes by enforcement, by dimension, lane and outcome: applied, reverted or failed.",
      labels: ["dimension", "lane", "outcome"],
      startAtZero: [{ dimension: "replicas", lane: "stable", outcome: "applied" }],
    });
    this.#held = new HeldValues(options.meter);
  }

  /** Starts a term of leadership: another process may have written the statuses. */
  async run(signal: AbortSignal): Promise<void> {
    this.#classes.clear();
    this.#leaderSinceMs = this.#options.ambient.clock.now();
    while (!signal.aborted) await sleep(this.#options.ambient.timers, RECHECK_MS, signal).catch(() => undefined);
    this.#held.count([]);
  }

  /** Decides on one class and writes its status when something changed. */
  async enforce(one: EnforceableClass, findings: readonly ComponentFindings[], signal: AbortSignal): Promise<void> {
    const memory = this.#memoryOf(one);
    const nowMs = this.#options.ambient.clock.now();
    if (one.enforcement.mode === "off") return this.#withdraw(one, signal);
    const decided: Decided[] = [];
    for (const value of one.values) {
      const found = findings.find(({ component }) => component === value.component);
      const decision = await this.#decide(one, value, found, memory, nowMs, signal);
      decided.push(await this.#checkResize(one, decision, memory, nowMs, signal));
    }
    const actions = decided.filter(({ decision }) => decision.action !== "hold");
    const problem = actions.length === 0 ? undefined : findProblem(one, nextStates(one, decided, memory));
    if (problem !== undefined) return this.#fail(one, decided, problem, memory, nowMs, signal);
    await this.#write(one, decided, memory, nowMs, signal);
  }

  /** Starts a tick: forgets classes that no longer exist, and counts the last decisions of the others. */
  retain(uids: ReadonlySet<string>): void {
    for (const uid of this.#classes.keys()) if (!uids.has(uid)) this.#classes.delete(uid);
    this.#held.count([...this.#classes.values()].flatMap(({ states }) => [...states.values()]));
  }

  #memoryOf({ uid, status }: EnforceableClass): Memory {
    const known = this.#classes.get(uid);
    if (known) return known;
    const states = (status?.enforcement_state ?? []).map(policyStateFromStatus);
    const memory: Memory = {
      states: new Map(states.map((one) => [stateKey(one), one.state])),
      writtenAtMs: Number.NEGATIVE_INFINITY,
      conflicts: new Map(),
      refused: new Map(),
    };
    this.#classes.set(uid, memory);
    return memory;
  }

  async #decide(
    one: EnforceableClass,
    value: EnforceableValue,
    found: ComponentFindings | undefined,
    memory: Memory,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<Decided> {
    const { settings } = this.#options;
    const input = this.#inputOf(one, value, found, memory, nowMs);
    const decision = decide(input, settings);
    if (decision.action === "hold" || value.scaledWorkload === undefined) return { value, input, decision, found };
    const foreign = await this.#options.findForeignScaler(one.namespace, value.scaledWorkload, signal);
    if (foreign === undefined) return { value, input, decision, found };
    memory.conflicts.set(value.component, { message: foreign, untilMs: nowMs + RECHECK_MS });
    const blocked: PolicyInput = { ...input, blockers: [...input.blockers, "conflict"] };
    return { value, input: blocked, decision: decide(blocked, settings), found };
  }

  /** Holds a resize that the server would reject; the other values are not affected. */
  async #checkResize(
    one: EnforceableClass,
    decided: Decided,
    memory: Memory,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<Decided> {
    const { value, input, decision, found } = decided;
    if (decision.action === "hold" || value.isResize !== true) return decided;
    const key = stateKey(input);
    const held = { ...decided, decision: this.#withoutAction(decided) };
    if (!hasExpired(memory.refused.get(key), nowMs)) return held;
    const states = nextStates(one, [decided], memory).map(policyStateToStatus);
    const message = await one.findResizeProblem(states, input.component, signal);
    if (message === undefined) {
      memory.refused.delete(key);
      return decided;
    }
    const isNew = memory.refused.get(key)?.message !== message;
    const refusal = { message, untilMs: nowMs + RECHECK_MS };
    memory.refused.set(key, refusal);
    memory.failure = refusal;
    this.#actions.add(1, { dimension: input.dimension, lane: decision.lane, outcome: "failed" });
    const record = recordDecision(input, this.#options.settings, decision, found?.digestSamples?.());
    if (isNew) this.#options.recordEvent(failureEvent(record, message, one.regarding));
    return held;
  }

  #inputOf(
    { enforcement, status }: EnforceableClass,
    value: EnforceableValue,
    found: ComponentFindings | undefined,
    memory: Memory,
    nowMs: number,
  ): PolicyInput {
    const { component, dimension, current, minimums, maximums, isAllowed, whyNotAllowed } = value;
    const recommendation = recommendationFor(value, found?.recommendations ?? []);
    const blockers = [
      ...value.blockers,
      ...(value.conflict === undefined ? [] : (["conflict"] as const)),
      ...phaseBlockers(status),
      ...this.#dataBlockers(found),
      ...(hasExpired(memory.conflicts.get(component), nowMs) ? [] : (["conflict"] as const)),
      ...(this.#budget.hasLeft(nowMs) ? [] : (["budget"] as const)),
    ];
    return {
      nowMs,
      mode: enforcement.mode,
      component,
      dimension,
      isAllowed,
      ...(whyNotAllowed === undefined ? {} : { whyNotAllowed }),
      ...(recommendation ? { recommendation } : {}),
      current,
      ...(value.isMinimum ? { isMinimum: true } : {}),
      ...(value.utilization === undefined ? {} : { utilization: value.utilization.target }),
      minimums,
      maximums,
      urgency: found?.urgency ?? {},
      blockers,
      ...(enforcement.pausedUntilMs === undefined ? {} : { pausedUntilMs: enforcement.pausedUntilMs }),
      isFrozen: this.#options.isFrozen,
      leaderSinceMs: this.#leaderSinceMs,
      ...(found?.badness === undefined ? {} : { badness: found.badness }),
      ...(value.schedulable === undefined ? {} : { schedulable: value.schedulable }),
      state: memory.states.get(stateKey({ component, dimension })) ?? { targets: [], directionChangesMs: [] },
    };
  }

  #dataBlockers(found: ComponentFindings | undefined): readonly Blocker[] {
    if (found?.dataAgeMs === undefined) return ["no-data"];
    return found.dataAgeMs > this.#options.maxDataAgeMs ? ["data-outdated"] : [];
  }

  /** Keeps the values. The windows go on, and the next attempt follows after a while. */
  async #fail(
    one: EnforceableClass,
    decided: readonly Decided[],
    message: string,
    memory: Memory,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const isNew = hasExpired(memory.failure, nowMs);
    memory.failure = { message, untilMs: nowMs + RECHECK_MS };
    for (const { input, decision, found } of decided) {
      if (decision.action === "hold") continue;
      this.#actions.add(1, { dimension: input.dimension, lane: decision.lane, outcome: "failed" });
      const record = recordDecision(input, this.#options.settings, decision, found?.digestSamples?.());
      if (isNew) this.#options.recordEvent(failureEvent(record, message, one.regarding));
    }
    const held = decided.map((each) => ({ ...each, decision: this.#withoutAction(each) }));
    await this.#write(one, held, memory, nowMs, signal);
  }

  #withoutAction({ input, decision }: Decided): PolicyDecision {
    if (decision.action === "hold") return decision;
    const next = rememberTarget(input, this.#options.settings);
    return { action: "hold", reason: "conflict", gates: decision.gates, next };
  }

  async #write(
    one: EnforceableClass,
    decided: readonly Decided[],
    memory: Memory,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { settings, logger } = this.#options;
    const actions = decided.flatMap((each) => {
      const { decision, input, found } = each;
      if (decision.action === "hold") return [];
      return [{ ...each, decision, record: recordDecision(input, settings, decision, found?.digestSamples?.()) }];
    });
    const fields = statusOf(one, decided, actions, memory, nowMs);
    const isNeeded = actions.length > 0 || isWorthWriting(one, decided, fields, memory, nowMs);
    if (isNeeded && !hasExpired(memory.rejected, nowMs)) return;
    try {
      if (isNeeded && !(await this.#writeStatus(one, fields, signal))) return;
    } catch (thrown) {
      if (signal.aborted) return;
      const fault = Fault.from(thrown);
      logger.warn("write enforcement status failed", { ...one.regarding, fault });
      const isNew = memory.rejected === undefined;
      memory.rejected = { untilMs: nowMs + REJECTED_RETRY_MS };
      for (const { record, input, decision } of actions) {
        this.#actions.add(1, { dimension: input.dimension, lane: decision.lane, outcome: "failed" });
        if (isNew) this.#options.recordEvent(failureEvent(record, fault.message, one.regarding));
      }
      return;
    }
    delete memory.rejected;
    if (isNeeded) memory.writtenAtMs = nowMs;
    memory.states = new Map(nextStates(one, decided, memory).map((each) => [stateKey(each), each.state]));
    const isRefused = [...memory.refused.values()].some((refusal) => !hasExpired(refusal, nowMs));
    if (memory.failure !== undefined && actions.length > 0 && !isRefused) delete memory.failure;
    this.#announce(one, decided, actions, nowMs);
  }

  /** The cache lags behind the write of the analyzer in the same tick: a conflict is tried again. */
  async #writeStatus(one: EnforceableClass, fields: ClassRuntimeStatus, signal: AbortSignal): Promise<boolean> {
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
      if (await one.writeStatus(fields, signal)) return true;
      await sleep(this.#options.ambient.timers, attempt * CONFLICT_DELAY_MS, signal);
    }
    return false;
  }

  #announce(
    one: EnforceableClass,
    decided: readonly Decided[],
    actions: readonly (Decided & { readonly decision: Action; readonly record: DecisionRecord })[],
    nowMs: number,
  ): void {
    const { recordEvent, logger } = this.#options;
    for (const { input, decision } of decided) {
      const event = decision.action === "hold" ? skipEvent(input, decision, one.regarding) : undefined;
      if (event) recordEvent(event);
    }
    for (const { input, decision, record, value } of actions) {
      const { dimension, component } = input;
      const { lane, from, to } = decision;
      this.#budget.take(nowMs);
      this.#actions.add(1, { dimension, lane, outcome: decision.action === "revert" ? "reverted" : "applied" });
      logger.info("enforced value", { ...one.regarding, component, dimension, lane, from, to, digest: record.digest });
      for (const event of actionEvents(input, decision, record, changedPath(value, decision), one.regarding))
        recordEvent(event);
    }
  }

  /** Removes the status fields of a class whose enforcement was turned off. */
  async #withdraw(one: EnforceableClass, signal: AbortSignal): Promise<void> {
    this.#classes.delete(one.uid);
    if (one.status?.enforcement_state === undefined) return;
    const { last_applied_recommendations: history, last_applied_at: at } = one.status;
    await one.writeStatus(
      {
        ...(history === undefined ? {} : { last_applied_recommendations: history }),
        ...(at === undefined ? {} : { last_applied_at: at }),
      },
      signal,
    );
  }
}

function stateKey({ component, dimension }: { readonly component: string; readonly dimension: string }): string {
  return `${component}/${dimension}`;
}

/** The states after the decisions, sorted, with those of components whose workload is missing now. */
function nextStates(
  { components }: EnforceableClass,
  decided: readonly Decided[],
  { states }: Memory,
): readonly DimensionState[] {
  const next = new Map<string, DimensionState>();
  for (const [key, state] of states) {
    const at = key.lastIndexOf("/");
    const component = key.slice(0, at);
    const dimension = DIMENSIONS.find((one) => one === key.slice(at + 1));
    if (dimension !== undefined && components.has(component)) next.set(key, { component, dimension, state });
  }
  for (const { input, decision } of decided) {
    const { component, dimension } = input;
    next.set(stateKey(input), { component, dimension, state: decision.next });
  }
  return [...next].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, state]) => state);
}

/** Whether the class can be rendered with the new values. */
function findProblem(one: EnforceableClass, states: readonly DimensionState[]): string | undefined {
  const problems = one.findProblems(states.map(policyStateToStatus));
  return problems.length === 0 ? undefined : problems.join("; ");
}

/** The status fields of the enforcer. */
function statusOf(
  one: EnforceableClass,
  decided: readonly Decided[],
  actions: readonly (Decided & { readonly decision: Action; readonly record: DecisionRecord })[],
  memory: Memory,
  nowMs: number,
): ClassRuntimeStatus {
  const { status, enforcement, generation } = one;
  const applied = actions.flatMap(({ input, decision, value, record }) => {
    const { action, lane, from, to, clampedBy } = decision;
    const entry = { action, lane, from, to, path: changedPath(value, decision), ...(clampedBy ? { clampedBy } : {}) };
    const audit = {
      appliedAtMs: nowMs,
      policyVersion: POLICY_VERSION,
      digest: record.digest,
      record: JSON.stringify(record),
    };
    const recommendation = withUtilization(input, decision);
    return recommendation ? [appliedToStatus({ recommendation, ...entry, ...audit })] : [];
  });
  const replaced = new Set(applied.map(stateKey));
  const earlier = (status?.last_applied_recommendations ?? []).filter((entry) => !replaced.has(stateKey(entry)));
  const history = [...limitRecords([...applied, ...earlier])];
  const findings = decided.map(({ value, input, decision }) => ({
    component: input.component,
    dimension: input.dimension,
    reason: decision.action === "hold" ? decision.reason : undefined,
    detail:
      input.whyNotAllowed ??
      value.conflict ??
      memory.conflicts.get(input.component)?.message ??
      (isFieldConflict(status) ? status?.message : undefined) ??
      detailOf(decision),
    isRefused: !input.isAllowed && input.whyNotAllowed !== undefined,
  }));
  const previous = status?.conditions?.find(({ type }) => type === NFR_ENFORCED);
  const failure = hasExpired(memory.failure, nowMs) ? undefined : memory.failure?.message;
  const condition = enforcedCondition(enforcement, findings, failure, previous, { nowMs, generation });
  const appliedAt = applied.length > 0 ? timestamp(nowMs) : status?.last_applied_at;
  return {
    enforcement_state: nextStates(one, decided, memory).map(policyStateToStatus),
    ...(history.length > 0 ? { last_applied_recommendations: history } : {}),
    ...(appliedAt === undefined ? {} : { last_applied_at: appliedAt }),
    ...(condition ? { conditions: [condition] } : {}),
  };
}

/** The field that an action changes. */
function changedPath({ path, utilization }: EnforceableValue, decision: Action): string {
  return decision.utilization === undefined ? path : (utilization?.path ?? path);
}

/** The recommendation with the target that the autoscaler has from now on, which the status keeps as evidence. */
function withUtilization({ recommendation, utilization }: PolicyInput, decision: Action): Recommendation | undefined {
  if (recommendation === undefined || utilization === undefined) return recommendation;
  const target = decision.utilization?.to ?? utilization;
  const { basis } = recommendation;
  return { ...recommendation, basis: { ...basis, values: { ...basis.values, [TARGET_UTILIZATION]: target } } };
}

function detailOf({ gates }: PolicyDecision): string {
  return gates.find(({ passed }) => !passed)?.detail ?? "";
}

function hasExpired(entry: { readonly untilMs: number } | undefined, nowMs: number): boolean {
  return entry === undefined || entry.untilMs <= nowMs;
}

/** A class that is not available is not changed: its measurements tell nothing about its size. */
function phaseBlockers(status: ClassRuntimeStatus | undefined): readonly Blocker[] {
  if (status?.phase === "available") return [];
  if (isFieldConflict(status)) return ["conflict"];
  return status?.phase === "degraded" ? ["degraded"] : ["progressing"];
}

/** Whether another manager applies a field of a child; the message of the class names it. */
function isFieldConflict(status: ClassRuntimeStatus | undefined): boolean {
  return status?.reason === "Conflict";
}

/** Whether anything but the windows changed, or windows are running that a restart must not lose. */
function isWorthWriting(
  { status }: EnforceableClass,
  decided: readonly Decided[],
  fields: ClassRuntimeStatus,
  { writtenAtMs }: Memory,
  nowMs: number,
): boolean {
  const before = status?.conditions?.find(({ type }) => type === NFR_ENFORCED);
  if (!equalJson(before ?? null, fields.conditions?.[0] ?? null)) return true;
  if (!equalJson(durable(status?.enforcement_state), durable(fields.enforcement_state))) return true;
  const isWindowRunning = decided.some(({ decision }) => decision.action === "hold" && decision.reason === "stability");
  return isWindowRunning && nowMs - writtenAtMs >= WINDOWS_EVERY_MS;
}

/** The state without the windows and without times that expire by themselves. */
function durable(states: ClassRuntimeStatus["enforcement_state"]): unknown {
  return (states ?? []).map(
    ({ targets: _targets, direction_changes: _changes, frozen_until: _frozen, ...rest }) => rest,
  );
}
