import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Distinguishes a process from a later one with the same id: its start time and, on Linux, the boot id. Undefined if
 * the process does not exist.
 */
export function processIdentity(pid: number): string | undefined {
  try {
    if (process.platform !== "linux") return startedAt(pid);
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    const [state, startTime] = [fields[0], fields[19]];
    // A zombie has ended.
    if (state === "Z" || startTime === undefined) return undefined;
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()}/${startTime}`;
  } catch {
    return undefined;
  }
}

function startedAt(pid: number): string | undefined {
  const text = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], { encoding: "utf8" }).trim();
  return text === "" ? undefined : text.replaceAll(/\s+/g, "_");
}
