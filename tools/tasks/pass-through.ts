import { inherit } from "./command.ts";

/** Runs a program of ours with the arguments that are given, as if it had been called itself. */
export function passThrough(file: string, node: readonly string[] = []): (args: readonly string[]) => Promise<number> {
  return (args) => inherit(process.execPath, [...node, file, ...args], { channel: true });
}
