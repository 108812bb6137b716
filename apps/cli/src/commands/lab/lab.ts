import { Fault, isFault, sleep, unavailable } from "@oaas/foundation";
import type { CallOptions, OperationId, Reply, RestClient } from "@oaas/contracts/rest";
import type { RunningStack, StackFault, StackHealth } from "../local-stack/running-stack.ts";
import type { ProcessEnvironment } from "../../process-environment.ts";

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
  step(text: string): void;
  check(check: Check): void;
}

/** A check timed out: the scenario ends and all faults are removed. */
export class CheckFailed extends Error {}

/** Returns undefined when the condition holds, else the observed state. */
export type Condition = () => Promise<string | undefined>;

export interface LabOptions {
  readonly environment: ProcessEnvironment;
  readonly stack: RunningStack;
  readonly client: RestClient;
  readonly report: LabReport;
  /** The cluster to break. */
  readonly target: string;
  readonly otherClusters: readonly string[];
  readonly timeoutMs: number;
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
    this.others = options.otherClusters;
  }

  get allClusters(): readonly string[] {
    return [this.target, ...this.others];
  }

  doing(text: string): void {
    this.#options.report.step(text);
  }

  call<Id extends OperationId>(id: Id, options?: CallOptions): Promise<Reply<Id>> {
    return this.#options.client.call(id, { signal: this.#options.environment.signal, ...options });
  }

  /** The health of the stack, read from the API servers of its clusters. */
  async health(): Promise<StackHealth> {
    const health = await this.#options.stack.health();
    if (health === undefined) throw unavailable("the local stack", "the local stack has stopped");
    return health;
  }

  async injectFault(fault: StackFault): Promise<void> {
    this.#broken.push(fault);
    await this.#options.stack.injectFault(fault);
  }

  async restore(fault: StackFault): Promise<void> {
    await this.#options.stack.restore(fault);
  }

  /** Removes every fault that this scenario injected. */
  async restoreAll(): Promise<void> {
    for (const fault of this.#broken) await this.#options.stack.restore(fault);
  }

  /** A time in milliseconds, to measure durations. */
  now(): number {
    return this.#options.environment.clock.monotonic();
  }

  pause(ms: number): Promise<void> {
    return sleep(this.#options.environment.timers, ms, this.#options.environment.signal);
  }

  /** Polls until the condition holds; throws CheckFailed on timeout. */
  async waitUntil(what: string, condition: Condition, patienceMs = this.#options.timeoutMs): Promise<void> {
    const { clock } = this.#options.environment;
    const startedAt = clock.monotonic();
    for (;;) {
      const reason = await condition().catch((thrown: unknown) => Fault.from(thrown).message);
      const ms = Math.round(clock.monotonic() - startedAt);
      if (reason === undefined) return this.#options.report.check({ what, ok: true, ms, found: "" });
      if (ms > patienceMs) {
        this.#options.report.check({ what, ok: false, ms, found: reason });
        throw new CheckFailed(what);
      }
      await this.pause(POLL_MS);
    }
  }
}

/** Turns a not-found fault into undefined. */
export async function undefinedIfNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  return call.catch((thrown: unknown) => {
    if (isFault(thrown, "not-found")) return undefined;
    throw thrown;
  });
}

/** Injects a fault, runs the checks, and removes it. */
export async function withFault(lab: Lab, fault: StackFault, check: () => Promise<void>): Promise<void> {
  const where = fault.cluster === undefined ? "" : ` in ${fault.cluster}`;
  lab.doing(`inject fault ${fault.fault}${where}`);
  await lab.injectFault(fault);
  await check();
  lab.doing("remove the fault");
  await lab.restore(fault);
}
