import { formatObjectKey, keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ObjectStore, type Change } from "./store.ts";

type Thing = KubeObject & { readonly colours: readonly string[] };

const thing = fc
  .record({
    namespace: fc.constantFrom("", "a", "b"),
    name: fc.constantFrom("x", "y", "z"),
    version: fc.nat(4),
    colours: fc.uniqueArray(fc.constantFrom("red", "green", "blue")),
  })
  .map(({ namespace, name, version, colours }): Stored<Thing> => ({
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name, uid: name, resourceVersion: String(version), ...(namespace === "" ? {} : { namespace }) },
    // The same version is the same object.
    colours: version === 0 ? ["red"] : colours.slice(0, version),
  }));
const step = fc.oneof(
  fc.record({ do: fc.constant("put" as const), object: thing }),
  fc.record({ do: fc.constant("remove" as const), object: thing }),
  fc.record({
    do: fc.constant("replace" as const),
    objects: fc.uniqueArray(thing, { selector: (object) => formatObjectKey(keyOf(object)) }),
  }),
);

/** The objects according to a handler that only receives changes. */
function follow(seen: Map<string, Stored<Thing>>, changes: readonly (Change<Thing> | undefined)[]): void {
  for (const change of changes) {
    if (!change) continue;
    const key = formatObjectKey(keyOf(change.object));
    if (change.type === "added") expect(seen.has(key)).toBe(false);
    else expect(seen.has(key)).toBe(true);
    if (change.type === "updated") expect(change.previous).toBe(seen.get(key));
    if (change.type === "deleted") seen.delete(key);
    else seen.set(key, change.object);
  }
}

test("matches a map, its indexes a full search, and its changes suffice to follow it", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const store = new ObjectStore<Thing, "colour">({ colour: ({ colours }) => colours });
      const model = new Map<string, Stored<Thing>>();
      const seen = new Map<string, Stored<Thing>>();
      const put = (object: Stored<Thing>): void => {
        const key = formatObjectKey(keyOf(object));
        if (model.get(key)?.metadata.resourceVersion !== object.metadata.resourceVersion) model.set(key, object);
      };
      for (const action of steps) {
        if (action.do === "put") {
          follow(seen, [store.put(action.object)]);
          put(action.object);
        } else if (action.do === "remove") {
          follow(seen, [store.remove(keyOf(action.object))]);
          model.delete(formatObjectKey(keyOf(action.object)));
        } else {
          follow(seen, store.replace(action.objects));
          const kept = new Set(action.objects.map((object) => formatObjectKey(keyOf(object))));
          for (const key of model.keys()) if (!kept.has(key)) model.delete(key);
          for (const object of action.objects) put(object);
        }
        const all = new Set(model.values());
        expect(new Set(store.list())).toEqual(all);
        expect(new Map(seen)).toEqual(new Map(model));
        expect(store.size).toBe(model.size);
        for (const colour of ["red", "green", "blue"]) {
          const expected = [...all].filter((object) => object.colours.includes(colour));
          expect(new Set(store.byIndex("colour", colour))).toEqual(new Set(expected));
        }
        for (const namespace of ["", "a", "b"]) {
          const expected = [...all].filter((object) => (object.metadata.namespace ?? "") === namespace);
          expect(new Set(store.list(namespace))).toEqual(new Set(expected));
        }
      }
    }),
  );
});

test("accepts a list longer than the argument limit of a call", () => {
  const many = Array.from({ length: 200_000 }, (_, index): Stored<Thing> => ({
    apiVersion: "v1",
    kind: "Thing",
    metadata: { name: `t${index}`, uid: `t${index}`, resourceVersion: "1" },
    colours: [],
  }));
  const store = new ObjectStore<Thing>({});
  expect(store.replace(many)).toHaveLength(many.length);
  expect(store.replace([])).toHaveLength(many.length);
});
