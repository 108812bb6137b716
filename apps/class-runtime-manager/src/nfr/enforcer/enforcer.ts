import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { Fault, sleep, type Ambient } from "@oaas/foundation";
import type { EventInput, LedTask } from "@oaas/kube-runtime";
import type { PolicyDecision, PolicyInput, PolicySettings } from "@oaas/nfr";
import { decide, recordDecision, rememberTarget } from "@oaas/nfr/policy";
import type { Counter, Logger, Meter } from "@oaas/observability";
import type { FindForeignScaler } from "../../controller/children/foreign-scaler.ts";
import type { EnforceableClass } from "../../controller/reconcile/enforceable-class.ts";
import type { EnforceableValue } from "../../enforcement/enforceable-values.ts";
import { actionEvents, failureEvent, skipEvent } from "../../enforcement/enforcement-events.ts";
import { policyStateToStatus, type DimensionState } from "../../mapping/status/enforcement-state.ts";
import { ActionBudget } from "./action-budget.ts";
import { changedPath, nextStates, type Decided, type DecidedAction } from "./class-decision.ts";
import { hasExpired, restoreMemory, stateKey, type ClassMemory } from "./class-memory.ts";
import { enforcementStatus, isWorthWriting } from "./enforcement-status.ts";
import { HeldValues } from "./held-values.ts";
import { policyInput, type ComponentFindings } from "./policy-input.ts";

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
  readonly #classes = new Map<string, ClassMemory>();
  readonly #actions: Counter<"dimension" | "lane" | "outcome">;
  readonly #held: HeldValues;
  #leaderSinceMs: number;

  constructor(options: EnforcerOptions) {
    this.#options = options;
    this.#budget = new ActionBudget(() => options.actionsPerMinute);
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
    const memory = this.#classes.get(one.uid) ?? restoreMemory(one.status);
    this.#classes.set(one.uid, memory);
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

  async #decide(
    one: EnforceableClass,
    value: EnforceableValue,
    found: ComponentFindings | undefined,
    memory: ClassMemory,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<Decided> {
    const { settings, isFrozen, maxDataAgeMs } = this.#options;
    const input = policyInput(one, value, found, memory, {
      nowMs,
      isFrozen,
      leaderSinceMs: this.#leaderSinceMs,
      hasBudget: this.#budget.hasLeft(nowMs),
      maxDataAgeMs,
    });
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
    memory: ClassMemory,
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

  /** Keeps the values. The windows go on, and the next attempt follows after a while. */
  async #fail(
    one: EnforceableClass,
    decided: readonly Decided[],
    message: string,
    memory: ClassMemory,
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
    memory: ClassMemory,
    nowMs: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { settings, logger } = this.#options;
    const actions = decided.flatMap((each) => {
      const { decision, input, found } = each;
      if (decision.action === "hold") return [];
      return [{ ...each, decision, record: recordDecision(input, settings, decision, found?.digestSamples?.()) }];
    });
    const fields = enforcementStatus(one, decided, actions, memory, nowMs);
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
    actions: readonly DecidedAction[],
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

/** Whether the class can be rendered with the new values. */
function findProblem(one: EnforceableClass, states: readonly DimensionState[]): string | undefined {
  const problems = one.findProblems(states.map(policyStateToStatus));
  return problems.length === 0 ? undefined : problems.join("; ");
}
