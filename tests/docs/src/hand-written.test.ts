import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { DeploymentCondition, LifecyclePhase } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { BUILTIN_TEMPLATES } from "../../../apps/class-runtime-manager/src/templates/builtin/registry.ts";
import { SCENARIOS } from "../../../apps/cli/src/commands/lab/scenarios.ts";
import { readPage } from "./markdown.ts";
import { ROOT } from "./pages.ts";
import { tableRows } from "./tables.ts";

/** Hand-written pages with lists that must match the code. */
const read = (page: string) => readFileSync(path.join(ROOT, "docs", page), "utf8");
const words = (cell: string | undefined) => [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, word = ""]) => word);
const sorted = (list: Iterable<string>) => [...list].toSorted();

const TEMPLATES = sorted(BUILTIN_TEMPLATES.map(({ id }) => id));

describe("templates", () => {
  test("the glossary lists all", () => {
    const row = tableRows(read("reference/glossary.md"), ["Term", "Meaning"]).find(([word]) => word === "**template**");
    const [, named = ""] = /objects: (.*), or a user template/.exec(row?.[1] ?? "") ?? [];
    expect(sorted(named.split(", "))).toEqual(TEMPLATES);
  });

  test("the guide lists all", () => {
    const [, named] = /The built-in ones \(([^)]*)\)/.exec(read("guides/user-templates.md")) ?? [];
    expect(sorted(words(named))).toEqual(TEMPLATES);
  });

  test("the reference states for each whether it waits for the state store", () => {
    const rows = tableRows(read("reference/templates.md"), ["template", "functions of a class with state"]);
    const named = rows.flatMap(([cell = ""]) => cell.split(", ")).filter((name) => name !== "a user's own");
    expect(sorted(named)).toEqual(TEMPLATES);
  });
});

describe("concepts", () => {
  const page = read("concepts.md");
  const firstColumn = (heading: readonly string[]) => tableRows(page, heading).flatMap(([cell]) => words(cell));

  test("conditions of a deployment", () => {
    const documented = firstColumn(["Condition", "Meaning"]).map((word) => word.toLowerCase());
    expect(sorted(documented)).toEqual(sorted(Object.values(DeploymentCondition)));
  });

  test("conditions of a class runtime", () => {
    const code = readFileSync(path.join(ROOT, "apps/class-runtime-manager/src/lifecycle/status/conditions.ts"), "utf8");
    const [, order = ""] = /const ORDER = \[([^\]]+)\]/.exec(code) ?? [];
    const types = [...order.matchAll(/"(\w+)"/g)].map(([, type = ""]) => type);
    expect(types.length).toBeGreaterThan(0);
    expect(firstColumn(["Condition", "True means"])).toEqual(types);
  });

  test("phases, in the drawing", () => {
    const drawing = readPage(page).fences.find(({ body }) => body.startsWith("stateDiagram"))?.body ?? "";
    const drawn = [...drawing.matchAll(/^\s*(\S+) --> ([^\s:]+)/gm)].flatMap(([, from = "", to = ""]) => [from, to]);
    expect(sorted(new Set(drawn.filter((state) => state !== "[*]")))).toEqual(sorted(Object.values(LifecyclePhase)));
  });
});

test("the guide lists exactly the scenarios of the lab", () => {
  const rows = tableRows(read("guides/local-stack.md"), ["scenario", "failure", "checks"]);
  expect(sorted(rows.flatMap(([cell]) => words(cell)))).toEqual(sorted(SCENARIOS.map(({ name }) => name)));
});

test("every documented option of kube-runtime exists", () => {
  const files = globSync("packages/kube-runtime/src/**/*.ts", { cwd: ROOT });
  const code = files.map((file) => readFileSync(path.join(ROOT, file), "utf8")).join("\n");
  const rows = [...read("reference/kube-runtime-options.md").matchAll(/^\| (`[^|]*) \|/gm)];
  const options = rows.flatMap(([, cell]) => words(cell)).map((option) => option.split(".").at(-1) ?? "");
  expect(options.length).toBeGreaterThan(60);
  expect(options.filter((option) => !new RegExp(`\\b${option}\\??:`).test(code))).toEqual([]);
});
