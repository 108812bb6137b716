import { fork, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { eventually } from "@oaas/testkit";
import { expect } from "vitest";

export interface StoreCall {
  readonly id: number;
  readonly op: "put" | "get" | "count" | "revision" | "close";
  readonly key?: string;
  readonly value?: string;
}

export interface StoreReport {
  readonly id?: number;
  readonly value?: unknown;
  readonly fault?: { readonly kind: string; readonly message: string; readonly outcomeUnknown: boolean };
  readonly incident?: string;
  readonly seen?: number;
  readonly lost?: string;
}

/** A SQLite store in another process. */
export class SqliteProcess implements AsyncDisposable {
  readonly incidents: string[] = [];
  readonly lost: string[] = [];
  /** Events that the watch has delivered. */
  seen = 0;
  readonly #child: ChildProcess;
  readonly #calls = new Map<number, (report: StoreReport) => void>();
  #next = 0;

  static async start(file: string): Promise<SqliteProcess> {
    const child = fork(join(import.meta.dirname, "programs", "sqlite-program.ts"), [file], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const process = new SqliteProcess(child);
    await eventually(() => process.incidents.includes("ready") || child.exitCode !== null, { timeoutMs: 30_000 });
    if (child.exitCode !== null) throw new Error(`the process ended with ${child.exitCode}`);
    return process;
  }

  /** Like `start`, for a file that another process locks from time to time. */
  static async startBetween(file: string): Promise<SqliteProcess> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await SqliteProcess.start(file);
      } catch (thrown) {
        if (attempt === 20) throw thrown;
      }
    }
  }

  private constructor(child: ChildProcess) {
    this.#child = child;
    child.on("message", (report: StoreReport) => {
      if (report.id !== undefined) this.#calls.get(report.id)?.(report);
      if (report.incident !== undefined) this.incidents.push(report.incident);
      if (report.lost !== undefined) this.lost.push(report.lost);
      this.seen += report.seen ?? 0;
    });
  }

  call(op: StoreCall["op"], key?: string, value?: string): Promise<StoreReport> {
    const id = (this.#next += 1);
    return new Promise((resolve) => {
      this.#calls.set(id, resolve);
      this.#child.send({ id, op, ...(key === undefined ? {} : { key }), ...(value === undefined ? {} : { value }) });
    });
  }

  /** Limits the size of the files that the process can write; a longer file fails with EFBIG, an I/O error of SQLite. */
  limitFiles(bytes: number | "unlimited"): void {
    limitFiles(this.#child.pid as number, bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const exited = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await exited;
  }
}

/** Changes the soft limit of a running process. */
export function limitFiles(pid: number, bytes: number | "unlimited"): void {
  const { status, stderr } = spawnSync("prlimit", [`--pid=${pid}`, `--fsize=${bytes}:`], { encoding: "utf8" });
  expect(status, stderr).toBe(0);
}
