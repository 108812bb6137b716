import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { allHelpTexts } from "../../../apps/cli/src/app.ts";
import { EXIT } from "../../../apps/cli/src/exit-code.ts";
import { mentionsOf, objectionTo } from "./commands.ts";
import { readPage } from "./markdown.ts";
import { allPages, ROOT } from "./pages.ts";
import { tableRows } from "./tables.ts";

// The changelog tells of commands as they were, the reference of the command line is its own help.
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
    ["oaas deployment stats KEY", "is no command"],
    ["oaas aply -f a.yaml", "is no command"],
    ["oaas apply --wiat -f a.yaml", "has no --wiat"],
  ])("%s: %s", (text, objection) => {
    expect(objectionTo(text, COMMANDS)).toBe(objection);
  });

  test("is found in blocks to copy and between backticks, not in prose, paths or other programs' names", () => {
    const page = readPage(
      "oaas apply `oaas plan -f x` \n```sh run\nX=1 npx oaas apply -f a | cat\n./oaas no; oaas get b\n```",
    );
    expect(mentionsOf(page, "oaas").map(({ line, text }) => `${line} ${text}`)).toEqual([
      "3 oaas apply -f a",
      "4 oaas get b",
      "1 oaas plan -f x",
    ]);
  });
});

test("every oaas command of every page is one that there is, with flags that it takes", () => {
  const mentions = PAGES.flatMap(([file, page]) => mentionsOf(page, "oaas").map((mention) => ({ file, ...mention })));
  expect(mentions.length).toBeGreaterThan(100);
  const wrong = mentions.flatMap(({ file, line, text }) => {
    const objection = objectionTo(text, COMMANDS);
    return objection === undefined ? [] : [`${file}:${line}: ${text} ${objection}`];
  });
  expect(wrong).toEqual([]);
});

test("every npm task of every page is one that there is, and the README tells them all", () => {
  const named = PAGES.flatMap(([file, page]) =>
    mentionsOf(page, "npm").flatMap(({ line, text }) => {
      const task = /^npm (?:run (?:--silent )?(?<run>\S+)|(?<own>start|test))\b/.exec(text)?.groups;
      return task === undefined ? [] : [{ file, line, task: task["run"] ?? task["own"] ?? "" }];
    }),
  );
  expect(named.filter(({ task }) => !Object.hasOwn(scripts, task))).toEqual([]);
  const told = new Set(named.filter(({ file }) => file === "README.md").map(({ task }) => task));
  expect(Object.keys(scripts).filter((task) => !told.has(task))).toEqual([]);
});

test("the exit codes of the reference are those of the program", () => {
  const page = readFileSync(path.join(ROOT, "docs", "reference", "cli.md"), "utf8");
  const told = tableRows(page, ["Exit code", "Meaning"]).map(([code]) => Number(code));
  expect(told).toEqual([...new Set<number>(Object.values(EXIT))].toSorted((a, b) => a - b));
});
