import { Fault } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { expect, it } from "vitest";
import type { StoredClass } from "../../classes/ports.ts";
import { readObject } from "./read-object.ts";

const OBJECT = { metadata: { name: "web", namespace: "shop", uid: "u" } } as StoredClass;
const child = (apiVersion: string, kind: string, name: string): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name, namespace: "shop", uid: name },
});
const CHILDREN = [
  child("v1", "Service", "web"),
  child("serving.knative.dev/v1", "Service", "web"),
  child("apps/v1", "Deployment", "web"),
];
const read = (kind: string, name: string, apiVersion?: string) =>
  readObject(OBJECT, { kind, name, ...(apiVersion === undefined ? {} : { apiVersion }) }, (uid) =>
    uid === "u" ? CHILDREN : [],
  );

function faultOf(work: () => unknown): Fault {
  try {
    work();
  } catch (thrown) {
    return Fault.from(thrown);
  }
  throw new Error("it succeeded");
}

it("returns the object as JSON", () => {
  const { object = "", ...rest } = read("Deployment", "web");
  expect(rest).toEqual({ apiVersion: "apps/v1", kind: "Deployment", name: "web", namespace: "shop" });
  expect(JSON.parse(object)).toEqual(CHILDREN[2]);
});

it("needs the version when two kinds have the name, and names both", () => {
  expect(faultOf(() => read("Service", "web")).detail).toMatchObject({
    violations: [{ path: "$.api_version", fix: "use v1 or serving.knative.dev/v1" }],
  });
  expect(read("Service", "web", "serving.knative.dev/v1").apiVersion).toBe("serving.knative.dev/v1");
});

it.each([
  { why: "another name", kind: "Deployment", name: "other" },
  { why: "a kind without children", kind: "Secret", name: "web" },
  { why: "another version", kind: "Deployment", name: "web", apiVersion: "apps/v2" },
])("returns not-found for $why, with the kinds of the class", ({ kind, name, apiVersion }) => {
  const fault = faultOf(() => read(kind, name, apiVersion));
  expect(fault.kind).toBe("not-found");
  expect(fault.message).toContain("Deployment, Service");
});

it("rejects an empty kind and an empty name at once", () => {
  expect(faultOf(() => read("", "")).detail).toMatchObject({ violations: [{ path: "$.kind" }, { path: "$.name" }] });
});
