import type { Page } from "./markdown.ts";

/** A block of commands on a page with its expected output. */
export interface RunBlock {
  readonly line: number;
  readonly commands: string;
  /** Lines that must be printed in this order, with any lines in between; `…` matches any text. */
  readonly expected: readonly string[];
}

const COMMANDS = "sh run";
const OUTPUT = "text output";

/** The blocks marked `sh run`, each with the `text output` that follows it. */
export function runBlocks({ fences }: Pick<Page, "fences">): RunBlock[] {
  const blocks: RunBlock[] = [];
  for (const [index, { info, body, line }] of fences.entries()) {
    if (info === COMMANDS) {
      const next = fences[index + 1];
      const expected = next?.info === OUTPUT ? next.body.split("\n").filter((text) => text.trim() !== "") : [];
      blocks.push({ line, commands: body, expected });
    } else if (info === OUTPUT && fences[index - 1]?.info !== COMMANDS) {
      throw new SyntaxError(`the output in line ${line} follows no block that is run`);
    }
  }
  return blocks;
}

/** Joins all blocks to one script that prints a marker before each block and stops at the first failed command. */
export function scriptOf(blocks: readonly RunBlock[]): string {
  const parts = blocks.map(({ line, commands }) => `printf '\\n%s\\n' '${markOf(line)}'\n${commands}`);
  return ["set -eu", "exec 2>&1", STOP_JOBS, ...parts, ""].join("\n");
}

/** Stops background jobs when the script ends. */
const STOP_JOBS = `trap 'for job in $(jobs -p); do kill "$job" || true; wait "$job" || true; done' EXIT`;

function markOf(line: number): string {
  return `@@ the block in line ${line}`;
}

/** The expected lines that were not printed, each with its block. */
export function missingOutput(blocks: readonly RunBlock[], printed: string): string[] {
  return blocks.flatMap(({ line, expected }) => {
    const [, after] = printed.split(`\n${markOf(line)}\n`, 2);
    if (after === undefined) return [`the block in line ${line} was not reached`];
    const shown = (after.split("\n@@ ", 1)[0] ?? "").split("\n");
    const missed = firstMissing(expected, shown);
    return missed === undefined ? [] : [`the block in line ${line} did not print: ${missed}`];
  });
}

/** The first expected line that is missing or out of order. */
export function firstMissing(expected: readonly string[], shown: readonly string[]): string | undefined {
  let at = 0;
  for (const line of expected) {
    const pattern = patternOf(line);
    const found = shown.findIndex((text, index) => index >= at && pattern.test(text));
    if (found < 0) return line;
    at = found + 1;
  }
  return undefined;
}

/** Matches any run of blanks with any other, because the width of columns varies. */
function patternOf(line: string): RegExp {
  const words = line.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^\\s*${words.replaceAll("…", ".*").replaceAll(/\s+/g, String.raw`\s+`)}\\s*$`);
}
