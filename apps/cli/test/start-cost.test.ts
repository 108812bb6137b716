import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "..", "..", "..");
const folder = mkdtempSync(path.join(tmpdir(), "oaas-cost-"));
const bundle = path.join(folder, "cli.mjs");
const list = path.join(folder, "loaded.json");
const watcher = path.join(folder, "watcher.mjs");
// Every response of a package manager has a correlation id; others are compared with the schemas.
const server = createServer((_, response) => response.setHeader("x-correlation-id", "c1").end("[]"));

// Records at exit which files and Node modules a program loaded.
const WATCHER = `
  import { registerHooks } from "node:module";
  import { writeFileSync } from "node:fs";
  const loaded = [];
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
  process.on("exit", () => writeFileSync(${JSON.stringify(list)}, JSON.stringify([...loaded, ...process.moduleLoadList])));
`;

beforeAll(async () => {
  writeFileSync(watcher, WATCHER);
  const tasks = path.join(ROOT, "tools", "run.ts");
  await promisify(execFile)(process.execPath, [tasks, "bundle", "--out", folder, "--only", "cli"]);
  await once(server.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function loadedBy(program: string, ...args: readonly string[]): Promise<readonly string[]> {
  const { port } = server.address() as AddressInfo;
  const env = { ...process.env, HOME: folder, OAAS_PM_URL: `http://127.0.0.1:${port}` };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--import", pathToFileURL(watcher).href, program, ...args],
    { env },
  );
  expect(stdout).toContain("No packages.");
  return JSON.parse(readFileSync(list, "utf8")) as string[];
}

/** Modules that would dominate the start time of a short command: `fetch`, schemas, YAML. */
const EXPENSIVE = /undici|node_modules\/(?:zod|yaml)\/|contracts\/src\/rest\/(?:paths|openapi|fields)/;

test.each([
  ["the sources", path.join(ROOT, "apps", "cli", "src", "main.ts")],
  ["the bundle", bundle],
])("package list loads no expensive modules from %s", async (_, program) => {
  const loaded = await loadedBy(program, "package", "list");
  expect(loaded.filter((each) => EXPENSIVE.test(each))).toEqual([]);
});

test("the bundle has a bill of materials with its hash", () => {
  const { metadata } = JSON.parse(readFileSync(path.join(folder, "cli.cdx.json"), "utf8")) as {
    readonly metadata: { readonly component: { readonly hashes: readonly object[] } };
  };
  const content = createHash("sha256").update(readFileSync(bundle)).digest("hex");
  expect(metadata.component.hashes).toEqual([{ alg: "SHA-256", content }]);
});
