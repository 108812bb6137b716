/** The settings of Knative for the last pod of a revision. */
export interface ScaleToZeroSettings {
  /** A revision stays active for at least this long. */
  readonly stableWindowMs: number;
  /** Requests go through the activator for this long before the last pod is removed. */
  readonly gracePeriodMs: number;
  /** The last pod stays for this long without requests. */
  readonly podRetentionMs: number;
}

export const DEFAULT_SCALE_TO_ZERO: ScaleToZeroSettings = {
  stableWindowMs: 60_000,
  gracePeriodMs: 30_000,
  podRetentionMs: 0,
};

/** Delays the removal of the last pod, as Knative's reconciler of pod autoscalers does. */
export class ScaleToZero {
  readonly #settings: ScaleToZeroSettings;
  #activeMs: number | undefined;
  #inactiveMs: number | undefined;
  #proxiedMs: number | undefined;

  constructor(settings: ScaleToZeroSettings = DEFAULT_SCALE_TO_ZERO) {
    this.#settings = settings;
  }

  /** The number of pods to apply; `current` when nothing changes yet. */
  apply(
    nowMs: number,
    state: {
      readonly desired: number;
      readonly current: number;
      readonly ready: number;
      /** Below 0 the activator is in the path of requests. */
      readonly excessBurstCapacity: number;
    },
  ): number {
    const isProxied = state.desired === 0 || state.excessBurstCapacity < 0;
    this.#proxiedMs = isProxied ? (this.#proxiedMs ?? nowMs) : undefined;
    if (state.desired > 0) {
      this.#activeMs = state.ready > 0 ? (this.#activeMs ?? nowMs) : undefined;
      this.#inactiveMs = undefined;
      return state.desired;
    }
    if (this.#inactiveMs !== undefined) return this.#canRemoveLastPod(nowMs, this.#inactiveMs) ? 0 : state.current;
    if (this.#activeMs === undefined) {
      // Pods that are starting are not removed.
      if (state.ready > 0) this.#activeMs = nowMs;
      return state.current;
    }
    if (nowMs - this.#activeMs < this.#settings.stableWindowMs) return Math.min(state.current, 1);
    this.#activeMs = undefined;
    this.#inactiveMs = nowMs;
    return state.current;
  }

  #canRemoveLastPod(nowMs: number, inactiveMs: number): boolean {
    const { gracePeriodMs, podRetentionMs } = this.#settings;
    const inactiveFor = nowMs - inactiveMs;
    if (inactiveFor < podRetentionMs) return false;
    return inactiveFor >= gracePeriodMs || nowMs - (this.#proxiedMs ?? nowMs) >= gracePeriodMs;
  }
}
