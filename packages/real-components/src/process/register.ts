import { appendFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { eventually } from "./eventually.ts";
import { processIdentity } from "./process-identity.ts";

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
