import { spawn } from "node:child_process";
import { deadlineExceeded } from "@oaas/foundation";
import { baseEnvironment } from "./base-environment.ts";

/** The result of a command. */
export interface CommandResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface CommandOptions {
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

/** Runs a short command; kills it and fails after `timeoutMs`. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const { stdin = "", env = {}, cwd, timeoutMs = 60_000 } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { ...baseEnvironment(), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      ...(cwd === undefined ? {} : { cwd }),
    });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.stdout.on("data", (part: Buffer) => out.push(part));
    child.stderr.on("data", (part: Buffer) => err.push(part));
    // A command may exit without reading its whole input.
    child.stdin.on("error", () => undefined);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      if (late) return reject(deadlineExceeded(timeoutMs, { context: { command, args } }));
      const text = (parts: Buffer[]): string => Buffer.concat(parts).toString("utf8");
      return resolve({ stdout: text(out), stderr: text(err), exitCode: code ?? 1 });
    });
    child.stdin.end(stdin);
  });
}
