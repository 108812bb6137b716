import { readFileSync } from "node:fs";
import { EVENT_TOPICS } from "@oaas/contracts/rest";
import { expect, it } from "vitest";
import { helpOfAll, TOPICS } from "./app.ts";
import { EXIT } from "./exit-code.ts";
import { asksForFrontPage, frontPage, GROUPS } from "./front-page.cjs";

const listed = GROUPS.flatMap(([, commands]) => commands.map(([name]) => name));

it("the front page lists every command there is, once, and none that is not there", () => {
  const there = new Set(helpOfAll().map(([route]) => route.split(" ")[1] ?? ""));
  expect([...listed].sort()).toEqual([...there].sort());
});

it("every command's help has an example, and fits a page", () => {
  for (const [route, text] of helpOfAll()) expect(text, route).toMatch(/\nExamples:\n {2}\S/);
  expect(frontPage().split("\n").length).toBeLessThan(60);
});

it.each<[readonly string[], boolean]>([
  [[], true],
  [["--help"], true],
  [["-h"], true],
  [["help"], true],
  [["package", "--help"], false],
  [["--version"], false],
])("%j asks for the front page: %s", (argv, asks) => {
  expect(asksForFrontPage(argv)).toBe(asks);
});

it("events may be asked for by every topic of the contract", () => {
  expect([...TOPICS].sort()).toEqual([...EVENT_TOPICS].sort());
});

it("every exit code is in the reference, and no other", () => {
  const page = readFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), "utf8");
  const table = page.slice(page.indexOf("| Exit code |"));
  const codes = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(Object.values(EXIT));
});
