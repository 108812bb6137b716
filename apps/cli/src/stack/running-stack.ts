import { Fault, failedPrecondition, startDeadline, unavailable } from "@oaas/foundation";
import { readRecord, STATE_FILE, type StackRecord } from "@oaas/stack-folder";
import type { World } from "../world.ts";

/** What the stack says of itself. */
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
  readonly classes: readonly { readonly name: string; readonly phase: string; readonly message?: string }[];
}

/** Something that can be broken on purpose. */
export interface StackFault {
  readonly fault: "cluster-down" | "crm-killed" | "partition" | "node-lost" | "pm-killed";
  readonly cluster?: string;
}

const ANSWER_MS = 10_000;
/** A cluster that is brought back starts anew. */
const ACT_MS = 60_000;

/** The data folder of this call: the flag, the variable, the usual one. */
export function dataDirOf(flags: { readonly data?: string }, { env }: Pick<World, "env">): string {
  return flags.data ?? (env["OAAS_STACK_DATA_DIR"] || ".oaas/data");
}

/** The stack that left word in a data folder; it may have ended since. Undefined when none did. */
export async function findStack(world: World, dataDir: string): Promise<RunningStack | undefined> {
  const file = `${dataDir}/${STATE_FILE}`;
  const text = await world.files.read(file);
  if (text === undefined) return undefined;
  const record = readRecord(text);
  if (record === undefined) throw failedPrecondition(file, `${file} is not what a local stack writes; remove it`);
  return new RunningStack(world, record);
}

/** A stack in another process, by the page it serves. */
export class RunningStack {
  readonly record: StackRecord;
  readonly #world: World;

  constructor(world: World, record: StackRecord) {
    this.#world = world;
    this.record = record;
  }

  /** How it is; undefined when it does not answer, or another one does at its address. */
  async health(): Promise<StackHealth | undefined> {
    const answer = await this.#ask("GET", "/health", ANSWER_MS).catch(() => undefined);
    if (answer === undefined) return undefined;
    const health = JSON.parse(answer.text) as StackHealth;
    return health.process.pid === this.record.pid ? health : undefined;
  }

  /** Begins its orderly stop. */
  async stop(): Promise<void> {
    await this.#act("/control/stop");
  }

  async break(fault: StackFault): Promise<void> {
    await this.#act("/control/break", fault);
  }

  /** Mends one thing, or everything. */
  async mend(fault?: StackFault): Promise<void> {
    await this.#act("/control/mend", fault);
  }

  async #act(path: string, body?: StackFault): Promise<void> {
    const { status, text } = await this.#ask("POST", path, ACT_MS, body);
    if (status < 300) return;
    const { faultFromAnswer } = await import("@oaas/contracts/rest");
    throw faultFromAnswer({ status, body: text, nowMs: this.#world.clock.now() });
  }

  async #ask(
    method: string,
    path: string,
    withinMs: number,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const { fetch } = this.#world;
    using deadline = startDeadline(this.#world, withinMs);
    try {
      const answer = await fetch(this.record.pageUrl + path, {
        method,
        headers: { authorization: `Bearer ${this.record.secret}` },
        signal: deadline.signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, text: await answer.text() };
    } catch (thrown) {
      const cause = Fault.from(thrown);
      throw unavailable("the local stack", `the local stack did not answer at ${this.record.pageUrl}`, { cause });
    }
  }
}
