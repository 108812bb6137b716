import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatApiVersion,
  groupResourceText,
  gvkKey,
  gvkOf,
  gvrKey,
  parseApiVersion,
  resourcePath,
  sameGvk,
  sameGvr,
  typeMetaOf,
  type ResourceLocation,
} from "./gvk.ts";

describe("API versions", () => {
  test.each([
    { text: "v1", group: "", version: "v1", case: "core group" },
    { text: "apps/v1", group: "apps", version: "v1", case: "one-word group" },
    { text: "example.com/v1alpha1", group: "example.com", version: "v1alpha1", case: "domain group" },
  ])("$text: $case", ({ text, group, version }) => {
    expect(parseApiVersion(text)).toEqual({ ok: true, value: { group, version } });
    expect(formatApiVersion({ group, version })).toBe(text);
  });

  test.each(["", "/", "apps/", "/v1", "a/b/c"])("refuses %j", (text) => {
    expect(parseApiVersion(text)).toMatchObject({
      ok: false,
      error: { path: "$", message: expect.stringContaining(text) },
    });
  });

  test("parse and format are inverse", () => {
    const word = fc.stringMatching(/^[a-z][a-z0-9.]*$/);
    fc.assert(
      fc.property(fc.oneof(word, fc.constant("")), word, (group, version) => {
        expect(parseApiVersion(formatApiVersion({ group, version }))).toEqual({ ok: true, value: { group, version } });
      }),
    );
  });
});

describe("converts between kinds and resources", () => {
  const deployment = { group: "apps", version: "v1", kind: "Deployment" };
  const pod = { group: "", version: "v1", kind: "Pod" };

  test("reads the kind of an object", () => {
    expect(gvkOf({ apiVersion: "apps/v1", kind: "Deployment" })).toEqual({ ok: true, value: deployment });
    expect(typeMetaOf(deployment)).toEqual({ apiVersion: "apps/v1", kind: "Deployment" });
    expect(gvkOf({ apiVersion: "a/b/c", kind: "X" })).toMatchObject({ ok: false, error: { path: "$.apiVersion" } });
    expect(gvkOf({ apiVersion: "v1", kind: "" })).toMatchObject({ ok: false, error: { path: "$.kind" } });
  });

  test("keys are equal exactly when kinds are equal", () => {
    expect([gvkKey(deployment), gvkKey(pod)]).toEqual(["apps/v1/Deployment", "v1/Pod"]);
    expect(gvrKey({ group: "", version: "v1", resource: "pods" })).toBe("v1/pods");
    expect(sameGvk(deployment, { ...deployment })).toBe(true);
    expect(sameGvk(deployment, { ...deployment, version: "v2" })).toBe(false);
    expect(sameGvr({ group: "", version: "v1", resource: "a" }, { group: "", version: "v1", resource: "b" })).toBe(
      false,
    );
    expect(groupResourceText({ group: "apps", resource: "deployments" })).toBe("deployments.apps");
    expect(groupResourceText({ group: "", resource: "pods" })).toBe("pods");
  });
});

describe("paths", () => {
  const pods = { group: "", version: "v1", resource: "pods" };
  const deployments = { group: "apps", version: "v1", resource: "deployments" };
  test.each<{ location: ResourceLocation; path: string; case: string }>([
    { location: pods, path: "/api/v1/pods", case: "all namespaces" },
    { location: { ...pods, namespace: "a" }, path: "/api/v1/namespaces/a/pods", case: "one namespace" },
    {
      location: { ...pods, namespace: "a", name: "b", subresource: "log" },
      path: "/api/v1/namespaces/a/pods/b/log",
      case: "a subresource",
    },
    {
      location: { ...deployments, namespace: "a", name: "b" },
      path: "/apis/apps/v1/namespaces/a/deployments/b",
      case: "named group",
    },
    {
      location: { ...pods, resource: "namespaces", name: "a" },
      path: "/api/v1/namespaces/a",
      case: "namespace itself",
    },
    {
      location: { ...pods, resource: "nodes", name: "system:a b/ü?#%" },
      path: "/api/v1/nodes/system%3Aa%20b%2F%C3%BC%3F%23%25",
      case: "encoded",
    },
  ])("$path ($case)", ({ location, path }) => {
    expect(resourcePath(location)).toEqual({ ok: true, value: path });
  });

  test.each<{ location: ResourceLocation; at: string; case: string }>([
    { location: { ...pods, namespace: "a", name: ".." }, at: "$.name", case: "parent directory" },
    { location: { ...pods, namespace: ".", name: "a" }, at: "$.namespace", case: "current directory" },
    {
      location: { ...pods, namespace: "a", name: "" },
      at: "$.name",
      case: "an empty name would address the collection",
    },
    { location: { ...pods, namespace: "", name: "a" }, at: "$.namespace", case: "empty namespace" },
    {
      location: { ...pods, namespace: "a", subresource: "log" },
      at: "$.subresource",
      case: "subresource without a name",
    },
  ])("refuses $case", ({ location, at }) => {
    expect(resourcePath(location)).toMatchObject({ ok: false, error: [{ path: at }] });
  });

  test("keeps any name inside its path segment", () => {
    const text = fc.string({ unit: "grapheme", minLength: 1 });
    fc.assert(
      fc.property(text, text, (namespace, name) => {
        const path = resourcePath({ ...deployments, namespace, name });
        if (!path.ok) return;
        const segments = new URL(path.value, "http://server").pathname.split("/");
        expect(segments.map(decodeURIComponent)).toEqual([
          "",
          "apis",
          "apps",
          "v1",
          "namespaces",
          namespace,
          "deployments",
          name,
        ]);
      }),
    );
  });
});
