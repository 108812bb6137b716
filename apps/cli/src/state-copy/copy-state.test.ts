import fc from "fast-check";
import { expect, test } from "vitest";
import type { FileReplacement } from "../process-environment.ts";
import { backupState, openBackup } from "./backup-state.ts";
import { copyState, type CopyOptions, type CopyResult } from "./copy-state.ts";
import { fingerprint } from "./entries.ts";
import { comparePlaces, mergeSorted } from "./object-streams.ts";
import { pairCollections, targetPartition, type PartitionRule } from "./mapping.ts";
import type { Entries, ListedObject, Place, StateTarget } from "./stored-state.ts";

class Killed extends Error {}

/** A store in memory. Every request may end the process, before or after its effect, and others may write meanwhile. */
class FakeStore implements StateTarget {
  readonly name: string;
  readonly collections;
  readonly objects_ = new Map<string, { readonly at: Place; version: number; entries: Entries }>();
  onRequest: () => void = () => undefined;

  constructor(name: string, partitions: number) {
    this.name = name;
    this.collections = [{ name: `${name}.Cart`, partitions }];
  }

  put(at: Place, entries: Entries): void {
    const key = JSON.stringify([at.id, at.partition]);
    this.objects_.set(key, { at, version: (this.objects_.get(key)?.version ?? 0) + 1, entries });
  }

  remove({ id, partition }: Place): void {
    this.objects_.delete(JSON.stringify([id, partition]));
  }

  /** The fingerprints of all objects by partition and id. */
  get contents(): Readonly<Record<string, string>> {
    const all = [...this.objects_.values()].map(({ at, entries }) => [
      `${at.partition}/${at.id}`,
      fingerprint(entries),
    ]);
    return Object.fromEntries(all) as Readonly<Record<string, string>>;
  }

  objects(collection: string): AsyncIterable<ListedObject> {
    expect(collection).toBe(this.collections[0]?.name);
    const partitions = Array.from({ length: this.collections[0]?.partitions ?? 0 }, (_, index) => index);
    return mergeSorted(partitions.map((partition) => this.#list(partition)));
  }

  async *#list(partition: number): AsyncGenerator<ListedObject> {
    let last: Place | undefined;
    for (;;) {
      this.onRequest();
      const rest = [...this.objects_.values()].filter(
        ({ at }) => at.partition === partition && (last === undefined || comparePlaces(at, last) > 0),
      );
      const page = rest.toSorted((a, b) => comparePlaces(a.at, b.at)).slice(0, 2);
      for (const { at, version } of page) {
        last = at;
        yield { ...at, version, read: async () => this.#read(at) };
      }
      if (page.length < 2) return;
    }
  }

  #read({ id, partition }: Place) {
    this.onRequest();
    const found = this.objects_.get(JSON.stringify([id, partition]));
    return found && { version: found.version, entries: found.entries };
  }

  async set(_collection: string, at: Place, entries: Entries): Promise<void> {
    this.onRequest();
    this.put(at, entries);
    this.onRequest();
  }

  async delete(_collection: string, at: Place): Promise<void> {
    this.onRequest();
    this.remove(at);
  }
}

function copy(source: FakeStore, target: FakeStore, over: Partial<CopyOptions> = {}): Promise<CopyResult> {
  const pairs = pairCollections(source.collections, target.collections, []);
  if ("message" in pairs) throw new TypeError(pairs.message);
  return copyState(source, target, {
    pairs,
    rule: "modulo",
    overwrites: false,
    deletesExtra: false,
    concurrency: 3,
    maxPasses: 5,
    signal: new AbortController().signal,
    confirmsDeletion: async () => true,
    ...over,
  });
}

const place = (partitions: number) =>
  fc.record({ partition: fc.nat(partitions - 1), id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "é", "𝒳") });
const objectsIn = (partitions: number) =>
  fc.uniqueArray(fc.tuple(place(partitions), fc.nat(9)), {
    selector: ([{ id }]) => id,
    maxLength: 8,
  });

function fill(store: FakeStore, objects: readonly (readonly [Place, number])[]): void {
  for (const [at, value] of objects) store.put(at, { n: { json: value } });
}

/** What the destination must have: its own objects, and those of the source in their new partitions. */
function expected(
  source: FakeStore,
  before: FakeStore,
  partitions: number,
  rule: PartitionRule,
  deletesExtra: boolean,
) {
  const wanted = new FakeStore("wanted", partitions);
  if (!deletesExtra) for (const { at, entries } of before.objects_.values()) wanted.put(at, entries);
  for (const { at, entries } of source.objects_.values())
    wanted.put({ id: at.id, partition: targetPartition(rule, at, partitions) }, entries);
  return wanted.contents;
}

