import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { missingOutput, runBlocks, scriptOf } from "./guide-script.ts";
import { readPage } from "./markdown.ts";

const PAGE = [
  "```sh run",
  "echo one; echo 'two   2'",
  "```",
  "",
  "```text output",
  "one",
  "two 2",
  "```",
  "",
  "```sh",
  "false",
  "```",
];

const blocksOf = (...lines: readonly string[]) => runBlocks(readPage(lines.join("\n")));

const run = (script: string): string => {
  try {
    return execFileSync("bash", ["-c", script], { encoding: "utf8" });
  } catch (thrown) {
    return (thrown as { stdout: string }).stdout;
  }
};

describe("the commands of a page", () => {
  test("runs marked blocks only and compares their output", () => {
    const blocks = blocksOf(...PAGE);
    expect(blocks).toEqual([{ line: 1, commands: "echo one; echo 'two   2'", expected: ["one", "two 2"] }]);
    expect(missingOutput(blocks, run(scriptOf(blocks)))).toEqual([]);
  });

  test.each([
    ["another word", "echo one"],
    ["the wrong order", "echo 'two 2'; echo one"],
    ["more on the line", "echo one; echo two 2 3"],
  ])("reports %s", (_why, commands) => {
    const blocks = blocksOf("```sh run", commands, "```", ...PAGE.slice(4, 8));
    expect(missingOutput(blocks, run(scriptOf(blocks)))).toEqual(["the block in line 1 did not print: two 2"]);
  });

  test("… matches any text, also none", () => {
    const blocks = blocksOf("```sh run", "echo a.b-1234 ready", "```", "```text output", "a.b-… ready…", "```");
    expect(missingOutput(blocks, run(scriptOf(blocks)))).toEqual([]);
  });

  test("matches each block with its own output, and reports blocks after a failure", () => {
    const blocks = blocksOf("```sh run", "echo one", "```", "```sh run", "false", "```", ...PAGE);
    expect(missingOutput(blocks, run(scriptOf(blocks)))).toEqual(["the block in line 7 was not reached"]);
  });

  test("shares variables between blocks and includes stderr", () => {
    const blocks = blocksOf(
      "```sh run",
      "A=1",
      "```",
      "```sh run",
      'echo "$A" >&2',
      "```",
      "```text output",
      "1",
      "```",
    );
    expect(missingOutput(blocks, run(scriptOf(blocks)))).toEqual([]);
  });

  test("rejects an output block without commands", () => {
    expect(() => blocksOf("```text output", "one", "```")).toThrow("line 1 follows no block");
  });
});
