import { readdirSync, readFileSync } from "node:fs";

/** The ids of all processes whose command line contains the text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => commandLine(pid).includes(text))
    .map(Number);
}

/** The arguments of a process, separated by spaces; empty if it has ended. */
export function commandLine(pid: string | number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
  } catch {
    return "";
  }
}
