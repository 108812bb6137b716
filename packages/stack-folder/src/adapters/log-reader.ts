import { closeSync, fstatSync, globSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { mergeLogs, type LogLine, type LogTail } from "../log-lines.ts";

const LOGS = ["*.log", "clusters/*/*.log", "contexts/*/*.log"];
/** Maximum number of bytes per file and read. */
const MAX_READ_BYTES = 65_536;
const NEWLINE = 0x0a;

/** Returns the last lines of all logs in a data folder. */
export function readLastLogs(dataDir: string): readonly LogLine[] {
  return new LogReader(dataDir).read();
}

/** Follows the logs of a data folder: first the end of each, then new lines. Returns complete lines only. */
export class LogReader {
  readonly #dataDir: string;
  /** Read position by file. */
  readonly #positions = new Map<string, number>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  read(): readonly LogLine[] {
    const files = globSync(LOGS, { cwd: this.#dataDir }).toSorted();
    return mergeLogs(files.flatMap((file) => this.#readFile(file)));
  }

  #readFile(file: string): readonly LogTail[] {
    const fd = openIfExists(path.join(this.#dataDir, file));
    if (fd === undefined) return [];
    try {
      const { size, mtimeMs } = fstatSync(fd);
      const before = this.#positions.get(file);
      // A shorter file was replaced.
      const from = before === undefined ? Math.max(0, size - MAX_READ_BYTES) : before > size ? 0 : before;
      const bytes = Buffer.alloc(Math.min(size - from, MAX_READ_BYTES));
      const read = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
      const end = endOfLines(read);
      this.#positions.set(file, from + end);
      const lines = read.toString("utf8", 0, end).split("\n");
      const isCut = before === undefined && from > 0;
      return [{ file, lines: (isCut ? lines.slice(1) : lines).filter((line) => line !== ""), writtenAt: mtimeMs }];
    } finally {
      closeSync(fd);
    }
  }
}

/** A reset of the stack deletes its logs. */
function openIfExists(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Returns the end of the last complete line. A line longer than the read limit is split. */
function endOfLines(bytes: Buffer): number {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  return end === 0 && bytes.length === MAX_READ_BYTES ? MAX_READ_BYTES : end;
}
