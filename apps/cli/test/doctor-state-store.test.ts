import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { StoreNetwork, type StoreNode } from "@oaas/test-store";
import { serveStoreNode } from "@oaas/test-store/grpc";
import { storeEnv } from "@oaas/test-store/testing";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { createCliRunner } from "./cli-runner.ts";

const home = mkdtempSync(path.join(tmpdir(), "oaas-doctor-"));
const run = createCliRunner(home);
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

async function serve(node: StoreNode): Promise<string> {
  const served = await serveStoreNode(node, { host: "127.0.0.1", port: 0, ambient: realAmbient });
  closers.push(() => served.close());
  return served.address;
}

/** A group of three, each behind its own address. */
async function startGroup(type: string): Promise<readonly { readonly node: StoreNode; readonly address: string }[]> {
  const network = new StoreNetwork({ ambient: realAmbient });
  const group = [];
  for (const id of [1, 2, 3]) {
    const node = network.start(storeEnv(id, { type, partitions: 2 }), { name: `cart-${id}`, cluster: "edge" });
    group.push({ node, address: await serve(node) });
  }
  return group;
}

interface Result {
  readonly check: string;
  readonly ok: boolean;
  readonly message: string;
}

async function doctor(
  address: string,
  flags = "",
): Promise<{ readonly code: number; readonly results: readonly Result[] }> {
  const { code, out, err } = await run(`doctor --state-store ${address} ${flags} -o json`);
  expect(err).toBe("");
  return { code, results: JSON.parse(out) as readonly Result[] };
}

const failedOf = (results: readonly Result[]): readonly string[] =>
  results.filter(({ ok }) => !ok).map(({ check, message }) => `${check}: ${message}`);

describe("oaas doctor --state-store", () => {
  test.each(["raft", "mst", "basic"])(
    "passes every check on the test store of type %s and leaves nothing",
    async (type) => {
      const [{ node, address }] = (await startGroup(type)) as [{ node: StoreNode; address: string }];
      const { code, results } = await doctor(address, "--collection shop.Cart --partition 1");
      expect(failedOf(results)).toEqual([]);
      expect(code).toBe(0);
      expect(results.map(({ check }) => check)).toEqual([
        "shards",
        "capabilities",
        "partition of another node",
        "absent object",
        "wrong input",
        "write",
        "replace",
        "merge",
        "values",
        "conditional write",
        "upper case",
        "empty object",
        "big object",
        "pages",
        "deletion",
        "clean-up",
      ]);
      expect((await node.stats()).map(({ count }) => count)).toEqual([0, 0]);
    },
  );

  test("fails the write of a store without a majority, and checks what needs none", async () => {
    const [first, second, third] = await startGroup("raft");
    second?.node.kill();
    third?.node.kill();
    const { code, results } = await doctor(first?.address ?? "");
    expect(code).toBe(1);
    expect(failedOf(results)).toEqual([expect.stringMatching(/^write: .*No leader available/)]);
    expect(results.map(({ check }) => check)).not.toContain("merge");
  });

  test("names the partitions that the node holds instead of the requested one", async () => {
    const [first] = await startGroup("raft");
    const { code, results } = await doctor(first?.address ?? "", "--partition 7");
    expect(code).toBe(1);
    expect(failedOf(results)).toEqual([
      `shards: ${first?.address} does not hold any collection partition 7; it holds shop.Cart 0,1`,
    ]);
  });

  test("reports a store without shards", async () => {
    const network = new StoreNetwork({ ambient: realAmbient });
    const node = network.start({ ...storeEnv(1), ODGM_COLLECTION: "[" }, { name: "cart-1", cluster: "edge" });
    const { code, results } = await doctor(await serve(node));
    expect(code).toBe(1);
    expect(failedOf(results)).toEqual([
      expect.stringContaining("holds no partition: its ODGM_COLLECTION is incomplete"),
    ]);
  });

  test("reports a server that is not there", async () => {
    const { code, results } = await doctor("127.0.0.1:1");
    expect(code).toBe(1);
    expect(failedOf(results)).toEqual([expect.stringMatching(/^shards: 127\.0\.0\.1:1: .*ECONNREFUSED/)]);
  });

  test("needs a state store for its other flags", async () => {
    const { code, err } = await run("doctor --partition 1");
    expect(code).toBe(2);
    expect(err).toContain("add --state-store ADDRESS");
  });
});
