import type { Page } from "./markdown.ts";

/** A block of commands on a page, and what it says that they print. */
export interface RunBlock {
  readonly line: number;
  readonly commands: string;
  /** Lines that must be printed in this order, perhaps with others between; `…` stands for anything. */
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

/** One script of all blocks, which says before each where it stands. It stops at the first command that fails. */
export function scriptOf(blocks: readonly RunBlock[]): string {
  const parts = blocks.map(({ line, commands }) => `printf '\\n%s\\n' '${markOf(line)}'\n${commands}`);
  return ["set -eu", "exec 2>&1", END_WHAT_WAS_STARTED, ...parts, ""].join("\n");
}

/** A page that stops half way leaves nothing running. */
const END_WHAT_WAS_STARTED = `trap 'for job in $(jobs -p); do kill "$job" || true; wait "$job" || true; done' EXIT`;

function markOf(line: number): string {
  return `@@ the block in line ${line}`;
}

/** What a run does not show though a block says so, each with its line; empty when all is as told. */
export function missingOutput(blocks: readonly RunBlock[], printed: string): string[] {
  return blocks.flatMap(({ line, expected }) => {
    const [, after] = printed.split(`\n${markOf(line)}\n`, 2);
    if (after === undefined) return [`the block in line ${line} was not reached`];
    const shown = (after.split("\n@@ ", 1)[0] ?? "").split("\n");
    const missed = firstMissing(expected, shown);
    return missed === undefined ? [] : [`the block in line ${line} did not print: ${missed}`];
  });
}

/** The first of these lines that is not shown after those before it; undefined when all are. */
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

/** Columns of a table are as wide as what is in them: any run of blanks matches any other. */
function patternOf(line: string): RegExp {
  const words = line.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(`^\\s*${words.replaceAll("…", ".*").replaceAll(/\s+/g, String.raw`\s+`)}\\s*$`);
}
