import { SKIP_REASONS, type PolicyState, type SkipReason } from "@oaas/nfr";
import type { Gauge, Meter } from "@oaas/observability";

/** Shows how many values enforcement keeps as they are, and why. */
export class HeldValues {
  readonly #held: Gauge<"reason">;

  constructor(meter: Meter) {
    this.#held = meter.gauge({
      name: "crm_enforcement_held_values",
      help: "Values of classes that enforcement keeps as they are, by reason.",
      labels: ["reason"],
      startAtZero: SKIP_REASONS.map((reason) => ({ reason })),
    });
  }

  /** Counts the reasons of the last decisions. */
  count(states: Iterable<PolicyState>): void {
    const counts = new Map<SkipReason, number>();
    for (const { lastSkip } of states)
      if (lastSkip !== undefined) counts.set(lastSkip, (counts.get(lastSkip) ?? 0) + 1);
    for (const reason of SKIP_REASONS) this.#held.set(counts.get(reason) ?? 0, { reason });
  }
}
