import { execFileSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { ROOT } from "./sources.ts";

/** Every entry point of every package, by import name. */
function entryPoints(): string[] {
  return globSync("packages/*/package.json", { cwd: ROOT }).flatMap((file) => {
    const { name, exports } = JSON.parse(readFileSync(path.join(ROOT, file), "utf8")) as {
      name: string;
      exports: Record<string, string>;
    };
    return Object.entries(exports)
      .filter(([, file]) => file.endsWith(".ts"))
      .map(([entry]) => name + entry.slice(1));
  });
}

/** Entry points that import vitest are for test runners, not for plain Node. */
const NEEDS_A_RUNNER = /@oaas\/(storage\/testing|testkit)$/;

test("plain Node loads every entry point (vitest hides what type stripping rejects)", { timeout: 120_000 }, () => {
  const entries = entryPoints().filter((entry) => !NEEDS_A_RUNNER.test(entry));
  expect(entries.length).toBeGreaterThan(8);
  const code = `for (const entry of ${JSON.stringify(entries)}) await import(entry); console.log("loaded");`;
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", code], {
    cwd: path.join(ROOT, "apps", "dev-stack"),
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(output.trim()).toBe("loaded");
});
