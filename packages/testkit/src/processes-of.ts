import { readdirSync, readFileSync } from "node:fs";

/** The numbers of all processes whose command line contains the text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => commandLine(pid).includes(text))
    .map(Number);
}

/** A process's arguments, separated by spaces; empty when it has ended. */
export function commandLine(pid: string | number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
