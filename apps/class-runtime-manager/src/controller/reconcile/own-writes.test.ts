import type { KubeObject, Stored } from "@oaas/kube-core";
import type { Change, ChangeHandler } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import { OwnWrites } from "./own-writes.ts";

const KEY = { namespace: "shop", name: "order" };

function object(resourceVersion: string, uid = "u1"): Stored<KubeObject> {
  return { apiVersion: "v1", kind: "Thing", metadata: { ...KEY, uid, resourceVersion } };
}

/** A cache of one object that the test controls. */
function cacheOf(first?: Stored<KubeObject>) {
  let cached = first;
  let handler: ChangeHandler<KubeObject> = () => undefined;
  const own = new OwnWrites<KubeObject>({
    get: () => cached,
    onChange: (listener) => {
      handler = listener;
      return () => undefined;
    },
  });
  const update = (next: Stored<KubeObject>): void => {
    const change = { type: "updated", object: next, previous: cached ?? next } satisfies Change<KubeObject>;
    cached = next;
    handler(change);
  };
  return { own, update, version: () => own.get(KEY)?.metadata.resourceVersion };
}

test("returns our write until the cache has it or a newer version", () => {
  const { own, update, version } = cacheOf(object("9"));
  own.record(object("10"));
  expect(version()).toBe("10");
  update(object("9"));
  expect(version()).toBe("10");
  update(object("11"));
  expect(version()).toBe("11");
});

test.each([
  { case: "the watch event arrived before the response", cached: object("12"), recorded: object("11"), expected: "12" },
  { case: "the object was recreated", cached: object("5", "u2"), recorded: object("11"), expected: "5" },
  { case: "versions are not numeric", cached: object("a"), recorded: object("b"), expected: "a" },
  { case: "the object was deleted", cached: undefined, recorded: object("11"), expected: undefined },
])("returns the cached object when $case", ({ cached, recorded, expected }) => {
  const { own, version } = cacheOf(cached);
  own.record(recorded);
  expect(version()).toBe(expected);
});
