import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startStack, stopStack, type StackProcess } from "./stack-process.ts";

/** The example `ledger` has four partitions, each with a copy in each of the three clusters. */
const COLLECTION = "ledger.Account";
const PARTITIONS = [0, 1, 2, 3];
const STORE_PODS = "api/v1/namespaces/default/pods?labelSelector=oaas.io/component%3Dodgm";

const folder = mkdtempSync(path.join(tmpdir(), "oaas-state-"));
let stack: StackProcess;
beforeAll(async () => {
  stack = await startStack(path.join(folder, "data"));
});
afterAll(async () => {
  await stopStack(stack, "SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

async function send(method: string, at: string, body?: object): Promise<unknown> {
  const response = await fetch(`${stack.url}/api/v1/${at}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
  });
  const json: unknown = await response.json();
  expect(response.status, JSON.stringify(json)).toBe(200);
  return json;
}

const objectAt = (partition: number, id: string): string =>
  `deployments/ledger/objects/${COLLECTION}/${partition}/${id}`;

/** Retries, because a partition has no leader for a moment after it lost one. */
const writeAll = (id: string): Promise<void> =>
  eventually(async () => {
    const entries = { balance: { json: 100 } };
    for (const partition of PARTITIONS) await send("PUT", objectAt(partition, id), { entries });
  });

/** Reads the objects, of one cluster if it is given. */
const expectAll = (ids: readonly string[], cluster?: string): Promise<void> =>
  eventually(async () => {
    const query = cluster === undefined ? "" : `?cluster=${cluster}`;
    for (const id of ids) {
      for (const partition of PARTITIONS) {
        const object = await send("GET", `${objectAt(partition, id)}${query}`);
        expect(object).toMatchObject({ id, entries: { balance: { json: 100 } } });
      }
    }
  });

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly uid: string };
    readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }[];
}

/** Deletes the store pods of a cluster and waits until others are ready in their place. */
async function restartStores(apiUrl: string): Promise<void> {
  const list = async () => ((await (await fetch(`${apiUrl}/${STORE_PODS}`)).json()) as PodList).items;
  const before = await list();
  expect(before.length).toBeGreaterThan(0);
  for (const { metadata } of before) {
    await fetch(`${apiUrl}/api/v1/namespaces/default/pods/${metadata.name}`, { method: "DELETE" });
  }
  const old = new Set(before.map(({ metadata }) => metadata.uid));
  await eventually(
    async () => {
      const pods = await list();
      expect(pods).toHaveLength(before.length);
      for (const { metadata, status } of pods) {
        expect(old.has(metadata.uid)).toBe(false);
        expect(status.conditions).toContainEqual(expect.objectContaining({ type: "Ready", status: "True" }));
      }
    },
    { timeoutMs: 60_000 },
  );
}

test("state stores replicate over the clusters, and restarted ones catch up", async () => {
  await writeAll("ann");
  for (const { apiUrl } of stack.clusters) {
    await restartStores(apiUrl);
    await expectAll(["ann"]);
  }
  await writeAll("ben");
  await expectAll(["ann", "ben"]);
});

test("objects can be written while a cluster is down, and are there when others go after its return", async () => {
  await writeAll("before");
  const [first, second] = stack.clusters.map(({ name }) => name);
  const fault = { fault: "cluster-down", cluster: first };
  await send("POST", "lab/faults", fault);
  await writeAll("during");
  await send("POST", "lab/restore", fault);
  // The stores of the returned cluster started empty.
  await expectAll(["before", "during"], first);
  await writeAll("after");
  await send("POST", "lab/faults", { fault: "cluster-down", cluster: second });
  await expectAll(["before", "during", "after"]);
  await writeAll("last");
});
