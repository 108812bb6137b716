import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { KubeObject, ObjectMeta, OwnerReference, Stored } from "./object-meta.ts";
import { controllerOf, isControlledBy, isOwnedBy, ownerReferenceTo, withoutOwner, withOwner } from "./owner-ref.ts";

function owner(uid: string, changes: Partial<ObjectMeta> = {}): Stored<KubeObject> {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `owner-${uid}`, uid, resourceVersion: "1", namespace: "a", ...changes },
  };
}

function child(...ownerReferences: OwnerReference[]): { readonly metadata: ObjectMeta } {
  return { metadata: { name: "child", namespace: "a", ...(ownerReferences.length === 0 ? {} : { ownerReferences }) } };
}

function owned(object: { readonly metadata: ObjectMeta }, by: Stored<KubeObject>): { readonly metadata: ObjectMeta } {
  const result = withOwner(object, by);
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}

test("sets controller and blockOwnerDeletion by default", () => {
  expect(ownerReferenceTo(owner("1"))).toEqual({
    apiVersion: "apps/v1",
    kind: "Deployment",
    name: "owner-1",
    uid: "1",
    controller: true,
    blockOwnerDeletion: true,
  });
  expect(ownerReferenceTo(owner("1"), { controller: false, blockOwnerDeletion: false })).toMatchObject({
    controller: false,
    blockOwnerDeletion: false,
  });
});

describe("checks", () => {
  const object = child(ownerReferenceTo(owner("1"), { controller: false }), ownerReferenceTo(owner("2")));
  test("finds the controller and the owners", () => {
    expect(controllerOf(object)?.uid).toBe("2");
    expect(controllerOf(child())).toBeUndefined();
    expect([isOwnedBy(object, "1"), isOwnedBy(object, "2"), isOwnedBy(object, "3"), isOwnedBy(child(), "1")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect([isControlledBy(object, "1"), isControlledBy(object, "2")]).toEqual([false, true]);
  });
});

describe("adding", () => {
  const one = ownerReferenceTo(owner("1"));
  test.each([
    { before: [], after: ["1"], case: "first owner" },
    { before: [one], after: ["1"], case: "same owner again" },
    { before: [{ ...one, uid: "0" }], after: ["1"], case: "recreated owner" },
    {
      before: [{ ...one, apiVersion: "apps/v1beta1", uid: "0" }],
      after: ["1"],
      case: "another version of the same group",
    },
    {
      before: [
        { ...one, uid: "0" },
        { ...one, controller: false },
      ],
      after: ["1"],
      case: "named twice",
    },
    {
      before: [{ ...one, apiVersion: "other/v1", uid: "0", controller: false }],
      after: ["0", "1"],
      case: "another group is another owner",
    },
  ])("$case", ({ before, after }) => {
    const object = Object.freeze(child(...before));
    const result = owned(object, owner("1"));
    expect(result.metadata.ownerReferences?.map((reference) => reference.uid)).toEqual(after);
    expect(object.metadata.ownerReferences ?? []).toEqual(before);
  });

  test("rejects a second controller and allows a second owner", () => {
    const object = child(ownerReferenceTo(owner("2")));
    expect(withOwner(object, owner("1"))).toMatchObject({
      ok: false,
      error: {
        path: "$.metadata.ownerReferences[0]",
        message: 'the object is already managed by Deployment "owner-2"',
      },
    });
    expect(withOwner(object, owner("1"), { controller: false }).ok).toBe(true);
  });

  test.each([
    { ownerNamespace: "b", namespace: "a", allowed: false, case: "across namespaces" },
    {
      ownerNamespace: "b",
      namespace: undefined,
      allowed: false,
      case: "cluster-scoped object with a namespaced owner",
    },
    { ownerNamespace: undefined, namespace: "a", allowed: true, case: "cluster-scoped owner" },
  ])("namespaces: $case", ({ ownerNamespace, namespace, allowed }) => {
    const { namespace: _, ...metadata } = owner("1").metadata;
    const by = {
      ...owner("1"),
      metadata: ownerNamespace === undefined ? metadata : { ...metadata, namespace: ownerNamespace },
    };
    expect(withOwner({ metadata: namespace === undefined ? {} : { namespace } }, by).ok).toBe(allowed);
  });
});

test("removing", () => {
  const object = child(ownerReferenceTo(owner("1")), ownerReferenceTo(owner("2"), { controller: false }));
  expect(withoutOwner(object, "1").metadata.ownerReferences?.map((reference) => reference.uid)).toEqual(["2"]);
  expect(withoutOwner(withoutOwner(object, "1"), "2").metadata).toEqual({ name: "child", namespace: "a" });
  expect(withoutOwner(object, "3")).toBe(object);
});

test("adds owners idempotently, removes them again, and keeps at most one controller", () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(9), { maxLength: 5 }), fc.nat(9), (others, added) => {
      const before = child(...others.map((uid) => ownerReferenceTo(owner(String(uid)), { controller: false })));
      const once = owned(before, owner(String(added)));
      expect(owned(once, owner(String(added)))).toEqual(once);
      expect(isControlledBy(once, String(added))).toBe(true);
      expect(once.metadata.ownerReferences?.filter((reference) => reference.controller).length).toBe(1);
      expect(isOwnedBy(withoutOwner(once, String(added)), String(added))).toBe(false);
    }),
  );
});
