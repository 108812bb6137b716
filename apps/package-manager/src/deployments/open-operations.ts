import type { Gauge, Meter } from "@oaas/observability";
import { isOpen, type SagaRecord } from "../saga-engine/saga.ts";

/** Shows how many operations are open in any process, and since when the oldest one is. */
export class OpenOperations {
  readonly #open: Gauge;
  readonly #oldest: Gauge;
  /** Start times in seconds, by subject. */
  readonly #startedAt = new Map<string, number>();
  /** 0 without operations. */
  #oldestAt = 0;

  constructor(meter: Meter) {
    this.#open = meter.gauge({
      name: "pm_operations_open",
      help: "Operations on deployments that have not ended.",
      startAtZero: [{}],
    });
    this.#oldest = meter.gauge({
      name: "pm_operations_oldest_start_seconds",
      help: "Unix time at which the oldest open operation started; 0 without one.",
      startAtZero: [{}],
    });
  }

  /** Records a change of the operation of a subject; undefined when it is gone. */
  update(subject: string, saga: SagaRecord | undefined): void {
    const before = this.#startedAt.get(subject);
    const after = saga !== undefined && isOpen(saga) ? Date.parse(saga.startedAt) / 1000 : undefined;
    if (before === after) return;
    if (after === undefined) this.#startedAt.delete(subject);
    else this.#startedAt.set(subject, after);
    this.#open.set(this.#startedAt.size);
    this.#oldestAt = this.#nextOldest(before, after);
    this.#oldest.set(this.#oldestAt);
  }

  /** Looks at all operations only when the oldest one ended. */
  #nextOldest(before: number | undefined, after: number | undefined): number {
    if (before !== this.#oldestAt && after !== undefined) {
      return this.#oldestAt === 0 ? after : Math.min(this.#oldestAt, after);
    }
    if (before !== this.#oldestAt) return this.#oldestAt;
    let oldest = Number.POSITIVE_INFINITY;
    for (const startedAt of this.#startedAt.values()) oldest = Math.min(oldest, startedAt);
    return Number.isFinite(oldest) ? oldest : 0;
  }
}
