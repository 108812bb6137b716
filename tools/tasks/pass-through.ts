import { inherit } from "./command.ts";

/** A task that is a program of its own: same arguments, same exit code. */
export function passThrough(file: string): (args: readonly string[]) => Promise<number> {
  return (args) => inherit(process.execPath, [file, ...args], { channel: true });
}
