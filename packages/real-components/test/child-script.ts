import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { eventually } from "../src/index.ts";

/** A Node process that runs one of the programs. */
export interface ChildScript extends Disposable {
  readonly child: ChildProcess;
  readonly output: () => string;
  /** Waits for a line that starts with this word and returns its JSON. */
  waitForLine(word: string): Promise<Record<string, string | number>>;
  readonly ended: Promise<number | null>;
}

/** Starts a program that is killed at the end of the block. */
export function runProgram(name: string, ...args: string[]): ChildScript {
  const child = spawn(process.execPath, [join(import.meta.dirname, "programs", name), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (part: Buffer) => (output += part.toString()));
  child.stderr.on("data", (part: Buffer) => (output += part.toString()));
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  return {
    child,
    output: () => output,
    ended,
    waitForLine: (word) =>
      eventually(
        () => {
          const line = output.split("\n").find((one) => one.startsWith(`${word} {`) && one.endsWith("}"));
          if (line === undefined) throw new Error(output);
          return JSON.parse(line.slice(word.length + 1)) as Record<string, string | number>;
        },
        { what: `the line ${word} of ${name}`, timeoutMs: 60_000 },
      ),
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}
