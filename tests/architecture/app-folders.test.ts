import { globSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { APP_FOLDERS, PACKAGES } from "../../dependency-rules.ts";
import { AppFolders } from "./app-folders.ts";
import { allImports, ROOT } from "./sources.ts";

describe.each(Object.entries(APP_FOLDERS))("the folders of %s", (app, rules) => {
  const src = `${PACKAGES[app]?.folder}/src`;
  const folders = new AppFolders(src, rules);
  const files = globSync(`${src}/**/*.{ts,tsx,cjs}`, { cwd: ROOT }).map((file) => file.split(path.sep).join("/"));

  test("are exactly those in the table", () => {
    expect(folders.unlisted(files)).toEqual([]);
    expect(folders.stale(files)).toEqual([]);
  });

  test("import only folders above them in the table, and pure folders import only pure ones", () => {
    expect(folders.problems(allImports())).toEqual([]);
  });
});

describe("the check itself", () => {
  const folders = new AppFolders("apps/x/src", [
    { folders: ["ports.ts"] },
    { folders: ["core"], pure: true },
    { folders: ["shell"] },
  ]);
  const statement = (file: string, specifier: string, isType = false) => ({
    file: `apps/x/src/${file}`,
    specifier,
    isType,
  });

  test.each([
    { case: "an import upwards", at: statement("core/a.ts", "../shell/b.ts") },
    { case: "a type import upwards", at: statement("core/a.ts", "../shell/b.ts", true) },
    { case: "Node in a pure folder", at: statement("core/a.ts", "node:fs") },
    { case: "an impure package in a pure folder", at: statement("core/a.ts", "@oaas/storage") },
    { case: "an impure folder in a pure one", at: statement("core/a.ts", "../ports.ts") },
  ])("reports $case", ({ at }) => {
    expect(folders.problems([at])).toHaveLength(1);
  });

  test.each([
    { case: "an import downwards", at: statement("shell/b.ts", "../core/a.ts") },
    { case: "an import within a folder", at: statement("core/a.ts", "./deep/b.ts") },
    { case: "a type of an impure folder below", at: statement("core/a.ts", "../ports.ts", true) },
    { case: "a type of an impure package", at: statement("core/a.ts", "@oaas/storage", true) },
    { case: "a test", at: statement("core/a.test.ts", "../shell/b.ts") },
  ])("accepts $case", ({ at }) => {
    expect(folders.problems([at])).toEqual([]);
  });

  test("reports files without a row and rows without a file", () => {
    expect(folders.unlisted(["apps/x/src/core/a.ts", "apps/x/src/new/b.ts"])).toEqual(["apps/x/src/new/b.ts"]);
    expect(folders.stale(["apps/x/src/ports.ts", "apps/x/src/core/a.ts"])).toEqual(["shell"]);
  });
});
