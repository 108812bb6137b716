import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { eventually } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCliRunner, type CliResult } from "./cli-runner.ts";
import { startLocalStack, type LocalStackUnderTest } from "./local-stack.ts";

const PACKAGE = `name: objects
classes:
  - key: Cart
    state_spec: { consistency_model: STRONG }
    function_bindings: [{ name: add, function_key: add }]
functions:
  - { key: add, provision_config: { container_image: "example.test/add:1" } }
`;
const deployment = (key: string, partitions: number): string => `---
key: ${key}
package_name: objects
class_key: Cart
odgm: { partition_count: ${partitions}, collections: [${key}] }
`;

describe("objects and copies of state on a local stack", () => {
  let stack: LocalStackUnderTest;
  let oaas: (
    line: string | readonly string[],
    options?: Parameters<ReturnType<typeof createCliRunner>>[1],
  ) => Promise<CliResult>;
  beforeAll(async () => {
    stack = await startLocalStack(["--clusters", "2"]);
    oaas = createCliRunner(stack.folder, { OAAS_PM_URL: stack.url });
    const file = path.join(stack.folder, "objects.yaml");
    await writeFile(file, PACKAGE + deployment("carts", 2) + deployment("carts-4", 4));
    expect(await oaas(["apply", "-f", file])).toMatchObject({ code: 0, err: "" });
    for (const key of ["carts", "carts-4"]) {
      await eventually(
        async () => {
          const entry = '{"entries": {"n": {"json": 1}}}';
          const { code, err } = await oaas(["object", "set", key, "probe", "--partition", "1", "--data", entry]);
          expect({ code, err }).toMatchObject({ code: 0 });
        },
        { timeoutMs: 120_000 },
      );
      expect(await oaas(`object delete ${key} probe --yes`)).toMatchObject({ code: 0 });
    }
  }, 300_000);
  afterAll(() => stack?.[Symbol.asyncDispose]());

  const out = async (line: string | readonly string[], options?: object): Promise<string> => {
    const { code, out: text, err } = await oaas(line, options);
    expect({ line, code, err: code === 0 ? "" : err }).toEqual({ line, code: 0, err: "" });
    return text;
  };
  const set = (id: string, partition: number, entries: object) =>
    out(["object", "set", "carts", id, "--partition", String(partition), "--data", JSON.stringify({ entries })]);

  test("sets, lists, shows and deletes objects", async () => {
    expect(await set("ann", 0, { total: { json: 3 }, note: { text: "paid in cash" } })).toMatch(
      /^object\/carts\/0\/ann set in \w+\n$/,
    );
    await set("bob", 1, { raw: { base64: "/wA=" } });
    expect(await out("object list carts")).toMatch(/^PARTITION +ID +ENTRIES +VERSION\n0 +ann +2 +1\n1 +bob +1 +1\n$/);
    expect(await out("object list carts --prefix b -o name")).toBe("object/carts/1/bob\n");
    expect(await out("object list carts --partition 0 -o name")).toBe("object/carts/0/ann\n");
    expect(await oaas("object list carts --limit 1")).toMatchObject({
      out: expect.stringContaining("ann") as string,
      err: expect.stringContaining("--limit 0") as string,
    });
    expect(await out("object get carts ann")).toMatch(
      /^carts\/0\/ann {2}version 1, read in \w+\n\nKEY.*total +json +3\n/s,
    );
    const shown = await out("object get carts ann -o yaml");
    expect(await out(["object", "set", "carts", "ann", "-f", "-"], { input: shown })).toContain("carts/0/ann set");
    expect(JSON.parse(await out("object get carts ann -o json"))).toMatchObject({
      version: 2,
      entries: { total: { json: 3 }, note: { text: "paid in cash" } },
    });
    expect(await oaas("object delete carts bob")).toMatchObject({
      code: 2,
      err: expect.stringContaining("--yes") as string,
    });
    expect(await oaas("object delete carts bob", { answers: ["n"] })).toMatchObject({ code: 1 });
    expect(await out("object delete carts bob --yes")).toMatch(/^object\/carts\/1\/bob deleted in/);
    expect(await oaas("object get carts bob")).toMatchObject({ code: 3 });
    await out("object delete carts ann --yes");
  });

  test.each([
    { line: "object set carts new", text: "the entries are missing" },
    { line: 'object set carts new --data {"entries":{}}', text: "name its partition with --partition: 0 to 1" },
    { line: "object set carts new --partition 0 --data {x", text: "is not JSON" },
    { line: "object set carts new --partition 0 --data []", text: '{"entries"' },
    { line: "object list carts --collection other", text: "the deployment has carts", exit: 3 },
    { line: "state copy carts carts", text: "the same deployment" },
    { line: "state copy carts carts-4 --collection x", text: 'no collection "x"' },
    { line: "state copy file:a file:b", text: "both are files" },
  ])("$line ends with a hint and changes nothing", async ({ line, text, exit = 2 }) => {
    const { code, err } = await oaas(line);
    expect({ code, err }).toEqual({ code: exit, err: expect.stringContaining(text) as string });
  });

  test("copies to more partitions, continues, and refuses to overwrite", async () => {
    for (let index = 0; index < 12; index += 1) await set(`id-${index}`, index % 2, { n: { json: index } });
    const ids = async (key: string) => (await out(`object list ${key} -o name`)).trimEnd().split("\n");
    const copied = JSON.parse(await out("state copy carts carts-4 --partition-by id-hash -o json")) as object;
    expect(copied).toEqual({
      source: "carts",
      destination: "carts-4",
      outcome: "equal",
      passes: 2,
      objects: 12,
      written: 12,
      deleted: 0,
      extra: 0,
    });
    expect(new Set((await ids("carts-4")).map((id) => id.split("/")[2])).size).toBeGreaterThan(2);
    expect(JSON.parse(await out("object get carts-4 id-7 -o json"))).toMatchObject({ entries: { n: { json: 7 } } });
    await set("id-3", 1, { n: { json: "changed" } });
    const refused = await oaas("state copy carts carts-4 --partition-by id-hash");
    expect(refused).toMatchObject({
      code: 5,
      err: expect.stringMatching(/carts-4 has other entries for 1 of.*id-3.*--overwrite/s) as string,
    });
    await out('object set carts-4 extra --partition 0 --data {"entries":{}}');
    expect(await out("state copy carts carts-4 --partition-by id-hash --overwrite --delete-extra --yes")).toMatch(
      /^carts → carts-4: equal\nobjects 12, written 1, deleted 1, only in the destination 0, passes 2\n$/,
    );
  });

  test("backs up to a file and restores from it", async () => {
    const file = path.join(stack.folder, "carts.ndjson");
    expect(await out(`state copy carts file:${file}`)).toMatch(/^carts → file:.*: equal\nobjects 12, written 12/);
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({ format: "oaas-state", collections: [{ name: "carts" }] });
    expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ end: { objects: { carts: 12 } } });
    expect(await oaas(`state copy carts file:${file}`)).toMatchObject({ code: 2 });
    await out("object delete carts id-5 --yes");
    expect(await out(`state copy file:${file} carts`)).toMatch(/: equal\nobjects 12, written 1/);
    expect(JSON.parse(await out("object get carts id-5 -o json"))).toMatchObject({ entries: { n: { json: 5 } } });
  });

  test("a copy that is killed continues when it is run again", async () => {
    for (let index = 0; index < 8; index += 1) await out(`object delete carts-4 id-${index} --yes`);
    const stopped = new AbortController();
    const running = oaas("state copy carts carts-4 --partition-by id-hash --concurrency 1", { signal: stopped.signal });
    await eventually(async () => {
      expect((await out("object list carts-4 -o name")).trimEnd().split("\n").length).toBeGreaterThan(4);
    });
    stopped.abort();
    expect([0, 130]).toContain((await running).code);
    expect(await out("state copy carts carts-4 --partition-by id-hash")).toMatch(/: equal\nobjects 12/);
  });
});
