import { readFile } from "node:fs/promises";
import { unavailable } from "@oaas/foundation";
import { exitText, type RunningProcess } from "./running-process.ts";

const POLL_MS = 25;

/** The process ended because its port is in use; retry with another port. */
export class PortInUse extends Error {
  override readonly name = "PortTaken";
}

/**
 * Waits until `probe` returns true.
 *
 * Guarantees: fails at once when the process ends, and after `timeoutMs` at the latest, with the last lines of its log and
 * the path of the log.
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
  throw await notReadyError(target, timeoutMs);
}

async function notReadyError(target: RunningProcess, timeoutMs: number): Promise<Error> {
  if (target.exit && (await isPortInUse(target))) return new PortInUse(`${target.name}: address already in use`);
  const how = target.exit ? `ended with ${exitText(target.exit)}` : `was not ready after ${timeoutMs / 1000} s`;
  return unavailable(
    target.name,
    `${target.name} ${how}. The last lines of ${target.logFile}:\n${await target.logTail()}`,
  );
}

async function isPortInUse(target: RunningProcess): Promise<boolean> {
  const log = await readFile(target.logFile, "utf8").catch(() => "");
  return /address already in use/i.test(log);
}
