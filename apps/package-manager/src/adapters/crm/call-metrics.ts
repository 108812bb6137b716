import { Fault, type BreakerState, type Clock } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { Counter, Gauge, Histogram, Meter } from "@oaas/observability";

const BREAKER_VALUE = { closed: 0, "half-open": 1, open: 2 } as const satisfies Record<BreakerState, number>;

/** Metrics of the calls to clusters. */
export class CrmCallMetrics {
  readonly #clock: Clock;
  readonly #calls: Counter<"cluster" | "method" | "outcome">;
  readonly #duration: Histogram<"cluster" | "method">;
  readonly #breaker: Gauge<"cluster">;

  constructor(meter: Meter, clock: Clock) {
    this.#clock = clock;
    this.#calls = meter.counter({
      name: "pm_crm_calls_total",
      help: "Calls to class runtime managers, including retries, by outcome: ok or the kind of the fault.",
      labels: ["cluster", "method", "outcome"],
    });
    this.#duration = meter.histogram({
      name: "pm_crm_call_seconds",
      help: "Duration of a call to a class runtime manager, including waiting and retries.",
      labels: ["cluster", "method"],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 30],
    });
    this.#breaker = meter.gauge({
      name: "pm_crm_breaker_state",
      help: "Circuit breaker of a cluster: 0 closed, 1 half open, 2 open.",
      labels: ["cluster"],
    });
  }

  /** Runs a call and records its outcome and duration. */
  async measure<T>(cluster: ClusterName, method: string, call: () => Promise<T>): Promise<T> {
    const startedAtMs = this.#clock.monotonic();
    let outcome = "ok";
    try {
      return await call();
    } catch (thrown) {
      outcome = Fault.from(thrown).kind;
      throw thrown;
    } finally {
      this.#calls.add(1, { cluster, method, outcome });
      this.#duration.observe((this.#clock.monotonic() - startedAtMs) / 1000, { cluster, method });
    }
  }

  setBreaker(cluster: ClusterName, state: BreakerState): void {
    this.#breaker.set(BREAKER_VALUE[state], { cluster });
  }

  removeCluster(cluster: ClusterName): void {
    this.#breaker.remove({ cluster });
  }
}
