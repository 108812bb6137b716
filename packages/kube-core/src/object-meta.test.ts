import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  annotationOf,
  conditionOf,
  formatObjectKey,
  hasFinalizer,
  isBeingDeleted,
  isObserved,
  keyOf,
  labelOf,
  LAST_APPLIED_ANNOTATION,
  parseObjectKey,
  refOf,
  trimObject,
  type ObjectMeta,
} from "./object-meta.ts";

describe("keys", () => {
  test.each([
    { text: "a/b", key: { namespace: "a", name: "b" }, case: "in a namespace" },
    { text: "b", key: { namespace: "", name: "b" }, case: "cluster scope" },
    { text: "b:c.d", key: { namespace: "", name: "b:c.d" }, case: "role name with colons" },
  ])("$text: $case", ({ text, key }) => {
    expect(parseObjectKey(text)).toEqual({ ok: true, value: key });
    expect(formatObjectKey(key)).toBe(text);
  });

  test.each(["", "/", "a/", "/b", "a/b/c"])("refuses %j", (text) => {
    expect(parseObjectKey(text).ok).toBe(false);
  });

  test("parse and format are inverse", () => {
    const name = fc.string({ minLength: 1 }).filter((text) => !text.includes("/"));
    fc.assert(
      fc.property(fc.oneof(name, fc.constant("")), name, (namespace, name) => {
        expect(parseObjectKey(formatObjectKey({ namespace, name }))).toEqual({ ok: true, value: { namespace, name } });
      }),
    );
  });

  test("returns key and reference of an object", () => {
    const object = { apiVersion: "v1", kind: "Pod", metadata: { namespace: "a", name: "b", uid: "u" } };
    expect(keyOf(object)).toEqual({ namespace: "a", name: "b" });
    expect(keyOf({ metadata: { generateName: "b-" } })).toEqual({ namespace: "", name: "" });
    expect(refOf(object)).toEqual({ apiVersion: "v1", kind: "Pod", namespace: "a", name: "b", uid: "u" });
    expect(refOf({ apiVersion: "v1", kind: "Node", metadata: { name: "n" } })).toEqual({
      apiVersion: "v1",
      kind: "Node",
      name: "n",
    });
  });
});

describe("metadata checks", () => {
  const metadata: ObjectMeta = { labels: { a: "1" }, annotations: { b: "" }, finalizers: ["f"] };

  test("finds only own labels and annotations", () => {
    expect(labelOf({ metadata }, "a")).toBe("1");
    expect(labelOf({ metadata }, "constructor")).toBeUndefined();
    expect(labelOf({ metadata: {} }, "a")).toBeUndefined();
    expect(annotationOf({ metadata }, "b")).toBe("");
    expect(annotationOf({ metadata }, "__proto__")).toBeUndefined();
  });

  test("detects deletion and finalizers", () => {
    expect(isBeingDeleted({ metadata })).toBe(false);
    expect(isBeingDeleted({ metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } })).toBe(true);
    expect([
      hasFinalizer({ metadata }, "f"),
      hasFinalizer({ metadata }, "g"),
      hasFinalizer({ metadata: {} }, "f"),
    ]).toEqual([true, false, false]);
  });

  test.each([
    { object: { metadata: { generation: 2 }, status: { observedGeneration: 2 } }, observed: true, case: "observed" },
    {
      object: { metadata: { generation: 2 }, status: { observedGeneration: 1 } },
      observed: false,
      case: "an older generation was observed",
    },
    { object: { metadata: { generation: 1 } }, observed: false, case: "no status yet" },
    { object: { metadata: {} }, observed: true, case: "kind without generations" },
  ])("checks the observed generation: $case", ({ object, observed }) => {
    expect(isObserved(object)).toBe(observed);
  });

  test("finds conditions by type", () => {
    const ready = {
      type: "Ready",
      status: "True",
      lastTransitionTime: "2026-01-01T00:00:00Z",
      reason: "Up",
      message: "",
    } as const;
    expect(conditionOf({ status: { conditions: [ready] } }, "Ready")).toBe(ready);
    expect(conditionOf({ status: { conditions: [ready] } }, "Other")).toBeUndefined();
    expect(conditionOf({}, "Ready")).toBeUndefined();
  });
});

describe("trimming", () => {
  test.each([
    { metadata: { name: "a", managedFields: [{}] }, want: { name: "a" }, case: "managed fields are removed" },
    {
      metadata: { name: "a", annotations: { [LAST_APPLIED_ANNOTATION]: "{}", b: "c" } },
      want: { name: "a", annotations: { b: "c" } },
      case: "other annotations stay",
    },
    {
      metadata: { name: "a", managedFields: [{}], annotations: { [LAST_APPLIED_ANNOTATION]: "{}" } },
      want: { name: "a" },
      case: "empty annotations are removed",
    },
  ])("$case", ({ metadata, want }) => {
    const object = Object.freeze({ metadata: Object.freeze(metadata), spec: {} });
    const before = structuredClone(object);
    const small = trimObject<{ metadata: ObjectMeta; spec: object }>(object);
    expect(small).toEqual({ metadata: want, spec: {} });
    expect(small.spec).toBe(object.spec);
    expect(object).toEqual(before);
  });

  test("returns the same object when nothing is removed", () => {
    const object = { metadata: { name: "a", annotations: { b: "c" } } };
    expect(trimObject(object)).toBe(object);
  });
});
