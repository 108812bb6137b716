import type { KubeObject, Stored } from "@oaas/kube-core";
import { expect, test } from "vitest";
import { SentChildren, without } from "./unconfirmed-children.ts";

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

test("what passes sent adds up until status tells of it, each child once", () => {
  const sent = new SentChildren();
  expect(sent.of(ORDER)).toEqual([]);
  sent.note(ORDER, [child("a"), child("b")]);
  sent.note(ORDER, [child("b"), child("c")]);
  sent.note(classOf("other", "x"), [child("x")]);
  expect(names(sent.of(ORDER))).toEqual(["a", "b", "c"]);
  expect(sent.ofFormer(KEY, ORDER)).toBeUndefined();
  sent.told(KEY);
  expect([sent.of(ORDER), names(sent.of(classOf("other", "x")))]).toEqual([[], ["x"]]);
});

test("a class that is gone leaves what was sent for it, also when its name is another's by now", () => {
  const sent = new SentChildren();
  sent.note(ORDER, [child("a")]);
  for (const now of [undefined, classOf("order", "second")])
    expect([sent.ofFormer(KEY, now)?.uid, names(sent.ofFormer(KEY, now)?.children)]).toEqual(["first", ["a"]]);
  expect(sent.of(classOf("order", "second"))).toEqual([]);
  sent.told(KEY);
  expect(sent.ofFormer(KEY, undefined)).toBeUndefined();
});

test("without: by kind and name", () => {
  expect(without([child("a"), child("a", "ConfigMap"), child("b")], [child("a")])).toEqual([
    child("a", "ConfigMap"),
    child("b"),
  ]);
});
