import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The console runs these folders in a browser: whatever they import must be there too. */
const FOLDERS = { rest: new URL("./", import.meta.url), models: new URL("../../../models/src/", import.meta.url) };
const ALLOWED = new Set([
  "@oaas/foundation",
  "@oaas/foundation/schedule",
  "@oaas/foundation/yaml",
  "@oaas/models",
  "yaml",
  "zod",
]);

test.each(Object.entries(FOLDERS))("%s has no imports of Node modules", (_, folder) => {
  const files = globSync("**/*.ts", { cwd: folder }).filter((file) => !file.endsWith(".test.ts"));
  expect(files.length).toBeGreaterThan(5);
  for (const file of files) {
    const imports = readFileSync(new URL(file, folder), "utf8").matchAll(/\bfrom "([^"]+)"/g);
    const outside = [...imports].map((match) => match[1]!).filter((name) => !name.startsWith("."));
    expect(
      outside.filter((name) => !ALLOWED.has(name)),
      file,
    ).toEqual([]);
  }
});
