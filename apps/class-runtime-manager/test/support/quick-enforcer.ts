import { realAmbient } from "@oaas/foundation/real";
import type { Dimension, PolicySettings, Urgency } from "@oaas/nfr";
import { DEFAULT_POLICY } from "@oaas/nfr/policy";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import type { ClassManager } from "../../src/controller/class-manager.ts";
import { Enforcer } from "../../src/nfr/enforcer/enforcer.ts";
import { createForeignScalerFinder } from "../../src/controller/children/foreign-scaler.ts";

/** How often the enforcer decides. */
export const TICK_MS = 100;

/** The default policy with short times. */
const QUICK: PolicySettings = {
  ...DEFAULT_POLICY,
  stabilityMs: 400,
  upWindowMs: 200,
  downWindowMs: 600,
  cooldownMs: 400,
  emergencyCooldownMs: 200,
  verificationMs: 200,
  maxGapMs: 60_000,
};

/** A running enforcer of one class, whose function `f` is recommended `wanted.target` replicas, CPU and memory. */
export interface QuickEnforcer {
  readonly wanted: { target: number; cpu?: number; memory?: number };
  stop(): Promise<void>;
}

/** Decides ten times a second on the newest objects of the caches. */
export function startQuickEnforcer(
  crm: ClassManager,
  key: { readonly namespace: string; readonly name: string },
  urgency: () => Urgency = () => ({}),
): QuickEnforcer {
  const enforcer = new Enforcer({
    ambient: realAmbient,
    logger: NOOP_LOGGER,
    meter: NOOP_METER,
    recordEvent: (event) => crm.events.record(event),
    settings: QUICK,
    isFrozen: false,
    actionsPerMinute: 1_000,
    maxDataAgeMs: 60_000,
    findForeignScaler: createForeignScalerFinder(crm.actingClient, crm.children),
  });
  const stop = new AbortController();
  const wanted: QuickEnforcer["wanted"] = { target: 1 };
  const tick = async (): Promise<void> => {
    const object = crm.classRuntimes.get(key);
    const one = object && crm.enforceable(object);
    const nowMs = realAmbient.clock.now();
    const recommend = (dimension: Dimension, target: number) => ({
      component: "f",
      dimension,
      target,
      lowerBound: target,
      upperBound: target,
      basis: { window: "5m", query: "rps", values: {} },
      confidence: 1,
      observedAtMs: nowMs,
      validUntilMs: nowMs + 60_000,
    });
    const recommendations = [
      recommend("replicas", wanted.target),
      ...(wanted.cpu === undefined ? [] : [recommend("cpu", wanted.cpu)]),
      ...(wanted.memory === undefined ? [] : [recommend("memory", wanted.memory)]),
    ];
    const findings = [{ component: "f", recommendations, urgency: urgency(), dataAgeMs: 0 }];
    if (one) await enforcer.enforce(one, findings, stop.signal);
  };
  const done = (async () => {
    while (!stop.signal.aborted) {
      await tick();
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  })();
  return { wanted, stop: async () => (stop.abort(), await done) };
}
