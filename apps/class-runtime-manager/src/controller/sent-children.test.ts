import type { KubeObject } from "@oaas/kube-core";
import type { Change } from "@oaas/kube-runtime";
import { expect, test } from "vitest";
import { SentChildren, without } from "./sent-children.ts";

const child = (name: string, kind = "Service"): KubeObject => ({
  apiVersion: "v1",
  kind,
  metadata: { namespace: "shop", name },
});

function setUp() {
  let tell = (_change: Change<KubeObject>): void => undefined;
  const sent = new SentChildren<KubeObject>({
    onChange: (listener) => {
      tell = listener;
      return () => undefined;
    },
  });
  return { sent, tell: (change: Change<KubeObject>) => tell(change) };
}

const names = (objects: readonly KubeObject[]): (string | undefined)[] => objects.map(({ metadata }) => metadata.name);

test("what passes sent adds up until status tells of it, each child once", () => {
  const { sent } = setUp();
  expect(sent.of("class")).toEqual([]);
  sent.note("class", [child("a"), child("b")]);
  sent.note("class", [child("b"), child("c")]);
  sent.note("other", [child("x")]);
  expect(names(sent.of("class"))).toEqual(["a", "b", "c"]);
  sent.told("class");
  expect([sent.of("class"), names(sent.of("other"))]).toEqual([[], ["x"]]);
});

test("a class that is gone has nothing left", () => {
  const { sent, tell } = setUp();
  sent.note("class", [child("a")]);
  const object = { ...child("order", "ClassRuntime"), metadata: { name: "order", uid: "class", resourceVersion: "1" } };
  tell({ type: "added", object });
  expect(names(sent.of("class"))).toEqual(["a"]);
  tell({ type: "deleted", object });
  expect(sent.of("class")).toEqual([]);
});

test("without: by kind and name", () => {
  expect(without([child("a"), child("a", "ConfigMap"), child("b")], [child("a")])).toEqual([
    child("a", "ConfigMap"),
    child("b"),
  ]);
});
