import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { MISTAKES } from "./mistakes.ts";
import { ROOT } from "./pages.ts";
import { tableRows } from "./tables.ts";

test("the troubleshooting page lists every tested mistake with its output and fix", () => {
  expect(MISTAKES.length).toBeGreaterThanOrEqual(30);
  const page = readFileSync(path.join(ROOT, "docs", "guides", "troubleshooting.md"), "utf8");
  const expected = MISTAKES.map(({ input, prints, fix }) => [input, `\`${prints}\``, fix]);
  const missing = expected.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
  expect(tableRows(page, ["You write or type", "Printed", "Fix"]), `the rows are:\n${missing}`).toEqual(expected);
});
