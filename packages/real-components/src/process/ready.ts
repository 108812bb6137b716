import { readFile } from "node:fs/promises";
import { unavailable } from "@oaas/foundation";
import { exitText, type RunningProcess } from "./running-process.ts";

const POLL_MS = 25;

/** The process ended because another one has its port: worth another start on fresh ports. */
export class PortTaken extends Error {
  override readonly name = "PortTaken";
}

/**
 * Waits until `probe` says yes.
 *
 * Guarantees: ends at once when the process ends, and after `timeoutMs` at the latest; both faults show the last lines
 * of its log and where the whole log is.
 */
export async function untilReady(
  target: RunningProcess,
  probe: () => Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const endsAt = performance.now() + timeoutMs;
  while (target.exit === undefined && performance.now() < endsAt) {
    if (await probe().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw await notReady(target, timeoutMs);
}

async function notReady(target: RunningProcess, timeoutMs: number): Promise<Error> {
  if (target.exit && (await lostItsPort(target))) return new PortTaken(`${target.name}: address already in use`);
  const how = target.exit ? `ended with ${exitText(target.exit)}` : `was not ready after ${timeoutMs / 1000} s`;
  return unavailable(
    target.name,
    `${target.name} ${how}. The last lines of ${target.logFile}:\n${await target.logTail()}`,
  );
}

async function lostItsPort(target: RunningProcess): Promise<boolean> {
  const log = await readFile(target.logFile, "utf8").catch(() => "");
  return /address already in use/i.test(log);
}
