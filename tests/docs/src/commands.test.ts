import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { allHelpTexts } from "../../../apps/cli/src/app.ts";
import { EXIT } from "../../../apps/cli/src/exit-code.ts";
import { findCommands, findProblem } from "./commands.ts";
import { readPage } from "./markdown.ts";
import { allPages, ROOT } from "./pages.ts";
import { tableRows } from "./tables.ts";

// The changelog mentions old commands, and the CLI reference is generated from the help.
const PAGES = [...allPages()].filter(([file]) => file !== "CHANGELOG.md" && file !== "docs/reference/cli.md");
const COMMANDS = new Map(allHelpTexts());
const { scripts } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

describe("a command on a page", () => {
  test.each([
    ["oaas apply -f a.yaml --wait", undefined],
    ["oaas deployment status KEY -o json", undefined],
    ["oaas package", undefined],
    ["oaas deployment stats KEY", "is not a command"],
    ["oaas aply -f a.yaml", "is not a command"],
    ["oaas apply --wiat -f a.yaml", "has no --wiat"],
  ])("%s: %s", (text, objection) => {
    expect(findProblem(text, COMMANDS)).toBe(objection);
  });

  test("is found in shell blocks and code spans only", () => {
    const page = readPage(
      "oaas apply `oaas plan -f x` \n```sh run\nX=1 npx oaas apply -f a | cat\n./oaas no; oaas get b\n```",
    );
    expect(findCommands(page, "oaas").map(({ line, text }) => `${line} ${text}`)).toEqual([
      "3 oaas apply -f a",
      "4 oaas get b",
      "1 oaas plan -f x",
    ]);
  });
});

test("every oaas command on every page exists and has valid flags", () => {
  const mentions = PAGES.flatMap(([file, page]) => findCommands(page, "oaas").map((mention) => ({ file, ...mention })));
  expect(mentions.length).toBeGreaterThan(100);
  const wrong = mentions.flatMap(({ file, line, text }) => {
    const objection = findProblem(text, COMMANDS);
    return objection === undefined ? [] : [`${file}:${line}: ${text} ${objection}`];
  });
  expect(wrong).toEqual([]);
});

test("every npm task on every page exists, and CONTRIBUTING lists all tasks", () => {
  const named = PAGES.flatMap(([file, page]) =>
    findCommands(page, "npm").flatMap(({ line, text }) => {
      const task = /^npm (?:run (?:--silent )?(?<run>\S+)|(?<own>start|test))\b/.exec(text)?.groups;
      return task === undefined ? [] : [{ file, line, task: task["run"] ?? task["own"] ?? "" }];
    }),
  );
  expect(named.filter(({ task }) => !Object.hasOwn(scripts, task))).toEqual([]);
  const documented = new Set(named.filter(({ file }) => file === "CONTRIBUTING.md").map(({ task }) => task));
  expect(Object.keys(scripts).filter((task) => !documented.has(task))).toEqual([]);
});

test("the reference lists the exit codes of the program", () => {
  const page = readFileSync(path.join(ROOT, "docs", "reference", "cli.md"), "utf8");
  const documented = tableRows(page, ["Exit code", "Meaning"]).map(([code]) => Number(code));
  expect(documented).toEqual([...new Set<number>(Object.values(EXIT))].toSorted((a, b) => a - b));
});
