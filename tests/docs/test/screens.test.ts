import { mkdtempSync, rmSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runInTerminal, missingTerminalReason } from "../../../apps/cli/test/pseudo-terminal.ts";
import { firstMissing } from "../src/guide-script.ts";
import { allPages, ROOT } from "../src/pages.ts";

const MAIN = path.join(ROOT, "apps", "dev-stack", "src", "main.ts");
const folder = mkdtempSync(path.join(tmpdir(), "oaas-readme-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Ports vary. */
/** Ports differ; the load of a class is measured a few seconds after the start. */
const withoutVariables = (text: string) =>
  text.replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:…").replaceAll(/, \d+ requests\/s on \d+ replicas?/g, "");

const SCREENS = [...allPages()].flatMap(([file, { fences }]) =>
  fences.flatMap(({ info, body, line }) => (info === "text screen" ? [{ file, line, body }] : [])),
);

test("finds screens", () => expect(SCREENS.map(({ file }) => file)).toContain("README.md"));

describe.skipIf(missingTerminalReason() !== undefined)("what npm start shows on a terminal", () => {
  let shown: readonly string[] = [];

  test("starts, and q stops it", async () => {
    const { raw, code } = await runInTerminal([process.execPath, MAIN, "--ports=0", "--data=.oaas/data"], {
      cwd: folder,
      env: { HOME: folder, NO_COLOR: "1" },
      columns: 200,
      input: [{ after: "Stop      Ctrl-C", text: "q" }],
    });
    shown = withoutVariables(stripVTControlCharacters(raw)).replaceAll("\r", "").split("\n");
    expect(code, raw).toBe(0);
  });

  test.each(SCREENS)("matches $file, line $line", ({ body }) => {
    const expected = withoutVariables(body)
      .split("\n")
      .filter((line) => !["", "…"].includes(line.trim()));
    expect(expected.length).toBeGreaterThan(5);
    expect(firstMissing(expected, shown), shown.join("\n")).toBeUndefined();
  });
});
