import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { eventually } from "../eventually.ts";

/** Records a started process, so that `endRegistered` can stop it if its owner is gone. */
export function register(file: string, pid: number): void {
  const identity = processIdentity(pid);
  if (identity !== undefined) appendFileSync(file, `${pid} ${identity}\n`);
}

/**
 * Stops every running process of the register with its group, and clears the register.
 *
 * Guarantees: does not touch a process that reuses a recorded id. Returns the number of stopped processes.
 */
export async function endRegistered(file: string): Promise<number> {
  const text = await readFile(file, "utf8").catch(() => "");
  const alive = text
    .split("\n")
    .map((line) => line.split(" "))
    .map(([pid, identity]) => ({ pid: Number(pid), identity }))
    .filter(({ pid, identity }) => pid > 1 && identity !== undefined && processIdentity(pid) === identity);
  for (const { pid } of alive) killGroup(pid);
  for (const { pid, identity } of alive) {
    await eventually(() => processIdentity(pid) !== identity, { what: `the end of process ${pid}` });
  }
  await rm(file, { force: true });
  return alive.length;
}

/** Kills a process that leads its group, and the group with it. */
export function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has already ended.
  }
}

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
