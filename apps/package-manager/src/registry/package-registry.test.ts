import { packageFromWire } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClassDeployment, Package, PackageName } from "@oaas/models";
import { openMemoryStore } from "@oaas/storage/memory";
import type { KeyValueStore } from "@oaas/storage";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PackageRegistry } from "./package-registry.ts";

const ambient = virtualAmbient(1);
const call = { caller: "ann", correlationId: "c-1" };
let store: KeyValueStore;
let registry: PackageRegistry;
let deployed: Map<string, string[]>;
let scheduled: ClassDeployment[];
let inUse: Set<number>;
let kept: number;

beforeEach(async () => {
  store = openMemoryStore({ ambient });
  deployed = new Map();
  scheduled = [];
  inUse = new Set();
  kept = 50;
  registry = new PackageRegistry({
    store,
    ambient,
    get revisionsKept() {
      return kept;
    },
    deployments: {
      keysOf: async (name) => deployed.get(name) ?? [],
      revisionsInUse: () => inUse,
      removeAll: async (name) => {
        deployed.delete(name);
        await registry.forget(name);
        return "deleted";
      },
      schedule: async (deployment) => {
        if (deployment.key === "rejected") throw new Fault({ kind: "failed-precondition", subject: "x" }, "no cluster");
        scheduled.push(deployment);
      },
    },
  });
  await registry.start();
});
afterEach(async () => {
  await registry.close();
  await store.close();
});

const name = (text: string): PackageName => text as PackageName;

function packageOf(wire: Record<string, unknown>): Package {
  const read = packageFromWire({
    classes: [
      { key: "Record", function_bindings: [{ name: "echo", function_key: "echo", access_modifier: "PUBLIC" }] },
    ],
    functions: [{ key: "echo", provision_config: { container_image: "ghcr.io/oaas/echo:1" } }],
    ...wire,
  });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  return read.value;
}

describe("registering", () => {
  test("keeps the first revision with author, reason, times and digest", async () => {
    const ack = await registry.register(packageOf({ name: "a" }), { ...call, reason: "first" });
    expect(ack).toMatchObject({ id: "a", status: "created" });
    const { value, version } = await registry.get(name("a"));
    expect(version).toBe(ack.version);
    expect(value).toMatchObject({ revision: 1 });
    expect(JSON.parse(value.json)).toMatchObject({ name: "a", metadata: { created_at: expect.any(String) } });
    expect(await registry.revision(name("a"), 1)).toMatchObject({
      author: "ann",
      reason: "first",
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
  });

  test("rejects a registered name and changes nothing", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    await expect(registry.register(packageOf({ name: "a", version: "2" }), call)).rejects.toMatchObject({
      kind: "already-exists",
    });
    expect((await registry.get(name("a"))).value.revision).toBe(1);
  });

  test("accepts exactly one of many concurrent registrations of a name", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 16 }, (_, index) =>
        registry.register(packageOf({ name: "a", version: String(index) }), call),
      ),
    );
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("reports all violations, each with its path", async () => {
    const binding = { access_modifier: "PUBLIC" };
    const wrong = packageOf({
      name: "a",
      classes: [
        { key: "C", function_bindings: [{ ...binding, name: "x", function_key: "nope" }] },
        {
          key: "C",
          function_bindings: [
            { ...binding, name: "y", function_key: "echo" },
            { ...binding, name: "y", function_key: "echo" },
          ],
        },
      ],
      functions: [{ key: "echo" }, { key: "echo" }],
      dependencies: ["a", "missing", "missing"],
      deployments: [
        { key: "d", class_key: "D", package_name: "b", functions: [{ function_key: "zzz" }] },
        { key: "d", class_key: "C" },
      ],
    });
    const thrown = await registry.register(wrong, call).catch((fault: unknown) => fault as Fault);
    expect((thrown as Fault).detail).toMatchObject({ kind: "invalid-argument" });
    const { violations } = (thrown as Fault).detail as unknown as { violations: { path: string }[] };
    expect(violations.map(({ path }) => path).sort()).toEqual([
      "$.classes[0].function_bindings[0].function_key",
      "$.classes[1].function_bindings[1].name",
      "$.classes[1].key",
      "$.dependencies[0]",
      "$.dependencies[1]",
      "$.dependencies[2]",
      "$.dependencies[2]",
      "$.deployments[0].class_key",
      "$.deployments[0].functions[0].function_key",
      "$.deployments[0].package_name",
      "$.deployments[1].key",
      "$.functions[1].key",
    ]);
    expect((await registry.list({})).total).toBe(0);
  });

  test("rejects a package larger than the store limit and accepts one at the limit", async () => {
    const sized = (characters: number) => {
      const tags = Array.from({ length: Math.floor(characters / 40_000) }, () => "ä".repeat(40_000));
      return packageOf({ name: "a", metadata: { tags, description: "ä".repeat(characters % 40_000) } });
    };
    await expect(registry.register(sized(400_000), call)).rejects.toMatchObject({
      kind: "invalid-argument",
      message: expect.stringMatching(
        /^package "a" is invalid: \$: takes 800\d+ bytes in the store; the limit is 638976/,
      ),
    });
    await expect(registry.preview(sized(400_000))).rejects.toMatchObject({ kind: "invalid-argument" });
    await expect(registry.register(sized(319_000), call)).resolves.toMatchObject({ status: "created" });
  });

  test("schedules embedded deployments on request and reports the rejected ones", async () => {
    const wire = {
      name: "a",
      deployments: [
        { key: "d", class_key: "Record" },
        { key: "rejected", class_key: "Record" },
      ],
    };
    const ack = await registry.register(packageOf(wire), call, { applyDeployments: true });
    expect(ack.message).toBe('1 of 2 deployments scheduled; not scheduled: "rejected": no cluster');
    expect(scheduled).toMatchObject([{ key: "d", packageName: "a" }]);
  });
});

