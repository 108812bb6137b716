import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLayer } from "../../../tools/images/oci/layer.ts";
import { collectProgram, licenseTexts } from "../../../tools/images/program-layer.ts";
import { PROGRAMS } from "../../../tools/images/programs.ts";
import { Lockfile } from "../../../tools/supply-chain/lockfile.ts";
import { bundle } from "../../../tools/tasks/bundle.ts";
import { ROOT } from "../../../tools/tasks/root.ts";

const lockfile = Lockfile.read(ROOT);
let folder = "";
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "oaas-bundles-"));
  const only = PROGRAMS.flatMap(({ app }) => ["--only", app]);
  await bundle(["--out", path.join(folder, "first"), ...only]);
  await bundle(["--out", path.join(folder, "second", "deeper"), ...only]);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe.each(PROGRAMS)("the program layer of $name", (program) => {
  const collect = (...parts: readonly string[]) => collectProgram(program, path.join(folder, ...parts), ROOT, lockfile);

  test("has the same digest for bundles that were built in different folders", async () => {
    const first = await createLayer("first", collect("first"));
    const second = await createLayer("second", collect("second", "deeper"));
    expect(second.blob.descriptor.digest).toBe(first.blob.descriptor.digest);
  });

  test("names no folder of this machine", () => {
    const text = collect("first")
      .map((entry) => (entry.type === "file" ? Buffer.from(entry.bytes).toString("latin1") : ""))
      .join("\n");
    expect(text.length).toBeGreaterThan(100_000);
    expect([ROOT, folder].filter((place) => text.includes(place))).toEqual([]);
  });
});

test("the console of the package manager is where its program looks for it", () => {
  const [program] = PROGRAMS;
  if (program === undefined) throw new Error("no program");
  const names = collectProgram(program, path.join(folder, "first"), ROOT, lockfile).map((entry) => entry.path);
  expect(names).toContain("opt/oaas/package-manager.mjs");
  expect(names).toContain("opt/oaas/console/index.html");
  expect(names.filter((name) => /^opt\/oaas\/console\/assets\/.+\.js$/.test(name)).length).toBeGreaterThan(1);
});

test("an image is not built without the static files of its program", () => {
  const [program] = PROGRAMS;
  if (program === undefined) throw new Error("no program");
  const bundles = path.join(folder, "without-console");
  mkdirSync(bundles);
  writeFileSync(path.join(bundles, `${program.app}.mjs`), "");
  expect(() => collectProgram(program, bundles, ROOT, lockfile)).toThrow(/without-console\/console has no files/);
});

test("the licenses of all packages in bundles are known", () => {
  const packages = PROGRAMS.flatMap(({ app }) => lockfile.closureOf(`apps/${app}`)).filter(({ isOwn }) => !isOwn);
  const texts = licenseTexts(packages, ROOT);
  expect(texts).toMatch(/zod 4\.\d+\.\d+ \(MIT\)\n\n.*MIT License/s);
  const without = packages.filter((one) => licenseTexts([one], ROOT).includes("has no license file"));
  // These name their license in package.json only.
  expect([...new Set(without.map(({ name }) => name))].toSorted()).toEqual([
    "@bufbuild/protobuf",
    "@stricli/core",
    "abstract-logging",
  ]);
});
