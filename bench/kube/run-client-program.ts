import { runCommand } from "@oaas/testkit";
import type { ClientProgram } from "./client-programs.ts";

const ROUND_MS = 150_000;

/** Runs one measurement and returns the result line. */
export async function runClientProgram<T>(program: ClientProgram, args: readonly string[]): Promise<T> {
  const result = await runCommand(program.command, [...program.args, ...args], { timeoutMs: ROUND_MS });
  if (result.exitCode !== 0) throw new Error(`${program.name} ${args[0]}: ${result.stderr.slice(-2_000)}`);
  return JSON.parse(result.stdout) as T;
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
