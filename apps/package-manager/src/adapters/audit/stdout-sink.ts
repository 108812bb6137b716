import { write } from "node:fs";
import { promisify } from "node:util";
import type { AuditEntry } from "@oaas/contracts/rest";
import { sleep, type Timers } from "@oaas/foundation";
import type { AuditSink } from "../../access/audit-queue.ts";

const writeAsync = promisify(write);
const PAUSE_MS = 20;

/**
 * Writes audit lines to a file descriptor, whatever the log level is.
 *
 * *Guarantees*: a full pipe delays the lines and drops none. The write runs outside of the event loop, so that a full pipe in
 * blocking mode does not stop the process.
 */
export function createDescriptorSink(fd: number, timers: Timers): AuditSink {
  return {
    write: async (entries) => {
      const bytes = Buffer.from(linesOf(entries));
      for (let done = 0; done < bytes.length;) {
        try {
          const { bytesWritten } = await writeAsync(fd, bytes, done, bytes.length - done, null);
          done += bytesWritten;
        } catch (thrown) {
          if ((thrown as NodeJS.ErrnoException).code !== "EAGAIN") throw thrown;
          await sleep(timers, PAUSE_MS);
        }
      }
    },
  };
}

/** Entries as JSON lines. */
export function linesOf(entries: readonly AuditEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join("");
}
