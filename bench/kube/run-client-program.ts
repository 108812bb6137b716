import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { runCommand } from "@oaas/testkit";
import type { ClientProgram } from "./client-programs.ts";

const ROUND_MS = 150_000;

/** Runs one measurement and returns the result line. */
export async function runClientProgram<T>(program: ClientProgram, args: readonly string[]): Promise<T> {
  const result = await runCommand(program.command, [...program.args, ...args], { timeoutMs: ROUND_MS });
  if (result.exitCode !== 0) throw new Error(`${program.name} ${args[0]}: ${result.stderr.slice(-2_000)}`);
  return JSON.parse(result.stdout) as T;
}

/** A program that measures one round per input line. It exits at the end of its input. */
export interface RoundRunner<T> extends AsyncDisposable {
  readonly program: ClientProgram;
  round(): Promise<T>;
}

/** Starts such a program and waits for its first line. */
export async function startRounds<T>(program: ClientProgram, args: readonly string[]): Promise<RoundRunner<T>> {
  const child = spawn(program.command, [...program.args, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => {
    const timer = setTimeout(() => child.kill("SIGKILL"), ROUND_MS);
    const line = await lines.next();
    clearTimeout(timer);
    if (line.done) throw new Error(`${program.name} ${args[0]} ended without an answer`);
    return line.value;
  };
  await nextLine();
  return {
    program,
    round: async () => {
      child.stdin.write("go\n");
      return JSON.parse(await nextLine()) as T;
    },
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      const timer = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(timer);
    },
  };
}

/** Rotates the programs by round, so that none always follows the same other. */
export function inTurn<T>(all: readonly T[], round: number): readonly T[] {
  const first = round % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}

/** The median. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}
