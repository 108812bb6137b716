import { writeSync } from "node:fs";

/** Accepts complete lines, newline included. Does not throw. */
export interface LogDestination {
  write(line: string): void;
}

/** Total time a line waits for a full pipe. */
const MAX_WAIT_MS = 1000;
const PAUSE_MS = 5;

const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines synchronously to a file descriptor, so that a crash loses none.
 *
 * Guarantees: never throws. A closed reader (EPIPE), a full disk or a closed descriptor costs lines, not the process.
 * A full non-blocking pipe delays the writer for up to a second; then lines are dropped until the pipe accepts data
 * again. Truncated lines are terminated, so that lines never merge.
 * Caveats: a full pipe in blocking mode blocks the writer. pino's own destination is not used because it waits forever
 * for a full pipe and throws on a full disk.
 */
export function createFdDestination(fd: number): LogDestination {
  let isStalled = false;
  let isTruncated = false;
  return {
    write: (line) => {
      const bytes = Buffer.from(isTruncated ? `\n${line}` : line);
      const written = writeAll(fd, bytes, isStalled ? 0 : MAX_WAIT_MS);
      isStalled = written < bytes.length;
      if (written > 0) isTruncated = isStalled;
    },
  };
}

/** Returns the number of bytes written before an error or the wait limit. */
function writeAll(fd: number, bytes: Buffer, maxWaitMs: number): number {
  let done = 0;
  let waitedMs = 0;
  while (done < bytes.length) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EAGAIN" || waitedMs >= maxWaitMs) return done;
      // Node has no other synchronous wait.
      Atomics.wait(pauseCell, 0, 0, PAUSE_MS);
      waitedMs += PAUSE_MS;
    }
  }
  return done;
}
