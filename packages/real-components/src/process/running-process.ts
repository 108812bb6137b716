import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { unavailable } from "@oaas/foundation";
import { baseEnvironment } from "./base-environment.ts";
import type { Exit } from "./warden/warden-protocol.ts";
import { warden } from "./warden/warden.ts";

/** A process to start. Output goes to `logFile`; without `env` it gets only `baseEnvironment` and HOME. */
export interface ProcessOptions {
  readonly name?: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly logFile: string;
  /** The process register, for `endRegistered` of a later start. */
  readonly register?: string;
}

/** A real process, owned by the warden of this process. */
export interface RunningProcess {
  readonly name: string;
  readonly pid: number;
  readonly logFile: string;
  readonly exited: Promise<Exit>;
  /** The exit, once it has ended. */
  readonly exit: Exit | undefined;
  /** Sends a signal to its process group; no-op if it has ended. */
  signal(signal: NodeJS.Signals): void;
  /** Pauses it until SIGCONT; when this returns, all its threads are stopped. */
  freeze(): void;
  /**
   * Stops it with SIGTERM, or with `ask` if given, then with SIGKILL after `graceMs`; 0 kills at once. Resolves when it
   * has ended.
   */
  stop(graceMs?: number, ask?: () => void | Promise<void>): Promise<Exit>;
  /** The last lines of its output. */
  logTail(lines?: number): Promise<string>;
}

const DEFAULT_GRACE_MS = 5_000;

/** Starts a process through the warden. It ends with this process, even after SIGKILL. */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const name = options.name ?? basename(options.command);
  const started = await warden()
    .start({
      command: options.command,
      args: options.args,
      env: { ...baseEnvironment(), HOME: options.cwd, ...options.env },
      cwd: options.cwd,
      logFile: options.logFile,
      ...(options.register === undefined ? {} : { register: options.register }),
    })
    .catch((error: unknown) => {
      throw unavailable(name, `${name} could not be started: ${(error as Error).message}`, { cause: error });
    });
  return track(name, options.logFile, started);
}

function track(name: string, logFile: string, started: { pid: number; exited: Promise<Exit> }): RunningProcess {
  let exit: Exit | undefined;
  const exited = started.exited.then((how) => (exit = how));
  const signal = (which: NodeJS.Signals): void => {
    if (exit) return;
    try {
      process.kill(-started.pid, which);
    } catch {
      // It has just ended and the exit message of the warden has not arrived yet.
    }
  };
  return {
    name,
    pid: started.pid,
    logFile,
    exited,
    get exit() {
      return exit;
    },
    signal,
    freeze: () => {
      signal("SIGSTOP");
      waitUntilStopped(started.pid);
    },
    stop: async (graceMs = DEFAULT_GRACE_MS, ask = () => signal("SIGTERM")) => {
      if (graceMs === 0) signal("SIGKILL");
      const timer = setTimeout(() => signal("SIGKILL"), graceMs);
      try {
        if (graceMs > 0 && !exit) await ask();
        return await warden().hold(exited);
      } finally {
        clearTimeout(timer);
      }
    },
    logTail: (lines) => logTail(logFile, lines),
  };
}

const FREEZE_MS = 5_000;

/** Waits for the signal: a thread on another core may keep running for a while after `kill` returns. */
function waitUntilStopped(pid: number): void {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const end = performance.now() + FREEZE_MS;
  while (threadStates(pid).some((state) => state !== "T") && performance.now() < end) Atomics.wait(pause, 0, 0, 1);
}

/** The state of each thread; empty if unknown or ended. */
function threadStates(pid: number): readonly string[] {
  try {
    const folder = `/proc/${pid}/task`;
    return readdirSync(folder).map((thread) => {
      const stat = readFileSync(`${folder}/${thread}/stat`, "utf8");
      // The thread name before it is in parentheses and may contain any character.
      return stat.charAt(stat.lastIndexOf(")") + 2);
    });
  } catch {
    return [];
  }
}

/** Empty when there is no log yet. */
async function logTail(file: string, lines = 25): Promise<string> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.trimEnd().split("\n").slice(-lines).join("\n");
}

/** "exit code 1" or "SIGKILL". */
export function exitText(exit: Exit): string {
  return exit.signal ?? `exit code ${exit.code}`;
}
