import { Fault, failedPrecondition, startDeadline, unavailable } from "@oaas/foundation";
import { readRecord, STATE_FILE, type StackRecord } from "@oaas/stack-folder";
import type { ProcessEnvironment } from "../../process-environment.ts";

/** The health document of a local stack. */
export interface StackHealth {
  readonly status: "healthy" | "starting" | "unhealthy";
  readonly version: string;
  readonly process: {
    readonly pid: number;
    readonly rss_bytes: number;
    readonly cpu_ms: number;
    readonly up_ms: number;
  };
  readonly storage: { readonly status: string; readonly revision?: number; readonly message?: string };
  readonly broken: readonly StackFault[];
  readonly package_manager: StackPart & {
    readonly deployments: readonly {
      readonly key: string;
      readonly condition: string;
      readonly clusters: readonly { readonly name: string; readonly condition: string }[];
    }[];
  };
  readonly clusters: readonly StackCluster[];
}

interface StackPart {
  readonly state: "starting" | "running" | "failed";
  readonly detail?: string;
  readonly url?: string;
  readonly broken?: string;
}

export interface StackCluster extends StackPart {
  readonly name: string;
  readonly nodes: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly availability?: number;
  readonly apiUrl?: string;
  readonly managerUrl?: string;
  readonly kubeconfig?: string;
  readonly classes: readonly {
    readonly name: string;
    readonly phase: string;
    readonly condition?: string;
    readonly message?: string;
    /** The newest change by enforcement. */
    readonly lastChange?: string;
  }[];
  /** The HTTP API of Prometheus with simulated metrics. */
  readonly metricsUrl?: string;
  /** Simulated requests to functions. */
  readonly loads: readonly {
    readonly owner: string;
    readonly requests_per_second: number;
    readonly failed_per_second: number;
    readonly ready_replicas: number;
    readonly mean_latency_ms: number;
    /** What its autoscaler sees and wants. */
    readonly autoscaler?: string;
  }[];
}

/** A fault that the stack can inject. */
export interface StackFault {
  readonly fault: "cluster-down" | "crm-killed" | "partition" | "node-lost" | "load-spike" | "pm-killed";
  readonly cluster?: string;
}

const READ_TIMEOUT_MS = 10_000;
/** Restoring a cluster restarts it. */
const WRITE_TIMEOUT_MS = 60_000;

/** The data folder: the flag, else the environment variable, else the default. */
export function dataFolder(flags: { readonly data?: string }, { env }: Pick<ProcessEnvironment, "env">): string {
  return flags.data ?? (env["OAAS_STACK_DATA_DIR"] || ".oaas/data");
}

/** The stack recorded in a data folder, which may have ended since; undefined without a record. */
export async function findStack(environment: ProcessEnvironment, dataDir: string): Promise<RunningStack | undefined> {
  const file = `${dataDir}/${STATE_FILE}`;
  const text = await environment.files.read(file);
  if (text === undefined) return undefined;
  const record = readRecord(text);
  if (record === undefined) throw failedPrecondition(file, `${file} is not a valid stack record; remove it`);
  return new RunningStack(environment, record);
}

/** Client of a stack in another process. */
export class RunningStack {
  readonly record: StackRecord;
  readonly #environment: ProcessEnvironment;

  constructor(environment: ProcessEnvironment, record: StackRecord) {
    this.#environment = environment;
    this.record = record;
  }

  /** Undefined if the stack does not respond, or if another process responds at its address. */
  async health(): Promise<StackHealth | undefined> {
    const answer = await this.#ask("GET", "/health", READ_TIMEOUT_MS).catch(() => undefined);
    if (answer === undefined) return undefined;
    const health = JSON.parse(answer.text) as StackHealth;
    return health.process.pid === this.record.pid ? health : undefined;
  }

  /** Starts a graceful shutdown. */
  async stop(): Promise<void> {
    await this.#act("/control/stop");
  }

  async injectFault(fault: StackFault): Promise<void> {
    await this.#act("/control/break", fault);
  }

  /** Removes one injected fault, or all of them. */
  async restore(fault?: StackFault): Promise<void> {
    await this.#act("/control/restore", fault);
  }

  async #act(path: string, body?: StackFault): Promise<void> {
    const { status, text } = await this.#ask("POST", path, WRITE_TIMEOUT_MS, body);
    if (status < 300) return;
    const { faultFromResponse } = await import("@oaas/contracts/rest");
    throw faultFromResponse({ status, body: text, nowMs: this.#environment.clock.now() });
  }

  async #ask(
    method: string,
    path: string,
    withinMs: number,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { fetch } = this.#environment;
    using deadline = startDeadline(this.#environment, withinMs);
    try {
      const answer = await fetch(this.record.pageUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${this.record.secret}`,
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        signal: deadline.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, text: await answer.text() };
    } catch (thrown) {
      const cause = Fault.from(thrown);
      throw unavailable("the local stack", `the local stack did not respond at ${this.record.pageUrl}`, { cause });
    }
  }
}
