import { Fault, type FaultKind } from "@oaas/foundation";
import type { ObjectPage } from "@oaas/contracts/grpc";
import type { StoreClient, StoreEntries, StoreKey } from "./store-client.ts";

/** The partition that the checks write to, and the prefix of their ids. */
export interface ConformanceTarget {
  readonly client: StoreClient;
  readonly collection: string;
  readonly partition: number;
  /** Prefix of all ids of this run. */
  readonly prefix: string;
}

/** One property of a state store that the platform relies on. */
export interface ConformanceCheck {
  readonly name: string;
  /** Whether it needs a partition that acknowledges writes. */
  readonly writes: boolean;
  /** Returns a detail; throws with the difference. */
  readonly run: (target: ConformanceTarget) => Promise<string>;
}

/** The prefix of reserved ids, which object lists of the platform leave out. */
export const RESERVED_PREFIX = "oaas.health.doctor.";

const BIG_BYTES = 1024 * 1024;
const PAGED_OBJECTS = 5;
const PAGE_SIZE = 2;
const MAX_PAGES = 20;
/** Partition numbers are 16 bits wide; no store has that many. */
const PARTITION_OF_NO_NODE = 65_535;

/** The check without which no other write can succeed. */
export const WRITE_CHECK: ConformanceCheck = {
  name: "write",
  writes: true,
  run: async (target) => {
    const key = keyOf(target, "write");
    await target.client.set(key, entries({ n: "1" }));
    expectText(await target.client.get(key), { n: "1" });
    return "acknowledged, so the partition has a leader and a majority, and read back";
  },
};

/** Properties in an order in which the first failure explains the following ones. */
export const CONFORMANCE_CHECKS: readonly ConformanceCheck[] = [
  {
    name: "capabilities",
    writes: false,
    run: async ({ client }) => {
      const found = await client.capabilities();
      for (const needed of ["string_ids", "string_entry_keys"]) {
        expect(found.includes(needed), `lacks ${needed}, which the platform needs`);
      }
      return found.join(", ");
    },
  },
  {
    name: "partition of another node",
    writes: false,
    run: async (target) => {
      const key = { ...keyOf(target, "foreign"), partition: PARTITION_OF_NO_NODE };
      await expectFault(target.client.get(key), "not-found", "reading");
      await expectFault(target.client.set(key, entries({ n: "1" })), "not-found", "writing");
      return "NOT_FOUND: requests are not forwarded";
    },
  },
  {
    name: "absent object",
    writes: false,
    run: async (target) => {
      const key = keyOf(target, "absent");
      await expectFault(target.client.get(key), "not-found", "reading an absent object");
      const { value } = await target.client.getValue(key, "n");
      expect(value === undefined, "an entry of an absent object has a value");
      await target.client.delete(key);
      return "NOT_FOUND; its deletion succeeds";
    },
  },
  {
    name: "wrong input",
    writes: false,
    run: async (target) => {
      for (const id of ["", "a b", "x".repeat(1000)]) {
        const shown = id === "" ? "an empty id" : `the id "${id.slice(0, 10)}"`;
        const write = target.client.set({ ...keyOf(target, ""), id }, entries({ n: "1" }));
        await expectFault(write, "invalid-argument", `writing ${shown}`);
      }
      return "INVALID_ARGUMENT";
    },
  },
  WRITE_CHECK,
  {
    name: "replace",
    writes: true,
    run: async (target) => {
      const key = keyOf(target, "replace");
      await target.client.set(key, entries({ a: "1", b: "1" }));
      const before = await versionOf(target, key);
      await target.client.set(key, entries({ a: "2" }));
      expectText(await target.client.get(key), { a: "2" });
      const after = await versionOf(target, key);
      expect(after > before, `the version went from ${before} to ${after}`);
      return `all entries replaced, version ${before} became ${after}`;
    },
  },
  {
    name: "merge",
    writes: true,
    run: async (target) => {
      const key = keyOf(target, "merge");
      await target.client.set(key, entries({ a: "1", b: "1" }));
      expectText(await target.client.merge(key, entries({ b: "2", c: "2" })), { a: "1", b: "2", c: "2" });
      expectText(await target.client.get(key), { a: "1", b: "2", c: "2" });
      return "other entries kept";
    },
  },
  {
    name: "values",
    writes: true,
    run: async (target) => {
      const key = keyOf(target, "values");
      await target.client.setValue(key, "a", bytes("1"));
      const { value, version } = await target.client.getValue(key, "a");
      expect(value !== undefined && text(value) === "1", "the value that was set is not returned");
      expect(version !== undefined && version > 0n, `the version after the first value is ${version}`);
      await target.client.deleteValue(key, "a");
      expect((await target.client.getValue(key, "a")).value === undefined, "a deleted value is returned");
      return "set, read and deleted";
    },
  },
  {
    name: "conditional write",
    writes: true,
    run: async (target) => {
      const key = keyOf(target, "condition");
      await target.client.set(key, entries({ a: "1", b: "1" }));
      const version = await versionOf(target, key);
      const batch = { values: entries({ a: "2" }), deleteKeys: ["b"] };
      const outdated = target.client.batchSetValues(key, { ...batch, expectedVersion: version + 7n });
      await expectFault(outdated, "conflict", "a write with another version");
      expectText(await target.client.get(key), { a: "1", b: "1" });
      await target.client.batchSetValues(key, { ...batch, expectedVersion: version });
      expectText(await target.client.get(key), { a: "2" });
      return "ABORTED for another version, and nothing changed";
    },
  },
  {
    name: "upper case",
    writes: true,
    run: async (target) => {
      await target.client.set(keyOf(target, "CASE"), entries({ n: "1" }));
      expectText(await target.client.get(keyOf(target, "case")), { n: "1" });
      return "ids are kept in lower case";
    },
  },
  {
    name: "empty object",
    writes: true,
    run: async (target) => {
      const key = keyOf(target, "empty");
      await target.client.set(key, {});
      expectText(await target.client.get(key), {});
      return "exists without entries";
    },
  },
  {
    name: "big object",
    writes: true,
    run: async (target) => {
      const key = keyOf(target, "big");
      const sent = Uint8Array.from({ length: BIG_BYTES }, (_, index) => (index * 31) % 251);
      await target.client.set(key, { n: sent });
      const { n: received = new Uint8Array() } = await target.client.get(key);
      const isEqual = received.length === sent.length && sent.every((byte, index) => received[index] === byte);
      expect(isEqual, `${sent.length} bytes were written, and ${received.length} bytes came back changed`);
      return "1 MiB unchanged";
    },
  },
  {
    name: "pages",
    writes: true,
    run: async (target) => {
      const ids = Array.from({ length: PAGED_OBJECTS }, (_, index) => keyOf(target, `page.${index}`).id);
      for (const id of ids) await target.client.set({ ...keyOf(target, ""), id }, entries({ n: "1" }));
      const pages = await readPages(target, `${target.prefix}page.`, PAGE_SIZE);
      const found = pages.flatMap(({ objects }) => objects.map(({ id }) => id));
      expect(found.join(" ") === ids.join(" "), `listed ${found.join(", ") || "nothing"} instead of ${ids.join(", ")}`);
      const tooLong = pages.find(({ objects }) => objects.length > PAGE_SIZE);
      expect(tooLong === undefined, `a page has ${tooLong?.objects.length} objects; the limit is ${PAGE_SIZE}`);
      return `${ids.length} ids in order over ${pages.length} pages`;
    },
  },
  {
    name: "deletion",
    writes: true,
    run: async (target) => {
      const key = keyOf(target, "deleted");
      await target.client.set(key, entries({ n: "1" }));
      await target.client.delete(key);
      await expectFault(target.client.get(key), "not-found", "reading a deleted object");
      const { objects } = await target.client.list(key.collection, key.partition, { prefix: key.id, limit: 1 });
      expect(objects.length === 0, "a deleted object is listed");
      return "neither read nor listed";
    },
  },
];

