import { Fault, isFault, sleep, unavailable } from "@oaas/foundation";
import type { CallOptions, OperationId, Reply, RestClient } from "@oaas/contracts/rest";
import type { RunningStack, StackFault, StackHealth } from "../stack/running-stack.ts";
import type { World } from "../world.ts";

/** The result of one check. */
export interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly ms: number;
  /** The observed state if the check failed. */
  readonly found: string;
}

/** Receives the steps and checks of a scenario. */
export interface LabReport {
  doing(text: string): void;
  checked(check: Check): void;
}

/** A check timed out: the scenario ends and all faults are removed. */
export class CheckFailed extends Error {}

/** Returns undefined when the condition holds, else the observed state. */
export type Probe = () => Promise<string | undefined>;

export interface LabOptions {
  readonly world: World;
  readonly stack: RunningStack;
  readonly client: RestClient;
  readonly report: LabReport;
  /** The cluster to break. */
  readonly target: string;
  readonly others: readonly string[];
  readonly patienceMs: number;
}

const POLL_MS = 250;

/** The API of fault injection scenarios: the package manager, fault injection, and checks that wait. */
export class Lab {
  readonly target: string;
  readonly others: readonly string[];
  readonly #options: LabOptions;
  readonly #broken: StackFault[] = [];

  constructor(options: LabOptions) {
    this.#options = options;
    this.target = options.target;
    this.others = options.others;
  }

  get everywhere(): readonly string[] {
    return [this.target, ...this.others];
  }

  doing(text: string): void {
    this.#options.report.doing(text);
  }

  call<Id extends OperationId>(id: Id, options?: CallOptions): Promise<Reply<Id>> {
    return this.#options.client.call(id, { signal: this.#options.world.signal, ...options });
  }

  /** The health of the stack, read from the API servers of its clusters. */
  async health(): Promise<StackHealth> {
    const health = await this.#options.stack.health();
    if (health === undefined) throw unavailable("the local stack", "the local stack has stopped");
    return health;
  }

  async break(fault: StackFault): Promise<void> {
    this.#broken.push(fault);
    await this.#options.stack.break(fault);
  }

  async mend(fault: StackFault): Promise<void> {
    await this.#options.stack.mend(fault);
  }

  /** Removes every fault that this scenario injected. */
  async mendAll(): Promise<void> {
    for (const fault of this.#broken) await this.#options.stack.mend(fault);
  }

  pause(ms: number): Promise<void> {
    return sleep(this.#options.world.timers, ms, this.#options.world.signal);
  }

  /** Polls until the condition holds; throws CheckFailed on timeout. */
  async until(what: string, probe: Probe, patienceMs = this.#options.patienceMs): Promise<void> {
    const { clock } = this.#options.world;
    const begun = clock.monotonic();
    for (;;) {
      const why = await probe().catch((thrown: unknown) => Fault.from(thrown).message);
      const ms = Math.round(clock.monotonic() - begun);
      if (why === undefined) return this.#options.report.checked({ what, ok: true, ms, found: "" });
      if (ms > patienceMs) {
        this.#options.report.checked({ what, ok: false, ms, found: why });
        throw new CheckFailed(what);
      }
      await this.pause(POLL_MS);
    }
  }
}

/** Turns a not-found fault into undefined. */
export async function orNothing<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((thrown: unknown) => {
    if (isFault(thrown, "not-found")) return undefined;
    throw thrown;
  });
}