describe("updating", () => {
  test("creates a new revision only for new content", async () => {
    expect(await registry.nextRevision(packageOf({ name: "a" }))).toBe(1);
    await registry.register(packageOf({ name: "a" }), call);
    expect(await registry.nextRevision(packageOf({ name: "a" }))).toBe(1);
    expect(await registry.nextRevision(packageOf({ name: "a", version: "2" }))).toBe(2);
    expect(await registry.update(name("a"), packageOf({ name: "a" }), call)).toMatchObject({ status: "unchanged" });
    expect(await registry.update(name("a"), packageOf({ name: "a", version: "2" }), call)).toMatchObject({
      status: "updated",
    });
    expect((await registry.revisions(name("a"), {})).items.map(({ revision }) => revision)).toEqual([2, 1]);
    expect(await registry.diff(name("a"))).toEqual({
      from: 1,
      to: 2,
      changes: [{ path: "$.version", change: "changed", before: null, after: "2" }],
    });
  });

  test("fails for an outdated version, and for a name that differs from the path", async () => {
    const { version } = await registry.register(packageOf({ name: "a" }), call);
    await registry.update(name("a"), packageOf({ name: "a", version: "2" }), call, {
      ifVersion: { oneOf: [version as number] },
    });
    await expect(
      registry.update(name("a"), packageOf({ name: "a", version: "3" }), call, {
        ifVersion: { oneOf: [version as number] },
      }),
    ).rejects.toMatchObject({ code: "OAAS_VERSION_MISMATCH" });
    await expect(registry.update(name("b"), packageOf({ name: "a" }), call)).rejects.toMatchObject({
      detail: { violations: [{ path: "$.name" }] },
    });
    await expect(registry.update(name("c"), packageOf({ name: "c" }), call)).rejects.toMatchObject({
      kind: "not-found",
    });
  });

  test("rolls back as a new revision", async () => {
    await registry.register(packageOf({ name: "a", version: "1" }), call);
    await registry.update(name("a"), packageOf({ name: "a", version: "2" }), call);
    await registry.rollBack(name("a"), 1, call);
    const { value } = await registry.get(name("a"));
    expect(value).toMatchObject({ revision: 3, package: { version: "1" } });
    expect(await registry.revision(name("a"), 3)).toMatchObject({ reason: "rolled back to revision 1" });
    await expect(registry.rollBack(name("a"), 9, call)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("pages of revisions, newest first", async () => {
    await registry.register(packageOf({ name: "a", version: "1" }), call);
    for (const version of ["2", "3", "4", "5"])
      await registry.update(name("a"), packageOf({ name: "a", version }), call);
    const first = await registry.revisions(name("a"), { limit: 2 });
    expect(first).toMatchObject({ total: 5, items: [{ revision: 5 }, { revision: 4 }] });
    const second = await registry.revisions(name("a"), { limit: 3, pageToken: first.next as string });
    expect(second.items.map(({ revision }) => revision)).toEqual([3, 2, 1]);
    expect(second.next).toBeUndefined();
  });
});

describe("retention", () => {
  beforeEach(() => {
    kept = 4;
  });
  const write = async (count: number): Promise<void> => {
    for (let at = 0; at < count; at += 1) {
      const { revision } = (await registry.get(name("a"))).value;
      await registry.update(name("a"), packageOf({ name: "a", version: `v${revision + 1}` }), call);
    }
  };
  const storedNumbers = async (): Promise<number[]> =>
    (await store.range({ prefix: "c/package-revisions/a/" })).entries.map(({ key }) => Number(key.slice(-10)));

  test("removes the oldest revision in the write that exceeds the limit, and says so", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    await write(3);
    expect(await storedNumbers()).toEqual([1, 2, 3, 4]);
    await write(2);
    expect(await storedNumbers()).toEqual([3, 4, 5, 6]);
    const page = await registry.revisions(name("a"), {});
    expect(page.items.map(({ revision }) => revision)).toEqual([6, 5, 4, 3]);
    expect(page.total).toBe(4);
    expect(page.next).toBeUndefined();
    const removed = 'revision 2 of package "a" was removed; the oldest is 3 (PACKAGE_REVISIONS_KEEP)';
    await expect(registry.revision(name("a"), 2)).rejects.toThrow(removed);
    await expect(registry.diff(name("a"), 2)).rejects.toThrow(removed);
    await expect(registry.rollBack(name("a"), 2, call)).rejects.toThrow(removed);
    await expect(registry.revision(name("a"), 9)).rejects.toThrow('package revision "a 9" was not found');
    expect((await registry.rollBack(name("a"), 3, call)).status).toBe("updated");
  });

  test("keeps the revisions that deployments run, until they run another one", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    inUse = new Set([2]);
    await write(7);
    expect(await storedNumbers()).toEqual([2, 5, 6, 7, 8]);
    const page = await registry.revisions(name("a"), { limit: 4 });
    expect(page).toMatchObject({ total: 5, next: "2" });
    expect((await registry.revisions(name("a"), { pageToken: page.next! })).items).toMatchObject([{ revision: 2 }]);
    expect((await registry.revision(name("a"), 2)).package.version).toBe("v2");
    inUse = new Set([8]);
    await write(1);
    expect(await storedNumbers()).toEqual([6, 7, 8, 9]);
  });

  test("prunes the history of an earlier release a few revisions per write", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    const other = new PackageRegistry({
      store,
      ambient,
      revisionsKept: 100,
      deployments: {
        keysOf: async () => [],
        removeAll: async () => "deleted",
        schedule: async () => 0,
        revisionsInUse: () => inUse,
      },
    });
    await other.start();
    for (let at = 2; at <= 14; at += 1)
      await other.update(name("a"), packageOf({ name: "a", version: `v${at}` }), call);
    await other.close();
    expect(await storedNumbers()).toHaveLength(14);
    await write(1);
    expect(await storedNumbers()).toEqual([6, 7, 8, 9, 10, 11, 12, 13, 14, 15]);
    await write(2);
    expect(await storedNumbers()).toEqual([14, 15, 16, 17]);
  });
});

