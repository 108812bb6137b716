import { closeSync, fstatSync, globSync, openSync, readSync } from "node:fs";
import path from "node:path";
import { mergedLogs, type LogLine, type LogTail } from "../log-lines.ts";

const LOGS = ["*.log", "clusters/*/*.log", "contexts/*/*.log"];
/** How much of a file is read at once; what is more comes with the next look. */
const MOST_BYTES = 65_536;
const NEWLINE = 0x0a;

/** The last lines of all logs of a data folder. */
export function lastLogs(dataDir: string): readonly LogLine[] {
  return new LogReader(dataDir).read();
}

/** Reads the logs of a data folder as they grow: at first the end of each, then what was written since. Whole lines only. */
export class LogReader {
  readonly #dataDir: string;
  /** How far each file was read. */
  readonly #read = new Map<string, number>();

  constructor(dataDir: string) {
    this.#dataDir = dataDir;
  }

  read(): readonly LogLine[] {
    const files = globSync(LOGS, { cwd: this.#dataDir }).toSorted();
    return mergedLogs(files.flatMap((file) => this.#readFile(file)));
  }

  #readFile(file: string): readonly LogTail[] {
    const fd = openIfThere(path.join(this.#dataDir, file));
    if (fd === undefined) return [];
    try {
      const { size, mtimeMs } = fstatSync(fd);
      const before = this.#read.get(file);
      // One that is shorter than it was is another one.
      const from = before === undefined ? Math.max(0, size - MOST_BYTES) : before > size ? 0 : before;
      const bytes = Buffer.alloc(Math.min(size - from, MOST_BYTES));
      const read = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from));
      const end = endOfLines(read);
      this.#read.set(file, from + end);
      const lines = read.toString("utf8", 0, end).split("\n");
      const isCut = before === undefined && from > 0;
      return [{ file, lines: (isCut ? lines.slice(1) : lines).filter((line) => line !== ""), writtenAt: mtimeMs }];
    } finally {
      closeSync(fd);
    }
  }
}

/** A stack that is reset meanwhile takes its logs away. */
function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, "r");
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw thrown;
  }
}

/** Where the last whole line ends; a line that is longer than all that is read at once is cut. */
function endOfLines(bytes: Buffer): number {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  return end === 0 && bytes.length === MOST_BYTES ? MOST_BYTES : end;
}
