import { fork, type ChildProcess } from "node:child_process";
import { rm } from "node:fs/promises";
import { internal } from "@oaas/foundation";
import { baseEnvironment } from "../base-environment.ts";
import { killGroup } from "./register.ts";
import type { Exit, StartRequest, WardenReply, WardenRequest } from "./warden-protocol.ts";

type Question = WardenRequest extends infer R ? (R extends WardenRequest ? Omit<R, "id"> : never) : never;

type Done = Extract<WardenReply, { type: "done" }>;

interface Waiting {
  resolve(done: Done): void;
  reject(error: Error): void;
}

/**
 * The owner's side of the warden. One per process, started on first use.
 *
 * Guarantees: all started processes are killed and all created folders are removed when this process ends, also by SIGKILL.
 * Caveat: it does not keep this process alive.
 */
class Warden {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exits = new Map<number, (exit: Exit) => void>();
  /** Exits reported before the reply to their start: a process may end at once. */
  readonly #early = new Map<number, Exit>();
  #lastId = 0;
  #holds = 0;

  constructor() {
    const tmp = process.env["TMPDIR"];
    const inRunner = process.env["VITEST_POOL_ID"] !== undefined || process.env["VITEST"] !== undefined;
    this.#child = fork(new URL("./warden-main.ts", import.meta.url), inRunner ? [String(process.ppid)] : [], {
      detached: true,
      execArgv: [],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      env: { ...baseEnvironment(), ...(tmp === undefined ? {} : { TMPDIR: tmp }) },
    });
    this.#child.on("message", (reply: WardenReply) => this.#hear(reply));
    this.#child.on("exit", () => this.#lost());
    this.#child.unref();
    this.#child.channel?.unref();
  }

  async start(request: StartRequest): Promise<{ pid: number; exited: Promise<Exit> }> {
    const { pid } = await this.#ask({ type: "start", start: request });
    if (pid === undefined) throw internal("the warden returned no pid");
    const early = this.#early.get(pid);
    this.#early.delete(pid);
    const exited = early ? Promise.resolve(early) : new Promise<Exit>((resolve) => this.#exits.set(pid, resolve));
    return { pid, exited };
  }

  async makeFolder(prefix: string): Promise<string> {
    const { folder } = await this.#ask({ type: "make-folder", prefix });
    if (folder === undefined) throw internal("the warden returned no folder");
    return folder;
  }

  async removeFolder(folder: string): Promise<void> {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    await this.releaseFolder(folder);
  }

  async releaseFolder(folder: string): Promise<void> {
    await this.#ask({ type: "forget", folder });
  }

  /** Keeps this process alive until `work` is settled by a message of the warden. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.#holds += 1;
    this.#child.channel?.ref();
    try {
      return await work;
    } finally {
      this.#holds -= 1;
      if (this.#holds === 0) this.#child.channel?.unref();
    }
  }

  #ask(question: Question): Promise<Done> {
    this.#lastId += 1;
    const request = { id: this.#lastId, ...question } as WardenRequest;
    return this.hold(
      new Promise<Done>((resolve, reject) => {
        this.#waiting.set(request.id, { resolve, reject });
        if (!this.#child.connected) return this.#lost();
        this.#child.send(request);
      }),
    );
  }

  #hear(reply: WardenReply): void {
    if (reply.type === "exited") {
      const resolve = this.#exits.get(reply.pid);
      this.#exits.delete(reply.pid);
      if (resolve) resolve(reply.exit);
      else this.#early.set(reply.pid, reply.exit);
      return;
    }
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (reply.type === "done") waiting?.resolve(reply);
    else waiting?.reject(new Error(reply.reason));
  }

  #lost(): void {
    for (const waiting of this.#waiting.values()) waiting.reject(new Error("the warden process has ended"));
    this.#waiting.clear();
    // No other process would stop them now.
    for (const [pid, resolve] of this.#exits) {
      killGroup(pid);
      resolve({ code: null, signal: "SIGKILL" });
    }
    this.#exits.clear();
  }
}

let theWarden: Warden | undefined;

/** The warden of this process. */
export function warden(): Warden {
  theWarden ??= new Warden();
  return theWarden;
}
