import { WindowAverage } from "./window-average.ts";

/** The settings of Knative's autoscaler for one revision. Values are of the scaling metric, such as concurrency. */
export interface KnativeAutoscalerSettings {
  /** What a pod should have; the target utilisation of `totalValue`. */
  readonly targetValue: number;
  /** What a pod can have. */
  readonly totalValue: number;
  readonly maxScaleUpRate: number;
  readonly maxScaleDownRate: number;
  /** Panic begins when the load is so many times what the ready pods should have. */
  readonly panicThreshold: number;
  readonly stableWindowMs: number;
  readonly panicWindowMs: number;
  /** A decrease waits for the largest decision of this time. */
  readonly scaleDownDelayMs: number;
  /** -1 is unlimited. */
  readonly targetBurstCapacity: number;
  /** The smallest number of pods other than 0; 0 or 1 is off. */
  readonly activationScale: number;
}

/** The defaults of `config-autoscaler` for a container with this concurrency. */
export function defaultKnativeSettings(containerConcurrency: number): KnativeAutoscalerSettings {
  return {
    targetValue: containerConcurrency * 0.7,
    totalValue: containerConcurrency,
    maxScaleUpRate: 1000,
    maxScaleDownRate: 2,
    panicThreshold: 2,
    stableWindowMs: 60_000,
    panicWindowMs: 6000,
    scaleDownDelayMs: 0,
    targetBurstCapacity: 211,
    activationScale: 0,
  };
}

export interface KnativeDecision {
  readonly desired: number;
  readonly isPanicking: boolean;
  /** Negative: the activator stays in the path of requests. */
  readonly excessBurstCapacity: number;
}

/** The interval of decisions. */
const TICK_MS = 2000;

/** Knative's pod autoscaler for one revision, with the decisions of `knative.dev/serving` 0.50 on the same metrics. */
export class KnativeAutoscaler {
  readonly #settings: KnativeAutoscalerSettings;
  readonly #stable: WindowAverage;
  readonly #panic: WindowAverage;
  #panicMs: number | undefined;
  #maxPanicPods: number;
  /** The largest decision of each tick within the delay of decreases. */
  #recent: { readonly tick: number; readonly desired: number }[] = [];

  /** With more than one ready pod it starts in panic mode, since it has no metrics to decrease on. */
  constructor(settings: KnativeAutoscalerSettings, start: { readonly nowMs: number; readonly ready: number }) {
    this.#settings = settings;
    this.#stable = new WindowAverage(settings.stableWindowMs);
    this.#panic = new WindowAverage(settings.panicWindowMs);
    this.#maxPanicPods = start.ready;
    if (start.ready > 1) this.#panicMs = start.nowMs;
  }

  /** Adds the value of the metric over all pods; values within one second add up. */
  record(atMs: number, value: number): void {
    this.#stable.record(atMs, value);
    this.#panic.record(atMs, value);
  }

  /** The averages that decisions use. */
  observed(nowMs: number): { readonly stable: number; readonly panic: number } {
    return { stable: this.#stable.average(nowMs), panic: this.#panic.average(nowMs) };
  }

  /** Undefined without metrics: then nothing changes. */
  decide(nowMs: number, ready: number): KnativeDecision | undefined {
    if (this.#stable.isEmpty(nowMs)) return undefined;
    const { targetValue, panicThreshold } = this.#settings;
    const { stable, panic } = this.observed(nowMs);
    const pods = Math.max(1, ready);
    const stablePods = Math.ceil(stable / targetValue);
    const panicPods = Math.ceil(panic / targetValue);
    this.#updatePanic(nowMs, panicPods / pods >= panicThreshold);
    const desired = this.#holdInPanic(this.#limit(stablePods, pods), this.#limit(panicPods, pods));
    return {
      desired: this.#delayDecrease(nowMs, desired),
      isPanicking: this.#panicMs !== undefined,
      excessBurstCapacity: this.#excessBurstCapacity(ready, panic),
    };
  }

  #limit(wanted: number, pods: number): number {
    const { maxScaleUpRate, maxScaleDownRate, activationScale } = this.#settings;
    const most = Math.ceil(maxScaleUpRate * pods);
    const least = Math.floor(pods / maxScaleDownRate);
    const limited = Math.min(Math.max(wanted, least), most);
    return wanted > 0 && activationScale > 1 ? Math.max(limited, activationScale) : limited;
  }

  #updatePanic(nowMs: number, isOverThreshold: boolean): void {
    if (isOverThreshold) this.#panicMs = nowMs;
    else if (this.#panicMs !== undefined && this.#panicMs + this.#settings.stableWindowMs < nowMs) {
      this.#panicMs = undefined;
      this.#maxPanicPods = 0;
    }
  }

  /** In panic mode pods are only added. */
  #holdInPanic(stablePods: number, panicPods: number): number {
    if (this.#panicMs === undefined) return stablePods;
    this.#maxPanicPods = Math.max(this.#maxPanicPods, stablePods, panicPods);
    return this.#maxPanicPods;
  }

  #delayDecrease(nowMs: number, desired: number): number {
    const { scaleDownDelayMs } = this.#settings;
    if (scaleDownDelayMs === 0) return desired;
    const tick = Math.floor(nowMs / TICK_MS);
    const ticks = Math.ceil(scaleDownDelayMs / TICK_MS);
    this.#recent = [...this.#recent.filter((past) => tick - past.tick < ticks), { tick, desired }];
    return Math.max(...this.#recent.map((past) => past.desired));
  }

  #excessBurstCapacity(ready: number, panic: number): number {
    const { targetBurstCapacity, totalValue } = this.#settings;
    if (targetBurstCapacity < 0) return -1;
    return targetBurstCapacity === 0 ? 0 : Math.floor(ready * totalValue - targetBurstCapacity - panic);
  }
}
