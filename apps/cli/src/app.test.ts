import { readFileSync } from "node:fs";
import { EVENT_TOPICS } from "@oaas/contracts/rest";
import { expect, it } from "vitest";
import { allHelpTexts } from "./app.ts";
import { TOPICS } from "./commands/observe/routes.ts";
import { EXIT } from "./exit-code.ts";
import { isRootHelpRequest, rootHelp, GROUPS } from "./root-help.cjs";

const listed = GROUPS.flatMap(([, commands]) => commands.map(([name]) => name));

it("the root help lists every command once", () => {
  const registered = new Set(allHelpTexts().map(([route]) => route.split(" ")[1] ?? ""));
  expect([...listed].sort()).toEqual([...registered].sort());
});

it("every command has an example, and the root help fits on a page", () => {
  for (const [route, text] of allHelpTexts()) expect(text, route).toMatch(/\nExamples:\n {2}\S/);
  expect(rootHelp().split("\n").length).toBeLessThan(60);
});

it.each<[readonly string[], boolean]>([
  [[], true],
  [["--help"], true],
  [["-h"], true],
  [["help"], true],
  [["package", "--help"], false],
  [["--version"], false],
])("%j requests the root help: %s", (argv, isRequested) => {
  expect(isRootHelpRequest(argv)).toBe(isRequested);
});

it("accepts every event topic of the contract", () => {
  expect([...TOPICS].sort()).toEqual([...EVENT_TOPICS].sort());
});

it("the reference lists exactly the exit codes", () => {
  const page = readFileSync(new URL("../../../docs/reference/cli.md", import.meta.url), "utf8");
  const table = page.slice(page.indexOf("| Exit code |"));
  const codes = [...table.slice(0, table.indexOf("\n\n")).matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(codes).toEqual(Object.values(EXIT));
});
