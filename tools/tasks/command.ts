import { spawn } from "node:child_process";
import { ROOT } from "./root.ts";

export interface CommandResult {
  readonly exitCode: number;
  readonly output: string;
}

interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
}

/** Runs a command in the root and keeps what it prints. */
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
    child.stdin.end(options.stdin ?? "");
  });
}

/** Runs a command in the root with our own terminal, and answers its exit code. A signal to us is its to handle. */
export function inherit(command: string, args: readonly string[], options: CommandOptions = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: "inherit", env: { ...process.env, ...options.env } });
    const ignore = (): void => undefined;
    const forward = (): void => void child.kill("SIGTERM");
    process.on("SIGINT", ignore);
    process.on("SIGTERM", forward);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("SIGINT", ignore);
      process.off("SIGTERM", forward);
      resolve(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}
