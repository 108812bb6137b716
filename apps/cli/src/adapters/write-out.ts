import { writeSync } from "node:fs";

const WAIT_MS = 5;

/**
 * Writes a text to standard output (1) or standard error (2), all of it before it returns.
 * By hand and not by `process.stdout`, whose making costs a tenth of a start. A reader that left early (`oaas … | head`) is no
 * mistake: there is nobody left to write to, so the program ends.
 */
export function writeOut(descriptor: 1 | 2, text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (thrown) {
      const { code } = thrown as NodeJS.ErrnoException;
      // The reader is slow, and the pipe is one that does not wait.
      if (code === "EAGAIN") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
      else process.exit(code === "EPIPE" ? 0 : 1);
    }
  }
}
