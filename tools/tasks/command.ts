import { spawn } from "node:child_process";
import { ROOT } from "./root.ts";

export interface CommandResult {
  readonly exitCode: number;
  readonly output: string;
}

interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Opens an IPC channel, so that the program detects when this process is killed. */
  readonly channel?: boolean;
}

/** Runs a command in the root and captures its output. */
export function capture(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: "pipe", env: { ...process.env, ...options.env } });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ exitCode: code ?? 1, output }));
    // A command may end without reading its input.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.stdin);
  });
}

/** Maximum time for Ctrl-C to reach every process of the terminal. */
const CTRL_C_MS = 200;

/**
 * Runs a command in the root with this terminal and returns its exit code. Ctrl-C reaches the command directly; other
 * signals are forwarded, and so is the end of the parent process. A SIGINT to the parent only is forwarded by the
 * parent.
 */
export function inherit(command: string, args: readonly string[], options: CommandOptions = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const stdio = ["inherit", "inherit", "inherit", ...(options.channel ? (["ipc"] as const) : [])] as const;
    const child = spawn(command, args, { cwd: ROOT, stdio: [...stdio], env: { ...process.env, ...options.env } });
    let interruptions = 0;
    const count = (): void => void (interruptions += 1);
    const onMessage = (message: unknown): void => {
      if (message !== "SIGINT") return;
      setTimeout(() => {
        if (interruptions === 0) child.kill("SIGINT");
      }, CTRL_C_MS);
    };
    const forward = (): void => void child.kill("SIGTERM");
    const passedOn = ["SIGTERM", "SIGHUP", "disconnect"] as const;
    process.on("SIGINT", count);
    process.on("message", onMessage);
    for (const event of passedOn) process.on(event, forward);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("SIGINT", count);
      process.off("message", onMessage);
      for (const event of passedOn) process.off(event, forward);
      resolve(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}
