import { grpcHealth, HealthService, type HealthCheckResponse_ServingStatus } from "@oaas/contracts/grpc";
import { Notifier, notFound } from "@oaas/foundation";
import type { Call } from "./call.ts";
import { bindService, type BoundService } from "./handlers.ts";

/** Whether a service serves. The numbers of both health contracts are the same. */
const STATUS = { serving: 1, "not-serving": 2, "service-unknown": 3 } as const;

type Status = (typeof STATUS)[keyof typeof STATUS] & HealthCheckResponse_ServingStatus;

export type ServingState = "serving" | "not-serving";

/**
 * Who serves, for both health services: grpc.health.v1 and the platform's own.
 *
 * Guarantees: `Watch` tells the present state at once and every change after it, and stays open; a slow watcher sees the latest state, not each
 * one in between. The empty name stands for the whole server.
 */
export class HealthBoard {
  readonly #states = new Map<string, ServingState>([["", "not-serving"]]);
  readonly #notifier = new Notifier();

  set(service: string, state: ServingState): void {
    if (this.#states.get(service) === state) return;
    this.#states.set(service, state);
    this.#notifier.notify();
  }

  /** Both services, ready to be served. */
  services(): BoundService[] {
    const check = (service: string): Status => {
      const state = this.#states.get(service);
      if (state === undefined) throw notFound("service", service);
      return STATUS[state];
    };
    return [
      bindService(grpcHealth.Health, {
        check: async ({ service }) => ({ status: check(service) }),
        watch: ({ service }, call) => this.#follow(service, call),
      }),
      bindService(HealthService, {
        check: async ({ service }) => ({ status: check(service) }),
        watch: ({ service }, call) => this.#follow(service, call),
      }),
    ];
  }

  async *#follow(service: string, call: Call): AsyncGenerator<{ status: Status }> {
    let told: Status | undefined;
    while (!call.signal.aborted) {
      const state = this.#states.get(service);
      const status: Status = state === undefined ? STATUS["service-unknown"] : STATUS[state];
      if (status !== told) {
        told = status;
        yield { status };
        continue;
      }
      await this.#notifier.wait(call.signal);
    }
  }
}
