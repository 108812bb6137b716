import { sleep } from "@oaas/foundation";
import { logText } from "@oaas/stack-folder";
import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

const POLL_MS = 300;

export interface StackLogsFlags {
  /** Number of existing lines to print. */
  readonly logs?: number;
  readonly follow: boolean;
}

/** Prints the last log lines of a stack, running or not, and optionally follows the logs until Ctrl-C. */
export async function printStackLogs(session: Session, dataDir: string, flags: StackLogsFlags): Promise<void> {
  const { logs: count = DEFAULT_LINES, follow } = flags;
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new UsageError(`--logs: ${count} is not a number of lines`, `oaas status --logs ${DEFAULT_LINES}`);
  }
  const { LogReader } = await import("@oaas/stack-folder/node");
  const reader = new LogReader(dataDir);
  const lines = reader.read();
  // slice(-0) would return all lines.
  for (const line of lines.slice(Math.max(0, lines.length - count))) session.print(`${logText(line)}\n`);
  if (lines.length === 0) session.printNote(`No logs in ${dataDir}.\n`);
  if (!follow) return;
  const { timers, signal } = session.environment;
  for (;;) {
    await sleep(timers, POLL_MS, signal);
    for (const line of reader.read()) session.print(`${logText(line)}\n`);
  }
}

const DEFAULT_LINES = 20;
