import { writeSync } from "node:fs";

const WAIT_MS = 5;

/**
 * Writes a text synchronously to standard output (1) or standard error (2). Avoids `process.stdout`, whose creation
 * takes a tenth of the start time. A closed pipe (`oaas … | head`) ends the process without an error.
 */
export function writeSyncTo(descriptor: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      // The pipe is full and non-blocking: wait for the reader.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      else process.exit(code === "EPIPE" ? 0 : 1);
    }
  }
}