test("loses and duplicates nothing when it is killed at any point and run again", async () => {
  const setting = fc.record({
    from: fc.integer({ min: 1, max: 4 }),
    to: fc.integer({ min: 1, max: 4 }),
    rule: fc.constantFrom<PartitionRule>("modulo", "id-hash"),
    deletesExtra: fc.boolean(),
    kills: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(setting, objectsIn(1), objectsIn(1), fc.nat(), async (options, ours, theirs, salt) => {
      const { from, to, rule, deletesExtra, kills } = options;
      const [source, target, before] = [new FakeStore("s", from), new FakeStore("t", to), new FakeStore("t", to)];
      fill(
        source,
        ours.map(([{ id }, value], index) => [{ id, partition: (index + salt) % from }, value]),
      );
      for (const [{ id }, value] of theirs)
        for (const store of [target, before]) store.put({ id: `x${id}`, partition: salt % to }, { n: { json: value } });
      const wanted = expected(source, before, to, rule, deletesExtra);
      for (const kill of kills) {
        let left = kill;
        const request = (): void => {
          left -= 1;
          if (left === 0) throw new Killed();
        };
        [source.onRequest, target.onRequest] = [request, request];
        await copy(source, target, { rule, deletesExtra }).catch((thrown: unknown) => {
          if (!(thrown instanceof Killed)) throw thrown;
        });
        // Nothing of the destination is lost at any point, unless it may be deleted.
        if (!deletesExtra) expect(target.contents).toMatchObject(before.contents);
      }
      [source.onRequest, target.onRequest] = [() => undefined, () => undefined];
      expect((await copy(source, target, { rule, deletesExtra })).outcome).toBe("equal");
      expect(target.contents).toEqual(wanted);
    }),
  );
});

test("calls a copy equal only if the source had these contents at one time, also with concurrent writes", async () => {
  const write = fc.record({ at: place(2), value: fc.nat(9), after: fc.nat(40), removes: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(objectsIn(2), fc.array(write, { maxLength: 6 }), async (objects, writes) => {
      const [source, target] = [new FakeStore("s", 2), new FakeStore("t", 2)];
      fill(source, objects);
      let requests = 0;
      const history = [source.contents];
      const request = (): void => {
        requests += 1;
        for (const { at, value, after, removes } of writes) {
          if (after !== requests) continue;
          if (removes) source.remove(at);
          else source.put(at, { n: { json: value } });
          history.push(source.contents);
        }
      };
      [source.onRequest, target.onRequest] = [request, request];
      const { outcome } = await copy(source, target, { overwrites: true, deletesExtra: true, maxPasses: 3 });
      if (outcome === "equal") expect(history).toContainEqual(target.contents);
      else expect(outcome).toBe("changing");
    }),
  );
});

test("refuses to overwrite objects, writes nothing, and names them", async () => {
  const [source, target] = [new FakeStore("s", 1), new FakeStore("t", 1)];
  fill(source, [
    [{ id: "a", partition: 0 }, 1],
    [{ id: "b", partition: 0 }, 1],
  ]);
  fill(target, [[{ id: "b", partition: 0 }, 2]]);
  const before = target.contents;
  expect(await copy(source, target)).toMatchObject({
    outcome: "refused",
    reason: "different",
    last: { examples: ["t.Cart/0/b has other entries"] },
  });
  expect(target.contents).toEqual(before);
  expect(await copy(source, target, { overwrites: true })).toMatchObject({ outcome: "equal", written: 2 });
  expect(target.contents).toEqual(source.contents);
});

test("refuses when two partitions would give one place two objects", async () => {
  const [source, target] = [new FakeStore("s", 2), new FakeStore("t", 1)];
  fill(source, [
    [{ id: "a", partition: 0 }, 1],
    [{ id: "a", partition: 1 }, 2],
  ]);
  expect(await copy(source, target)).toMatchObject({ outcome: "refused", reason: "collisions" });
  expect(target.contents).toEqual({});
});

test("asks before it deletes, and deletes nothing without consent", async () => {
  const [source, target] = [new FakeStore("s", 1), new FakeStore("t", 1)];
  fill(target, [[{ id: "a", partition: 0 }, 1]]);
  const asked: number[] = [];
  const confirmsDeletion = async (extra: number): Promise<boolean> => asked.push(extra) > 1;
  const options = { deletesExtra: true, confirmsDeletion };
  expect(await copy(source, target, options)).toMatchObject({ outcome: "cancelled" });
  expect(Object.keys(target.contents)).toEqual(["0/a"]);
  expect(await copy(source, target, options)).toMatchObject({ outcome: "equal", deleted: 1 });
  expect({ asked, left: target.contents }).toEqual({ asked: [1, 1], left: {} });
});

test("compares bytes, whatever the form of the entries", () => {
  expect(fingerprint({ a: { json: { x: 1 } }, b: {} })).toBe(fingerprint({ b: {}, a: { text: '{"x":1}' } }));
  expect(fingerprint({ a: { text: "x" } })).toBe(fingerprint({ a: { base64: "eA==" } }));
  expect(fingerprint({ a: { text: "x" } })).not.toBe(fingerprint({ a: { text: "x", type: "crdt-map" } }));
});

/** A file in memory. */
class FakeFile {
  text: string | undefined;
  readonly open = (): FileReplacement => {
    let next = "";
    return { write: (text) => void (next += text), commit: () => void (this.text = next), discard: () => undefined };
  };
  readonly lines = async function* (this: FakeFile): AsyncGenerator<string> {
    for (const line of (this.text ?? "").split("\n")) if (line !== "") yield line;
  };
}

const backup = (source: FakeStore, file: FakeFile) =>
  backupState(source, {
    collections: source.collections,
    createdAt: "2026-01-01T00:00:00Z",
    concurrency: 3,
    maxPasses: 3,
    open: file.open,
  });
const failAt = (line: number, problem: string): Error => new Error(`line ${line} ${problem}`);

test("restores from a file what was backed up, also into other partitions", async () => {
  await fc.assert(
    fc.asyncProperty(objectsIn(3), fc.integer({ min: 1, max: 4 }), async (objects, to) => {
      const [source, target, file] = [new FakeStore("s", 3), new FakeStore("t", to), new FakeFile()];
      fill(source, objects);
      expect((await backup(source, file)).outcome).toBe("equal");
      const restored = await openBackup(() => file.lines(), failAt);
      const result = await copy(restored as unknown as FakeStore, target);
      expect(result.outcome).toBe("equal");
      expect(target.contents).toEqual(expected(source, target, to, "modulo", true));
    }),
  );
});

test("leaves the file as it was when the source changes or the process ends", async () => {
  const [source, file] = [new FakeStore("s", 1), new FakeFile()];
  fill(source, [[{ id: "a", partition: 0 }, 1]]);
  file.text = "before";
  let value = 0;
  source.onRequest = () => source.put({ id: "b", partition: 0 }, { n: { json: (value += 1) } });
  expect(await backup(source, file)).toMatchObject({ outcome: "changing", passes: 3 });
  source.onRequest = () => {
    throw new Killed();
  };
  await expect(backup(source, file)).rejects.toThrow(Killed);
  expect(file.text).toBe("before");
});

test.each([
  { why: "cut off", change: (text: string) => text.split("\n").slice(0, -2).join("\n"), problem: "is missing" },
  {
    why: "without an object",
    change: (text: string) => text.replace(/\{"collection".*\n/, ""),
    problem: "says 2 objects",
  },
  { why: "of another format", change: () => '{"format":"other"}', problem: 'line 1 has the format "other"' },
  {
    why: "of a later version",
    change: (text: string) => text.replace('"version":1', '"version":2'),
    problem: "version 2",
  },
  { why: "empty", change: () => "", problem: "line 1 is not JSON" },
  { why: "with other text", change: (text: string) => `${text}x`, problem: "is not JSON" },
])("rejects a file that is $why, and writes nothing", async ({ change, problem }) => {
  const [source, target, file] = [new FakeStore("s", 1), new FakeStore("t", 1), new FakeFile()];
  fill(source, [
    [{ id: "a", partition: 0 }, 1],
    [{ id: "b", partition: 0 }, 2],
  ]);
  await backup(source, file);
  file.text = change(file.text ?? "");
  const restore = async (): Promise<unknown> =>
    copy((await openBackup(() => file.lines(), failAt)) as unknown as FakeStore, target);
  await expect(restore()).rejects.toThrow(problem);
  expect(target.contents).toEqual({});
});
