import { inherit } from "./command.ts";

/**
 * Several servers share the process of the local stack. What they make for a moment while they start would claim a third of its memory and keep it, if V8
 * let both halves of the young generation grow to 32 MB as it does by itself.
 */
export const LOCAL_STACK_NODE = ["--max-semi-space-size=16"] as const;

/** Runs a program of ours with the arguments that are given, as if it had been called itself. */
export function passThrough(file: string, node: readonly string[] = []): (args: readonly string[]) => Promise<number> {
  return (args) => inherit(process.execPath, [...node, file, ...args], { channel: true });
}
