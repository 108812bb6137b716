import { closeSync, fstatSync, globSync, openSync, readSync } from "node:fs";
import path from "node:path";

const TAIL_BYTES = 16_384;

/** The last lines of all logs of a data folder, in the order of their times, each with whose it is. */
export function lastLogLines(dataDir: string, count: number): readonly string[] {
  const files = globSync(["*.log", "clusters/*/*.log", "contexts/*/*.log"], { cwd: dataDir });
  const lines = files.flatMap((file) => {
    const whose = path.dirname(file) === "." ? path.basename(file, ".log") : path.basename(path.dirname(file));
    return tailOf(path.join(dataDir, file))
      .filter((line) => /^\d\d:/.test(line))
      .map((line) => ({ at: line.slice(0, 12), text: `${line.slice(0, 12)} ${whose.padEnd(15)} ${line.slice(13)}` }));
  });
  return lines
    .toSorted((one, other) => one.at.localeCompare(other.at))
    .slice(-count)
    .map(({ text }) => text);
}

/** Whole lines from the end of a file. */
function tailOf(file: string): readonly string[] {
  const fd = openSync(file, "r");
  try {
    const { size } = fstatSync(fd);
    const from = Math.max(0, size - TAIL_BYTES);
    const bytes = Buffer.alloc(size - from);
    readSync(fd, bytes, 0, bytes.length, from);
    const lines = bytes.toString("utf8").split("\n");
    return (from === 0 ? lines : lines.slice(1)).filter((line) => line !== "");
  } finally {
    closeSync(fd);
  }
}
