import type { KubeObject, Stored } from "@oaas/kube-core";
import type { Change, ChangeHandler } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import { OwnWrites } from "./own-writes.ts";

const KEY = { namespace: "shop", name: "order" };

function object(resourceVersion: string, uid = "u1"): Stored<KubeObject> {
  return { apiVersion: "v1", kind: "Thing", metadata: { ...KEY, uid, resourceVersion } };
}

/** A cache with one place, filled by hand. */
function cacheOf(first?: Stored<KubeObject>) {
  let cached = first;
  let handler: ChangeHandler<KubeObject> = () => undefined;
  const own = new OwnWrites<KubeObject>({
    get: () => cached,
    onChange: (given) => {
      handler = given;
      return () => undefined;
    },
  });
  const show = (next: Stored<KubeObject>): void => {
    const change = { type: "updated", object: next, previous: cached ?? next } satisfies Change<KubeObject>;
    cached = next;
    handler(change);
  };
  return { own, show, version: () => own.get(KEY)?.metadata.resourceVersion };
}

test("our own write is read until the cache shows it or something newer", () => {
  const { own, show, version } = cacheOf(object("9"));
  own.note(object("10"));
  expect(version()).toBe("10");
  show(object("9"));
  expect(version()).toBe("10");
  show(object("11"));
  expect(version()).toBe("11");
});

test.each([
  { why: "the watch was quicker than the answer", cached: object("12"), noted: object("11"), read: "12" },
  { why: "the object was made anew in between", cached: object("5", "u2"), noted: object("11"), read: "5" },
  { why: "versions that are no numbers cannot be compared", cached: object("a"), noted: object("b"), read: "a" },
  { why: "what is gone is gone", cached: undefined, noted: object("11"), read: undefined },
])("the cache is believed: $why", ({ cached, noted, read }) => {
  const { own, version } = cacheOf(cached);
  own.note(noted);
  expect(version()).toBe(read);
});
