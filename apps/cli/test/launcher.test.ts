import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const SOURCES = ["contracts/src/rest", "foundation/src", "models/src", "stack-folder/src"].map(
  (folder) => `packages/${folder}`,
);

describe("npx oaas", () => {
  const root = mkdtempSync(path.join(tmpdir(), "oaas-launcher-"));
  const main = path.join(root, "apps/cli/src/main.ts");
  const bundle = path.join(root, "dist/cli.mjs");

  // A minimal clone: the real launcher, and programs that print their name.
  beforeAll(() => {
    cpSync(path.join(ROOT, "apps/cli/bin"), path.join(root, "apps/cli/bin"), { recursive: true });
    cpSync(path.join(ROOT, "tools/bootstrap"), path.join(root, "tools/bootstrap"), { recursive: true });
    mkdirSync(path.dirname(main), { recursive: true });
    cpSync(path.join(ROOT, "apps/cli/src/root-help.cjs"), path.join(root, "apps/cli/src/root-help.cjs"));
    for (const folder of [...SOURCES, "dist"]) mkdirSync(path.join(root, folder), { recursive: true });
    writeFileSync(path.join(root, "package.json"), '{ "type": "module" }');
    const printName = (who: string): string => `console.log("${who}", ...process.argv.slice(2));\n`;
    writeFileSync(main, printName("sources"));
    writeFileSync(bundle, printName("bundle"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  const oaas = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [path.join(root, "apps/cli/bin/oaas.cjs"), ...args], { encoding: "utf8" });
  /** Sets file modification times, in seconds. */
  const changed = (at: Readonly<Record<string, number>>): void => {
    const long = [...SOURCES, "apps/cli/src", "apps/cli/src/root-help.cjs"].map((file): [string, number] => [file, 1]);
    for (const [file, time] of [...long, ...Object.entries(at)]) utimesSync(path.join(root, file), time, time);
  };

  it("prints the root help without loading the program", () => {
    expect(oaas("--help")).toContain("BASIC COMMANDS");
    expect(oaas()).toBe(oaas("--help"));
  });

  it("runs the bundle while it is newer than its sources", () => {
    changed({ "apps/cli/src/main.ts": 100, "dist/cli.mjs": 200 });
    expect(oaas("package", "list")).toBe("bundle package list\n");
  });

  it.each(["apps/cli/src/main.ts", ...SOURCES])("runs the sources when %s is newer than the bundle", (file) => {
    changed({ "apps/cli/src/main.ts": 100, "dist/cli.mjs": 200, [file]: 300 });
    expect(oaas("package", "list")).toBe("sources package list\n");
  });

  it("runs the sources without a bundle", () => {
    rmSync(bundle);
    expect(oaas("package", "list")).toBe("sources package list\n");
  });
});
