import { writeSync } from "node:fs";

/** Takes finished lines, newline included. Does not throw. */
export interface LogDestination {
  write(line: string): void;
  /** Writes the lines that `work` writes before it returns as one piece. Without it each is written by itself. */
  together?(work: () => void): void;
}

/** How long a line waits, in all, for a reader that does not keep up. */
const PATIENCE_MS = 1000;
const PAUSE_MS = 5;

const pauseCell = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes lines synchronously to a file descriptor, so that none is lost when the process ends at once.
 *
 * Guarantees: never throws. A reader that went away (EPIPE), a full disk or a closed descriptor cost lines, never the
 * process. A full pipe in non-blocking mode is waited for, up to a second; then lines are dropped until it takes some
 * again. Lines never run into each other, also after one was cut.
 * Caveats: a full pipe in blocking mode blocks, as it does every program that writes synchronously.
 */
export function createFdDestination(fd: number): LogDestination {
  let isStalled = false;
  let isCut = false;
  let gathered: string | undefined;
  const write = (lines: string): void => {
    const bytes = Buffer.from(isCut ? `\n${lines}` : lines);
    const written = writeAll(fd, bytes, isStalled ? 0 : PATIENCE_MS);
    isStalled = written < bytes.length;
    if (written > 0) isCut = isStalled;
  };
  return {
    write: (line) => {
      if (gathered === undefined) write(line);
      else gathered += line;
    },
    together: (work) => {
      if (gathered !== undefined) return work();
      gathered = "";
      try {
        return work();
      } finally {
        const lines = gathered;
        gathered = undefined;
        if (lines !== "") write(lines);
      }
    },
  };
}

/** How many bytes the descriptor took before it failed or patience ended. */
function writeAll(fd: number, bytes: Buffer, patienceMs: number): number {
  let done = 0;
  let waitedMs = 0;
  while (done < bytes.length) {
    try {
      done += writeSync(fd, bytes, done);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== "EAGAIN" || waitedMs >= patienceMs) return done;
      // The pipe is full. Node has no other synchronous wait.
      Atomics.wait(pauseCell, 0, 0, PAUSE_MS);
      waitedMs += PAUSE_MS;
    }
  }
  return done;
}