/** Deletes the objects of a run and returns how many there were. */
export async function removeObjects(target: ConformanceTarget): Promise<number> {
  const pages = await readPages(target, target.prefix, 100);
  const ids = pages.flatMap(({ objects }) => objects.map(({ id }) => id));
  for (const id of ids) await target.client.delete({ ...keyOf(target, ""), id });
  const [left] = await readPages(target, target.prefix, 1);
  expect(left === undefined || left.objects.length === 0, `${left?.objects[0]?.id} is still listed after its deletion`);
  return ids.length;
}

async function readPages(
  { client, collection, partition }: ConformanceTarget,
  prefix: string,
  limit: number,
): Promise<readonly ObjectPage[]> {
  const pages: ObjectPage[] = [];
  for (let cursor: Uint8Array | undefined; pages.length < MAX_PAGES;) {
    const page = await client.list(collection, partition, { prefix, limit, ...(cursor && { cursor }) });
    pages.push(page);
    cursor = page.cursor;
    if (cursor === undefined) return pages;
  }
  throw new Error(`the list does not end after ${MAX_PAGES} pages`);
}

async function versionOf({ client }: ConformanceTarget, key: StoreKey): Promise<bigint> {
  const { objects } = await client.list(key.collection, key.partition, { prefix: key.id, limit: 1 });
  const [found] = objects;
  if (found?.id !== key.id) throw new Error(`${key.id} is not listed`);
  return found.version;
}

function keyOf({ collection, partition, prefix }: ConformanceTarget, name: string): StoreKey {
  return { collection, partition, id: `${prefix}${name}` };
}

const bytes = (content: string): Uint8Array => new TextEncoder().encode(content);
const text = (data: Uint8Array): string => new TextDecoder().decode(data);

function entries(texts: Readonly<Record<string, string>>): StoreEntries {
  return Object.fromEntries(Object.entries(texts).map(([key, content]) => [key, bytes(content)]));
}

function expect(holds: boolean, difference: string): void {
  if (!holds) throw new Error(difference);
}

function expectText(found: StoreEntries, expected: Readonly<Record<string, string>>): void {
  const show = (texts: Readonly<Record<string, string>>): string =>
    JSON.stringify(Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1))));
  const shown = show(Object.fromEntries(Object.entries(found).map(([key, data]) => [key, text(data)])));
  expect(shown === show(expected), `the store returns ${shown} instead of ${show(expected)}`);
}

async function expectFault(call: Promise<unknown>, kind: FaultKind, what: string): Promise<void> {
  const outcome = await call.then(
    () => undefined,
    (thrown: unknown) => Fault.from(thrown),
  );
  if (outcome?.kind === kind) return;
  throw new Error(`${what} ${outcome === undefined ? "succeeds" : `fails with: ${outcome.message}`}; expected ${kind}`);
}
