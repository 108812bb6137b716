import { randomInt, type Random } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";
import { defaultKnativeSettings, KnativeAutoscaler, type KnativeAutoscalerSettings } from "../knative-autoscaler.ts";

/** One step of a case, in the form that `packages/real-components/components/kpa/scale` reads. */
type KnativeStep =
  /** The concurrency of each second from a time on. */
  | { readonly op: "record"; readonly atMs: number; readonly values: readonly number[] }
  | { readonly op: "scale"; readonly atMs: number; readonly ready: number };

export interface KnativeCase {
  readonly name: string;
  readonly settings: KnativeAutoscalerSettings;
  readonly readyAtStart: number;
  readonly steps: readonly KnativeStep[];
}

/** What the Go program prints at a step `scale`. */
interface KnativeResult {
  readonly valid: boolean;
  readonly desired: number;
  readonly excessBurstCapacity: number;
  readonly stable: number;
  readonly panic: number;
}

export interface RecordedKnativeCase extends KnativeCase {
  readonly decisions: readonly KnativeResult[];
}

/** The decisions of our autoscaler. */
export function replayKnative({ settings, readyAtStart, steps }: KnativeCase): KnativeResult[] {
  const autoscaler = new KnativeAutoscaler(settings, { nowMs: 0, ready: readyAtStart });
  const results: KnativeResult[] = [];
  for (const step of steps) {
    if (step.op === "record") {
      for (const [index, value] of step.values.entries()) autoscaler.record(step.atMs + index * 1000, value);
      continue;
    }
    const decision = autoscaler.decide(step.atMs, step.ready);
    const { stable, panic } = autoscaler.observed(step.atMs);
    const { desired = 0, excessBurstCapacity = 0 } = decision ?? {};
    // JSON has no negative zero.
    results.push({ valid: decision !== undefined, desired, excessBurstCapacity, stable: stable + 0, panic: panic + 0 });
  }
  return results;
}

/** Decisions every two seconds on random load, with gaps in the metrics; pods follow the decisions with a delay. */
export function randomKnativeCase(seed: number, ticks: number): KnativeCase {
  const random = seededRandom(seed);
  const settings = randomSettings(random);
  const readyAtStart = random.next() < 0.3 ? randomInt(random, 8) : randomInt(random, 2);
  const steps: KnativeStep[] = [];
  const pending: number[] = [];
  let ready = readyAtStart;
  let load = settings.targetValue * random.next() * 4;
  for (let tick = 1; tick <= ticks; tick++) {
    const atMs = tick * 2000;
    load = nextLoad(random, load, settings.targetValue);
    if (random.next() > 0.05) {
      const values = [0, 0].map(() => Math.round(load * (0.7 + 0.6 * random.next()) * 1000) / 1000);
      steps.push({ op: "record", atMs: atMs - 2000, values });
    } else if (random.next() < 0.2) {
      // A pause longer than the panic window, or than the stable one.
      steps.push({ op: "scale", atMs: atMs + (random.next() < 0.5 ? 8000 : 90_000), ready });
      tick += 50;
      continue;
    }
    steps.push({ op: "scale", atMs, ready });
    pending.push(Math.min(Math.ceil(load / settings.targetValue), 5000));
    if (pending.length > 3) ready = pending.shift() ?? ready;
  }
  return { name: `random ${seed}`, settings, readyAtStart, steps };
}

function nextLoad(random: Random, load: number, target: number): number {
  const event = random.next();
  if (event < 0.04) return 0;
  if (event < 0.08) return target * random.next() * 50;
  return Math.max(0, load * (0.8 + 0.45 * random.next())) + (event > 0.9 ? target : 0);
}

function randomSettings(random: Random): KnativeAutoscalerSettings {
  const defaults = defaultKnativeSettings([1, 10, 100][randomInt(random, 3)] ?? 1);
  if (random.next() < 0.4) return defaults;
  // Even seconds, because the Go program learns the time of its first panic from the clock.
  const stableWindowMs = (3 + randomInt(random, 30)) * 2000;
  return {
    ...defaults,
    maxScaleUpRate: 1.1 + random.next() * 10,
    maxScaleDownRate: 1.1 + random.next() * 4,
    panicThreshold: 1.1 + random.next() * 3,
    stableWindowMs,
    panicWindowMs: Math.max(1000, Math.floor(stableWindowMs / 10_000) * 1000),
    scaleDownDelayMs: random.next() < 0.5 ? 0 : randomInt(random, 30) * 1000,
    targetBurstCapacity: [-1, 0, 20, 211][randomInt(random, 4)] ?? 0,
    activationScale: random.next() < 0.3 ? randomInt(random, 6) : 0,
  };
}
