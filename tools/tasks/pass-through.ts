import { inherit } from "./command.ts";

/** Runs one of our programs with the given arguments. */
export function passThrough(file: string, node: readonly string[] = []): (args: readonly string[]) => Promise<number> {
  return (args) => inherit(process.execPath, [...node, file, ...args], { channel: true });
}
