import { existsSync, globSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { BANS, PACKAGES, type PackageRule } from "../../dependency-rules.ts";
import { allImports, importsOf, ROOT, sourceFiles, type ImportStatement } from "./sources.ts";

const imports = allImports();

function ownerOf(file: string): [string, PackageRule] | undefined {
  return Object.entries(PACKAGES).find(([, { folder }]) => file.startsWith(`${folder}/`));
}

const isTest = (file: string): boolean => /\.test\.ts$|\/test\//.test(file);

/** Why an import violates the table, or undefined. */
function problemOf({ file, specifier }: ImportStatement): string | undefined {
  const owner = ownerOf(file);
  if (!owner) return `${file} belongs to no package of dependency-rules.ts`;
  const [name, rule] = owner;
  if (specifier.startsWith(".")) {
    const target = path.posix.normalize(path.posix.join(path.posix.dirname(file), specifier));
    return target.startsWith(`${rule.folder}/`)
      ? undefined
      : `${file} reaches out of ${name} by "${specifier}"; import the package by its name`;
  }
  const match = /^@oaas\/([^/]+)(?:\/(.*))?$/.exec(specifier);
  if (!match) return undefined;
  const [, target = "", entry] = match;
  if (entry?.startsWith("src")) return `${file} reaches into the sources of ${target}; use its exports`;
  // A test may import its own package by name, and may use the testkit and the test store.
  if (isTest(file) && [name, "testkit", "test-store"].includes(target)) return undefined;
  if (target === name) return `${file} imports its own package by name`;
  const allowed =
    rule.mayImport.includes(target) || (entry !== undefined && rule.mayImport.includes(`${target}/${entry}`));
  return allowed
    ? undefined
    : `${name} may not import ${specifier} (${file}); it may import ${rule.mayImport.join(", ") || "nothing"}`;
}

describe("the table of packages", () => {
  test("lists exactly the existing packages", () => {
    const present = globSync(["packages/*/package.json", "apps/*/package.json"], { cwd: ROOT }).map((file) =>
      path.dirname(file),
    );
    expect(
      Object.values(PACKAGES)
        .map(({ folder }) => folder)
        .toSorted(),
    ).toEqual(present.toSorted());
  });

  test("imports only existing packages of lower rank", () => {
    for (const [name, { rank, mayImport }] of Object.entries(PACKAGES)) {
      for (const target of mayImport) {
        const rule = PACKAGES[target.split("/")[0] ?? ""];
        expect(rule, `${name} names ${target}, which does not exist`).toBeDefined();
        expect(rule!.rank, `${name} (rank ${rank}) must not import ${target}`).toBeLessThan(rank);
      }
    }
  });

  test("lists no unused import", () => {
    const unused = Object.entries(PACKAGES).flatMap(([name, { folder, mayImport }]) =>
      mayImport
        .filter(
          (target) =>
            !imports.some((i) => i.file.startsWith(`${folder}/`) && `${i.specifier}/`.startsWith(`@oaas/${target}/`)),
        )
        .map((target) => `${name} → ${target}`),
    );
    expect(unused).toEqual([]);
  });
});

test("every import follows the table", () => {
  expect(imports.map(problemOf).filter((problem) => problem !== undefined)).toEqual([]);
});

describe("bans", () => {
  test.each(BANS)("$reason", ({ files, except, imports: refused, standsFor, reason }) => {
    expect(
      sourceFiles().some((file) => files.test(file)),
      "the ban speaks of no file any more; remove it",
    ).toBe(true);
    if (standsFor) expect(existsSync(path.join(ROOT, standsFor)), `${standsFor} is gone; remove the ban`).toBe(true);
    const broken = imports.filter((i) => files.test(i.file) && !except?.test(i.file) && refused.test(i.specifier));
    expect(broken.map((i) => `${i.file} imports ${i.specifier}: ${reason}`)).toEqual([]);
  });
});

/** The linter has no rule for reading the clock with a constructor. `new Date(ms)` is allowed. */
test("only adapters create the current date", () => {
  const allowed =
    /\.test\.ts$|\/test\/|\/adapters\/|\/real\/|\/main\.ts$|^packages\/(testkit|real-components)\/|\/gen\//;
  const offenders = sourceFiles()
    .filter((file) => !allowed.test(file))
    .filter((file) => /new Date\(\s*\)/.test(readFileSync(path.join(ROOT, file), "utf8")));
  expect(offenders).toEqual([]);
});

describe("every package", () => {
  test.each(Object.values(PACKAGES).map(({ folder }) => folder))("%s has a description", (folder) => {
    expect(existsSync(path.join(ROOT, folder, "README.md"))).toBe(true);
    const manifest = JSON.parse(readFileSync(path.join(ROOT, folder, "package.json"), "utf8")) as Record<
      string,
      unknown
    >;
    expect(manifest).toMatchObject({ private: true, license: "Apache-2.0", type: "module" });
    expect(manifest["description"]).toBeTruthy();
  });
});

test("the import reader finds every form of import", () => {
  const text = `
    import a from "a"; import { b,
      c } from 'b';
    import type { D } from "d";
    import "e";
    export { f } from "f";
    export * from "g";
    // import "no";
    /* import "nor this" */
    const h = await import("h");
  `;
  const found = importsOf(text);
  expect(found.map(({ specifier }) => specifier)).toEqual(["a", "b", "d", "e", "f", "g", "h"]);
  expect(found.filter(({ isType }) => isType).map(({ specifier }) => specifier)).toEqual(["d"]);
});
