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
  test("own: enqueues the object itself, also on deletion, and nothing after stop", async () => {
    const fixture = await setUp((informer) => own(informer));
    expect(await fixture.put({ name: "a" })).toEqual(["ns/a"]);
    expect(await fixture.remove("a")).toEqual(["ns/a"]);
    fixture.end();
    expect(await fixture.put({ name: "b" })).toEqual([]);
  });

  test("owned: enqueues owners of the kind in any version, namespaced or cluster-scoped", async () => {
    const refs = [ownerRef("apps/v1beta1", "Set", "s"), ownerRef("apps/v1", "Other", "o"), ownerRef("v1", "Set", "x")];
    const inside = await setUp((informer) => owned(informer, { group: "apps", kind: "Set" }));
    expect(await inside.put({ name: "a", ownerReferences: refs })).toEqual(["ns/s"]);
    const above = await setUp((informer) => owned(informer, { group: "apps", kind: "Set", namespaced: false }));
    expect(await above.put({ name: "a", ownerReferences: refs })).toEqual(["s"]);
  });

  test("mapped: maps the old and the new object of an update", async () => {
    const fixture = await setUp((informer) =>
      mapped(informer, ({ metadata }) => [{ namespace: "", name: metadata.labels?.["of"] ?? "none" }]),
    );
    await fixture.put({ name: "a", labels: { of: "x" } });
    expect(await fixture.put({ name: "a", labels: { of: "y" } })).toEqual(["y", "x"]);
  });
});

describe("predicates", () => {
  const base = { name: "a", uid: "u", generation: 1, labels: { a: "1" }, annotations: { a: "1" }, finalizers: ["f"] };
  test.each([
    { what: "nothing", change: {}, holds: [] as string[] },
    { what: "the spec", change: { generation: 2 }, holds: ["spec"] },
    { what: "deletion timestamp", change: { deletionTimestamp: "now" }, holds: ["spec"] },
    { what: "labels", change: { labels: { a: "2" } }, holds: ["labels"] },
    { what: "annotations", change: { annotations: {} }, holds: ["annotations"] },
    { what: "finalizers", change: { finalizers: [] }, holds: ["finalizers"] },
    {
      what: "object recreated under the same name",
      change: { uid: "v" },
      holds: ["spec", "labels", "annotations", "finalizers"],
    },
  ])("passes a change of $what", async ({ change, holds }) => {
    const all = {
      spec: specChanged,
      labels: labelsChanged,
      annotations: annotationsChanged,
      finalizers: finalizersChanged,
    };
    for (const [name, when] of Object.entries(all)) {
      const fixture = await setUp((informer) => own(informer, { when }));
      expect(await fixture.put(base)).toEqual(["ns/a"]);
      expect([name, (await fixture.put({ ...base, ...change })).length > 0]).toEqual([name, holds.includes(name)]);
      expect(await fixture.remove("a")).toEqual(["ns/a"]);
    }
  });

  test("combines predicates with any and all", async () => {
    const any = await setUp((informer) => own(informer, { when: anyOf(specChanged, labelsChanged) }));
    const all = await setUp((informer) => own(informer, { when: allOf(specChanged, labelsChanged) }));
    for (const fixture of [any, all]) await fixture.put(base);
    expect(await any.put({ ...base, generation: 2 })).toHaveLength(2);
    expect(await all.put({ ...base, generation: 2 })).toEqual([]);
  });
});
