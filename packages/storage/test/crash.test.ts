import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { realAmbient } from "@oaas/foundation/real";
import { outcomeUnknown, type Entry, type KeyValueStore } from "@oaas/storage";
import { openEtcdStore } from "@oaas/storage/etcd";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { describeWith, startEtcd, sweepSize } from "@oaas/testkit";
import { describe, expect, test } from "vitest";

const ROUNDS = sweepSize(3, 30);
const ACKNOWLEDGED = sweepSize(600, 20_000);
const PER_ROUND = Math.ceil(ACKNOWLEDGED / ROUNDS);

describe("kill -9 of the writer", () => {
  test("sqlite: keeps every acknowledged write, and no partial write", { timeout: 600_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "oaas-crash-"));
    const file = join(folder, "store.db");
    const acknowledged = new Set<number>();
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        await writeUntilKilled("sqlite", file, acknowledged);
        const store = openSqliteStore({ ambient: realAmbient, file });
        await expectWhole(store, acknowledged);
        await store.close();
      }
      expect(acknowledged.size).toBeGreaterThanOrEqual(ACKNOWLEDGED);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describeWith(["etcd"], "kill -9 around etcd", () => {
  test("of the client: keeps every acknowledged write, and no partial write", { timeout: 600_000 }, async () => {
    await using etcd = await startEtcd({ fsync: true });
    const store = openEtcdStore({ ambient: realAmbient, endpoints: etcd.endpoints, keyPrefix: "/oaas/crash/" });
    const acknowledged = new Set<number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      await writeUntilKilled("etcd", etcd.endpoints.join(), acknowledged);
      await expectWhole(store, acknowledged);
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(ACKNOWLEDGED);
    await store.close();
  });

  test("of etcd: keeps every acknowledged write, and no partial write", { timeout: 600_000 }, async () => {
    await using etcd = await startEtcd({ fsync: true });
    const store = openEtcdStore({
      ambient: realAmbient,
      endpoints: etcd.endpoints,
      timeoutMs: 30_000,
      keyPrefix: "/oaas/crash/",
    });
    const acknowledged = new Set<number>();
    const [member] = etcd.members;
    let next = 0;
    let unknown = 0;
    for (let round = 1; round <= ROUNDS; round += 1) {
      const target = Math.min(round * PER_ROUND, ACKNOWLEDGED);
      const killAt = target - 1 - Math.floor(Math.random() * (PER_ROUND / 2));
      let restarted: Promise<void> | undefined;
      const write = async (): Promise<void> => {
        while (acknowledged.size < target || restarted === undefined) {
          const n = (next += 1);
          const value = `${n}`;
          await store
            .commit({
              conditions: [{ key: `a/${n}`, test: "absent" }],
              writes: [
                { op: "put", key: `a/${n}`, value },
                { op: "put", key: `b/${n}`, value },
              ],
            })
            .then(() => acknowledged.add(n))
            .catch((thrown: unknown) => {
              if (!outcomeUnknown(thrown)) throw thrown;
              unknown += 1;
            });
          if (acknowledged.size >= killAt) restarted ??= member?.kill().then(() => member.start());
        }
      };
      await Promise.all(Array.from({ length: 8 }, write));
      await restarted;
      await expectWhole(store, acknowledged);
    }
    expect(acknowledged.size).toBeGreaterThanOrEqual(ACKNOWLEDGED);
    expect(unknown, "guarded writes are resolved by reading").toBe(0);
    await store.close();
  });
});

/** Starts the writer, collects its acknowledgements, and kills it while it writes. */
async function writeUntilKilled(backend: string, place: string, acknowledged: Set<number>): Promise<void> {
  const first = Math.max(0, ...acknowledged) + 1000;
  const child = spawn(process.execPath, [join(import.meta.dirname, "crash-writer.ts"), backend, place, String(first)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const enough = acknowledged.size + PER_ROUND + Math.floor(Math.random() * 20);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === "ready") continue;
    acknowledged.add(Number(line));
    if (acknowledged.size === enough) child.kill("SIGKILL");
  }
  const [, signal] = (await exited) as [number | null, string | null];
  expect(signal, "it was killed and did not end by itself").toBe("SIGKILL");
}

/** Asserts that every acknowledged pair exists and every existing pair is complete. */
async function expectWhole(store: KeyValueStore, acknowledged: ReadonlySet<number>): Promise<void> {
  // Both at one revision: requests of the killed writer may still be executed.
  const revision = await store.revision();
  const [a, b] = [await valuesUnder(store, "a/", revision), await valuesUnder(store, "b/", revision)];
  const lost = [...acknowledged].filter((n) => !a.has(String(n)) || !b.has(String(n)));
  expect(lost).toEqual([]);
  expect([...a].filter(([n, value]) => b.get(n) !== value)).toEqual([]);
  expect(b.size).toBe(a.size);
}

async function valuesUnder(store: KeyValueStore, prefix: string, atRevision: number): Promise<Map<string, string>> {
  const found: Entry[] = [];
  let page = await store.range({ prefix, limit: 1000, atRevision });
  found.push(...page.entries);
  while (page.next !== undefined) {
    page = await store.range({ prefix, limit: 1000, after: page.next, atRevision });
    found.push(...page.entries);
  }
  return new Map(found.map((entry) => [entry.key.slice(prefix.length), `${entry.value}@${entry.modRevision}`]));
}
