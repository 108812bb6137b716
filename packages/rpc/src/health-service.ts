import { grpcHealth, HealthService, type HealthCheckResponse_ServingStatus } from "@oaas/contracts/grpc";
import { Notifier, notFound } from "@oaas/foundation";
import type { Call } from "./call.ts";
import { bindService, type BoundService } from "./handlers.ts";

/** Serving states. Both health services use the same numbers. */
const STATUS = { serving: 1, "not-serving": 2, "service-unknown": 3 } as const;

type Status = (typeof STATUS)[keyof typeof STATUS] & HealthCheckResponse_ServingStatus;

export type ServingState = "serving" | "not-serving";

/**
 * Serving states for both health services: grpc.health.v1 and the platform's own.
 *
 * Guarantees: `Watch` sends the current state immediately and then every change, and stays open. A slow watcher gets
 * the latest state and may miss intermediate ones. The empty name is the whole server.
 */
export class HealthRegistry {
  readonly #states = new Map<string, ServingState>([["", "not-serving"]]);
  readonly #notifier = new Notifier();

  set(service: string, state: ServingState): void {
    if (this.#states.get(service) === state) return;
    this.#states.set(service, state);
    this.#notifier.notify();
  }

  /** Returns both services with their handlers. */
  services(): BoundService[] {
    const check = (service: string): Status => {
      const state = this.#states.get(service);
      if (state === undefined) throw notFound("service", service);
      return STATUS[state];
    };
    return [
      bindService(grpcHealth.Health, {
        check: async ({ service }) => ({ status: check(service) }),
        watch: ({ service }, call) => this.#watch(service, call),
      }),
      bindService(HealthService, {
        check: async ({ service }) => ({ status: check(service) }),
        watch: ({ service }, call) => this.#watch(service, call),
      }),
    ];
  }

  async *#watch(service: string, call: Call): AsyncGenerator<{ status: Status }> {
    let sent: Status | undefined;
    while (!call.signal.aborted) {
      const state = this.#states.get(service);
      const status: Status = state === undefined ? STATUS["service-unknown"] : STATUS[state];
      if (status !== sent) {
        sent = status;
        yield { status };
        continue;
      }
      await this.#notifier.wait(call.signal);
    }
  }
}
