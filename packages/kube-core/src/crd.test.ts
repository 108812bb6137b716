import { expect, test } from "vitest";
import {
  crdKind,
  crdResource,
  isEstablished,
  servedVersions,
  storageVersion,
  type CrdVersion,
  type CustomResourceDefinition,
} from "./crd.ts";

function widgets(...versions: CrdVersion[]): CustomResourceDefinition {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "widgets.example.com" },
    spec: { group: "example.com", names: { plural: "widgets", kind: "Widget" }, scope: "Namespaced", versions },
  };
}

const old = { name: "v1alpha1", served: false, storage: false };
const beta = { name: "v1beta1", served: true, storage: false };
const stable = { name: "v1", served: true, storage: true };

test("returns served and storage versions", () => {
  const crd = widgets(old, beta, stable);
  expect(servedVersions(crd)).toEqual(["v1beta1", "v1"]);
  expect(storageVersion(crd)).toEqual({ ok: true, value: "v1" });
});

test.each([
  { versions: [old, beta], message: "has no storage versions" },
  { versions: [stable, { ...beta, storage: true }], message: "has 2 storage versions" },
])("$message", ({ versions, message }) => {
  expect(storageVersion(widgets(...versions))).toMatchObject({
    ok: false,
    error: { path: "$.spec.versions", message },
  });
});

test("returns kind and resource of a version", () => {
  expect(crdKind(widgets(stable), "v1")).toEqual({ group: "example.com", version: "v1", kind: "Widget" });
  expect(crdResource(widgets(stable), "v1")).toEqual({ group: "example.com", version: "v1", resource: "widgets" });
});

test("is established only when condition Established is True", () => {
  const condition = {
    type: "Established",
    lastTransitionTime: "2026-01-01T00:00:00Z",
    reason: "InitialNamesAccepted",
    message: "",
  };
  expect(isEstablished(widgets(stable))).toBe(false);
  expect(isEstablished({ ...widgets(stable), status: { conditions: [{ ...condition, status: "False" }] } })).toBe(
    false,
  );
  expect(isEstablished({ ...widgets(stable), status: { conditions: [{ ...condition, status: "True" }] } })).toBe(true);
});
