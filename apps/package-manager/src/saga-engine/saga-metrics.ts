import type { Counter, Histogram, Meter } from "@oaas/observability";
import type { SagaOutcome, SagaRecord } from "./saga.ts";

const OUTCOMES = ["succeeded", "failed", "undone", "cancelled"] as const satisfies readonly SagaOutcome[];

/** Metrics of the sagas that this process runs. */
export class SagaMetrics {
  readonly #ended: Counter<"kind" | "outcome">;
  readonly #durations: Histogram<"kind">;
  readonly #retries: Counter<"action">;

  constructor(meter: Meter) {
    this.#ended = meter.counter({
      name: "pm_sagas_total",
      help: "Ended sagas by kind and outcome: succeeded, failed, undone or cancelled.",
      labels: ["kind", "outcome"],
    });
    this.#durations = meter.histogram({
      name: "pm_saga_seconds",
      help: "Time from the start of a saga to its end, over restarts, by kind.",
      labels: ["kind"],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 1800],
    });
    this.#retries = meter.counter({
      name: "pm_saga_step_retries_total",
      help: "Repeated attempts of saga steps, by action.",
      labels: ["action"],
    });
  }

  /** Creates the series of a kind of saga. */
  register(kind: string): void {
    for (const outcome of OUTCOMES) this.#ended.add(0, { kind, outcome });
  }

  retried(action: string): void {
    this.#retries.add(1, { action });
  }

  ended({ kind, state, startedAt }: SagaRecord, nowMs: number): void {
    const outcome = OUTCOMES.find((one) => one === state);
    if (outcome === undefined) return;
    this.#ended.add(1, { kind, outcome });
    this.#durations.observe(Math.max(0, nowMs - Date.parse(startedAt)) / 1000, { kind });
  }
}
