import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * What tells a process from a later one with the same number: when it was started, and on Linux in which life of the machine.
 * Undefined when there is no such process.
 */
export function processIdentity(pid: number): string | undefined {
  try {
    if (process.platform !== "linux") return startedAt(pid);
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    const [state, startTime] = [fields[0], fields[19]];
    // A zombie has ended; only its parent has not asked how.
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
