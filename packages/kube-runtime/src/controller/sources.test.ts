import { virtualAmbient } from "@oaas/foundation/virtual";
import { formatObjectKey, type KubeObject, type OwnerReference } from "@oaas/kube-core";
import { describe, expect, test } from "vitest";
import { Informer } from "../cache/informer.ts";
import { fakeSource } from "../testing/fake-source.ts";
import { allOf, annotationsChanged, anyOf, finalizersChanged, labelsChanged, specChanged } from "./predicates.ts";
import { mapped, own, owned, type Source } from "./sources.ts";

async function setUp(makeSource: (informer: Informer<KubeObject>) => Source) {
  const ambient = virtualAmbient(8);
  const objects = fakeSource<KubeObject>();
  const informer = new Informer<KubeObject>({
    name: "things",
    source: objects,
    ambient,
    watch: { streamingList: false },
  });
  const keys: string[] = [];
  const end = makeSource(informer)((key) => keys.push(formatObjectKey(key)));
  informer.start();
  const put = async (metadata: KubeObject["metadata"]): Promise<string[]> => {
    objects.put({ apiVersion: "v1", kind: "Thing", metadata: { namespace: "ns", ...metadata } });
    await ambient.time.advance(1);
    return keys.splice(0);
  };
  const remove = async (name: string): Promise<string[]> => {
    objects.remove(name);
    await ambient.time.advance(1);
    return keys.splice(0);
  };
  return { put, remove, end };
}

const ownerRef = (apiVersion: string, kind: string, name: string): OwnerReference => ({
  apiVersion,
  kind,
  name,
  uid: name,
});

describe("sources", () => {
  test("own: the object itself, also when it goes; nothing after the end", async () => {
    const world = await setUp((informer) => own(informer));
    expect(await world.put({ name: "a" })).toEqual(["ns/a"]);
    expect(await world.remove("a")).toEqual(["ns/a"]);
    world.end();
    expect(await world.put({ name: "b" })).toEqual([]);
  });

  test("owned: owners of the kind in any version, in the child's namespace or in none", async () => {
    const refs = [ownerRef("apps/v1beta1", "Set", "s"), ownerRef("apps/v1", "Other", "o"), ownerRef("v1", "Set", "x")];
    const inside = await setUp((informer) => owned(informer, { group: "apps", kind: "Set" }));
    expect(await inside.put({ name: "a", ownerReferences: refs })).toEqual(["ns/s"]);
    const above = await setUp((informer) => owned(informer, { group: "apps", kind: "Set", namespaced: false }));
    expect(await above.put({ name: "a", ownerReferences: refs })).toEqual(["s"]);
  });

  test("mapped: an update concerns what it was and what it is", async () => {
    const world = await setUp((informer) =>
      mapped(informer, ({ metadata }) => [{ namespace: "", name: metadata.labels?.["of"] ?? "none" }]),
    );
    await world.put({ name: "a", labels: { of: "x" } });
    expect(await world.put({ name: "a", labels: { of: "y" } })).toEqual(["y", "x"]);
  });
});

describe("predicates", () => {
  const base = { name: "a", uid: "u", generation: 1, labels: { a: "1" }, annotations: { a: "1" }, finalizers: ["f"] };
  test.each([
    { what: "nothing", change: {}, holds: [] as string[] },
    { what: "the spec", change: { generation: 2 }, holds: ["spec"] },
    { what: "the wish to go", change: { deletionTimestamp: "now" }, holds: ["spec"] },
    { what: "labels", change: { labels: { a: "2" } }, holds: ["labels"] },
    { what: "annotations", change: { annotations: {} }, holds: ["annotations"] },
    { what: "finalizers", change: { finalizers: [] }, holds: ["finalizers"] },
    {
      what: "the object itself, under the same name",
      change: { uid: "v" },
      holds: ["spec", "labels", "annotations", "finalizers"],
    },
  ])("a change of $what", async ({ change, holds }) => {
    const all = {
      spec: specChanged,
      labels: labelsChanged,
      annotations: annotationsChanged,
      finalizers: finalizersChanged,
    };
    for (const [name, when] of Object.entries(all)) {
      const world = await setUp((informer) => own(informer, { when }));
      expect(await world.put(base)).toEqual(["ns/a"]);
      expect([name, (await world.put({ ...base, ...change })).length > 0]).toEqual([name, holds.includes(name)]);
      expect(await world.remove("a")).toEqual(["ns/a"]);
    }
  });

  test("any and all", async () => {
    const any = await setUp((informer) => own(informer, { when: anyOf(specChanged, labelsChanged) }));
    const all = await setUp((informer) => own(informer, { when: allOf(specChanged, labelsChanged) }));
    for (const world of [any, all]) await world.put(base);
    expect(await any.put({ ...base, generation: 2 })).toHaveLength(2);
    expect(await all.put({ ...base, generation: 2 })).toEqual([]);
  });
});
