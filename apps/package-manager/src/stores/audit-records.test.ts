import type { AuditEntry } from "@oaas/contracts/rest";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_LOGGER } from "@oaas/observability";
import { openMemoryStore } from "@oaas/storage/memory";
import { expect, test } from "vitest";
import { AuditTrail } from "../access/audit.ts";
import { AuditQueue } from "../access/audit-queue.ts";
import { AuditStore } from "./audit-records.ts";

function world(keep = 1_000) {
  const ambient = virtualAmbient(1);
  const { time } = ambient;
  const store = openMemoryStore({ ambient });
  const open = (instance: string) => {
    const records = new AuditStore({ store, ambient, logger: NOOP_LOGGER, keep });
    const queue = new AuditQueue({ sink: { write: async () => undefined }, ambient, logger: NOOP_LOGGER });
    return { records, trail: new AuditTrail({ queue, records, ambient, instance }) };
  };
  const record = async (trail: AuditTrail, name: string, action: string, target: string): Promise<void> => {
    const actor = { subject: name, name: `${name}!`, issuer: null, role: "deployer", address: "::1" } as const;
    await trail.begin({ actor, action, target, correlationId: target });
    await time.advance(1_000);
  };
  return { open, record, time };
}

const targetsOf = (entries: readonly AuditEntry[]): readonly string[] => entries.map(({ target }) => target);

test("lists entries of all processes newest first, in pages, by actor, action, target and time", async () => {
  const { open, record, time } = world();
  const [one, two] = [open("one"), open("two")];
  await record(one.trail, "ann", "createPackage", "/a");
  const since = time.now();
  await record(two.trail, "bob", "createPackage", "/b");
  await record(one.trail, "ann", "deletePackage", "/ab");
  const list = async (query: object) => targetsOf((await two.records.list(query)).items);
  expect(await list({})).toEqual(["/ab", "/b", "/a"]);
  expect(await list({ actor: "ann" })).toEqual(["/ab", "/a"]);
  expect(await list({ actor: "bob!" })).toEqual(["/b"]);
  expect(await list({ action: "createPackage", target: "/a" })).toEqual(["/a"]);
  expect(await list({ since })).toEqual(["/ab", "/b"]);
  const first = await one.records.list({ limit: 2 });
  expect([targetsOf(first.items), first.total]).toEqual([["/ab", "/b"], 3]);
  const second = await one.records.list({ limit: 2, pageToken: first.next as string });
  expect([targetsOf(second.items), second.next]).toEqual([["/a"], undefined]);
  await expect(one.records.list({ pageToken: "x" })).rejects.toMatchObject({ kind: "invalid-argument" });
});

test("keeps the newest entries only", async () => {
  const { open, record } = world(100);
  const { trail, records } = open("one");
  for (let index = 0; index < 250; index += 1) await record(trail, "ann", "createPackage", `/${index}`);
  const { items, total } = await records.list({ limit: 1_000 });
  expect(items[0]?.target).toBe("/249");
  expect(total).toBeGreaterThanOrEqual(100);
  expect(total).toBeLessThanOrEqual(111);
});
