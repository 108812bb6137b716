import type { KubeObject, Stored } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { UnconfirmedChildren, excludeChildren } from "./unconfirmed-children.ts";

const child = (name: string, kind = "Service"): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { namespace: "shop", name },
});
const classOf = (name: string, uid: string): Stored<KubeObject> => ({
  apiVersion: "oaas.io/v1alpha1",
  kind: "ClassRuntime",
  metadata: { namespace: "shop", name, uid, resourceVersion: "1" },
});
const names = (objects: readonly KubeObject[] = []): (string | undefined)[] =>
  objects.map(({ metadata }) => metadata.name);

const ORDER = classOf("order", "first");
const KEY = { namespace: "shop", name: "order" };

test("collects the children of several passes until they are cleared, each child once", () => {
  const unconfirmed = new UnconfirmedChildren();
  expect(unconfirmed.of(ORDER)).toEqual([]);
  unconfirmed.record(ORDER, [child("a"), child("b")]);
  unconfirmed.record(ORDER, [child("b"), child("c")]);
  unconfirmed.record(classOf("other", "x"), [child("x")]);
  expect(names(unconfirmed.of(ORDER))).toEqual(["a", "b", "c"]);
  expect(unconfirmed.ofPredecessor(KEY, ORDER)).toBeUndefined();
  unconfirmed.clear(KEY);
  expect([unconfirmed.of(ORDER), names(unconfirmed.of(classOf("other", "x")))]).toEqual([[], ["x"]]);
});

test("returns the children of a deleted class, also when another class has its name", () => {
  const unconfirmed = new UnconfirmedChildren();
  unconfirmed.record(ORDER, [child("a")]);
  for (const current of [undefined, classOf("order", "second")])
    expect([
      unconfirmed.ofPredecessor(KEY, current)?.uid,
      names(unconfirmed.ofPredecessor(KEY, current)?.children),
    ]).toEqual(["first", ["a"]]);
  expect(unconfirmed.of(classOf("order", "second"))).toEqual([]);
  unconfirmed.clear(KEY);
  expect(unconfirmed.ofPredecessor(KEY, undefined)).toBeUndefined();
});

test("excludes by kind and name", () => {
  expect(excludeChildren([child("a"), child("a", "ConfigMap"), child("b")], [child("a")])).toEqual([
    child("a", "ConfigMap"),
    child("b"),
  ]);
});
