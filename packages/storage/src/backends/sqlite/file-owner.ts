import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { pid } from "node:process";
import { failedPrecondition, timestamp, type Clock, type Fault } from "@oaas/foundation";
import { PRIVATE_FILE } from "@oaas/foundation/files";

/**
 * Owner of a database, in a file next to it, for the error message of a second process.
 *
 * SQLite holds the lock in the kernel, so it ends with the process. The owner file is informational and may be stale or
 * missing.
 */
export function writeOwner(file: string, clock: Clock): void {
  const owner = { pid, host: hostname(), since: timestamp(clock.now()) };
  writeFileSync(ownerFile(file), `${JSON.stringify(owner)}\n`, { mode: PRIVATE_FILE });
}

export function removeOwner(file: string): void {
  rmSync(ownerFile(file), { force: true });
}

/** Fault of a database that another process or store is using. */
export function inUseFault(file: string, cause: unknown): Fault {
  const who = readOwner(file) ?? "another process";
  return failedPrecondition("database file", `${file} is in use by ${who}`, { code: "OAAS_STORE_IN_USE", cause });
}

function readOwner(file: string): string | undefined {
  try {
    const owner = JSON.parse(readFileSync(ownerFile(file), "utf8")) as Record<string, unknown>;
    return `process ${String(owner["pid"])} on ${String(owner["host"])} since ${String(owner["since"])}`;
  } catch {
    return undefined;
  }
}

export function ownerFile(file: string): string {
  return `${file}.owner`;
}