describe("dependencies", () => {
  test("rejects a cycle with its path, also when two writers close it concurrently", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    await registry.register(packageOf({ name: "b", dependencies: ["a"] }), call);
    await registry.register(packageOf({ name: "c", dependencies: ["b"] }), call);
    await expect(registry.update(name("a"), packageOf({ name: "a", dependencies: ["c"] }), call)).rejects.toMatchObject(
      {
        detail: { violations: [{ message: expect.stringContaining("a → c → b → a") }] },
      },
    );
    await registry.register(packageOf({ name: "x" }), call);
    await registry.register(packageOf({ name: "y" }), call);
    const both = await Promise.allSettled([
      registry.update(name("x"), packageOf({ name: "x", dependencies: ["y"] }), call),
      registry.update(name("y"), packageOf({ name: "y", dependencies: ["x"] }), call),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("rejects the removal of a dependency, also under concurrency", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    const both = await Promise.allSettled([
      registry.register(packageOf({ name: "b", dependencies: ["a"] }), call),
      registry.remove(name("a"), call),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await registry.register(packageOf({ name: "c" }), call).catch(() => undefined);
    await registry.register(packageOf({ name: "d", dependencies: ["c"] }), call);
    await expect(registry.remove(name("c"), call)).rejects.toMatchObject({
      kind: "failed-precondition",
      message: expect.stringContaining('"d"'),
    });
  });
});

describe("removing", () => {
  test("fails while there are deployments, unless cascading", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    deployed.set("a", ["one", "two"]);
    await expect(registry.remove(name("a"), call)).rejects.toMatchObject({
      kind: "failed-precondition",
      message: expect.stringContaining('"one", "two"'),
    });
    expect(await registry.remove(name("a"), call, { cascade: true })).toBe("deleted");
    await expect(registry.get(name("a"))).rejects.toMatchObject({ kind: "not-found" });
  });

  test("removes the revisions too; the name starts again at revision 1", async () => {
    await registry.register(packageOf({ name: "a", version: "1" }), call);
    await registry.update(name("a"), packageOf({ name: "a", version: "2" }), call);
    await registry.remove(name("a"), call);
    await registry.register(packageOf({ name: "a", version: "3" }), call);
    expect((await registry.revisions(name("a"), {})).items).toMatchObject([{ revision: 1 }]);
    await expect(registry.revision(name("a"), 2)).rejects.toMatchObject({ kind: "not-found" });
  });

  test("keeps the whole history of a name that is registered again during its removal", async () => {
    await registry.register(packageOf({ name: "a", version: "0" }), call);
    for (let version = 1; version < 20; version += 1)
      await registry.update(name("a"), packageOf({ name: "a", version: String(version) }), call);
    const removal = registry.remove(name("a"), call);
    const again = (): Promise<unknown> =>
      registry.register(packageOf({ name: "a", version: "new" }), call).catch(again);
    await again();
    for (const version of ["newer", "newest"])
      await registry.update(name("a"), packageOf({ name: "a", version }), call);
    expect(await removal).toBe("deleted");
    expect((await registry.revisions(name("a"), {})).items.map(({ revision }) => revision)).toEqual([3, 2, 1]);
  });

  test("keeps a package that is referenced between read and removal", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    const { stage } = await registry.use(name("a"), "deployment d");
    await Promise.all([
      store.commit({ conditions: stage.conditions ?? [], writes: stage.writes }).then(() => deployed.set("a", ["d"])),
      expect(registry.remove(name("a"), call)).rejects.toMatchObject({ kind: "failed-precondition" }),
    ]);
  });
});

describe("lists", () => {
  test("end a page at its size in bytes, and continue with its token", async () => {
    const description = "x".repeat(65_000);
    const classes = Array.from({ length: 7 }, (_, at) => ({ key: `C${at}`, description }));
    for (let at = 0; at < 12; at += 1) await registry.register(packageOf({ name: `big-${at}`, classes }), call);
    type List = (query: { limit: number; pageToken?: string }) => Promise<{ items: readonly unknown[]; next?: string }>;
    const lists: [List, number][] = [
      [(query) => registry.list(query), 12],
      [(query) => registry.classes(query), 84],
    ];
    for (const [list, total] of lists) {
      const first = await list({ limit: 100 });
      expect(first.items.length).toBeLessThan(total);
      expect(first.items.length).toBeGreaterThan(5);
      const second = await list({ limit: 100, pageToken: first.next! });
      expect(first.items.length + second.items.length).toBe(total);
      expect(second.next).toBeUndefined();
    }
  });

  test("filter by part of the name, pattern, tags and disabled; sort; page", async () => {
    for (const [id, tags, disabled] of [
      ["shop.cart", ["web", "eu"], false],
      ["shop.order", ["web"], false],
      ["audit", ["eu"], true],
    ] as const) {
      await registry.register(packageOf({ name: id, metadata: { tags }, disabled }), call);
      await ambient.time.advance(1000);
    }
    const names = async (query: Parameters<typeof registry.list>[0]): Promise<string> =>
      (await registry.list(query)).items.map(({ package: { name: each } }) => each).join(" ");
    expect(await names({})).toBe("audit shop.cart shop.order");
    expect(await names({ namePattern: "hop" })).toBe("shop.cart shop.order");
    expect(await names({ namePattern: "shop.*r*" })).toBe("shop.cart shop.order");
    expect(await names({ namePattern: "*t" })).toBe("audit shop.cart");
    expect(await names({ tags: ["eu", "web"] })).toBe("shop.cart");
    expect(await names({ disabled: true })).toBe("audit");
    expect(await names({ sort: "-created_at" })).toBe("audit shop.order shop.cart");
    const first = await registry.list({ limit: 2 });
    expect(first).toMatchObject({ total: 3 });
    expect(await names({ limit: 2, pageToken: first.next as string })).toBe("shop.order");
    expect(await names({ limit: 1, offset: 2 })).toBe("shop.order");
    expect(await registry.list({ limit: 0 }), "limit 0 returns the count").toEqual({ items: [], total: 3 });
  });

  test("all classes are returned, independent of the page size", async () => {
    const classes = Array.from({ length: 120 }, (_, index) => ({ key: `C${index}`, function_bindings: [] }));
    await registry.register(packageOf({ name: "many", classes }), call);
    expect((await registry.classes({})).items).toHaveLength(100);
    expect(registry.allClasses().map(({ key }) => key)).toHaveLength(120);
    expect(registry.allClasses()[0]?.key).toBe("many.C0");
  });

  test("the catalogue names classes with their package and follows changes", async () => {
    await registry.register(packageOf({ name: "a" }), call);
    await registry.register(packageOf({ name: "b" }), call);
    const keys = async (): Promise<string[]> => (await registry.classes({})).items.map(({ key }) => key);
    expect(await keys()).toEqual(["a.Record", "b.Record"]);
    expect((await registry.functions({ filter: "ech" })).total).toBe(2);
    await registry.remove(name("a"), call);
    expect(await keys()).toEqual(["b.Record"]);
    expect((await registry.classes({ filter: "nothing" })).items).toEqual([]);
  });
});
