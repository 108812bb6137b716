import type { KubeObject } from "@oaas/kube-core";
import { describe, expect, test } from "vitest";
import { driftFields, findEdit } from "./drift-fields.ts";

const deployment = (replicas: number, image: string, more: object = {}): KubeObject =>
  ({
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "greet", labels: { app: "greet" } },
    spec: { replicas, template: { spec: { containers: [{ name: "main", image, ...more }] } } },
  }) as unknown as KubeObject;

describe("drift fields", () => {
  test("lists each rendered field that differs, with both values", () => {
    expect(driftFields(deployment(1, "greet:2"), deployment(3, "greet:1"))).toEqual({
      fields: [
        { path: ".spec.replicas", was: "1", now: "3" },
        { path: ".spec.template.spec.containers[0].image", was: '"greet:2"', now: '"greet:1"' },
      ],
      moreFields: 0,
    });
  });

  test("ignores fields that are not rendered", () => {
    const live = deployment(3, "greet:1", { imagePullPolicy: "Always" });
    expect(driftFields(live, deployment(3, "greet:1")).fields).toEqual([]);
  });

  test("reports a removed field as absent", () => {
    const live = { ...deployment(3, "greet:1"), metadata: { name: "greet" } } as KubeObject;
    expect(driftFields(live, deployment(3, "greet:1")).fields).toEqual([
      { path: ".metadata.labels.app", was: "(absent)", now: '"greet"' },
    ]);
  });

  test.each([
    {
      why: "values of environment variables",
      live: deployment(1, "i", { env: [{ name: "A", value: "hunter2" }] }),
      rendered: deployment(1, "i", { env: [{ name: "A", value: "letmein" }] }),
    },
    {
      why: "the environment when variables are added",
      live: deployment(1, "i", {
        env: [
          { name: "A", value: "hunter2" },
          { name: "B", value: "letmein" },
        ],
      }),
      rendered: deployment(1, "i", { env: [{ name: "A", value: "hunter2" }] }),
    },
    {
      why: "the content of a ConfigMap",
      live: { kind: "ConfigMap", metadata: {}, data: { a: "hunter2" } } as unknown as KubeObject,
      rendered: { kind: "ConfigMap", metadata: {}, data: { a: "letmein" } } as unknown as KubeObject,
    },
    {
      why: "members named like a secret",
      live: deployment(1, "i", { api_token: "hunter2" }),
      rendered: deployment(1, "i", { api_token: "letmein" }),
    },
  ])("masks $why", ({ live, rendered }) => {
    const found = driftFields(live, rendered);
    expect(found.fields).toHaveLength(1);
    expect(JSON.stringify(found)).not.toMatch(/hunter2|letmein/);
  });

  test("is bounded in fields and bytes", () => {
    const labels = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`label-${index}`, "x".repeat(500)]));
    const rendered = { ...deployment(1, "i"), metadata: { name: "greet", labels } } as KubeObject;
    const found = driftFields(deployment(1, "i"), rendered);
    expect(found.fields).toHaveLength(8);
    expect(found.moreFields).toBe(92);
    expect(JSON.stringify(found).length).toBeLessThan(4_000);
  });
});

describe("the edit behind drift", () => {
  const edited = (managedFields: readonly object[]): KubeObject => ({
    ...deployment(1, "i"),
    metadata: { name: "greet", managedFields },
  });
  const replicas = { "f:spec": { "f:replicas": {} } };
  const own = new Set(["oprc-crm"]);
  const fields = [{ path: ".spec.replicas", was: "1", now: "3" }];
  const update = (manager: string, time: string, fieldsV1: object, more: object = {}) => ({
    manager,
    operation: "Update",
    time,
    fieldsV1,
    ...more,
  });

  test("is the newest update of one of the fields by another manager", () => {
    const live = edited([
      update("kubectl-scale", "2026-01-01T00:00:00Z", replicas),
      update("kubectl-edit", "2026-01-01T00:00:05Z", replicas),
      update("helm", "2026-01-01T00:00:09Z", { "f:metadata": {} }),
      update("kube-controller-manager", "2026-01-01T00:00:09Z", replicas, { subresource: "status" }),
      { ...update("oprc-crm", "2026-01-01T00:00:09Z", replicas), operation: "Apply" },
    ]);
    expect(findEdit(live, fields, own)).toEqual({
      manager: "kubectl-edit",
      atMs: Date.parse("2026-01-01T00:00:05Z"),
    });
  });

  test("is found in a list item", () => {
    const containers = { 'k:{"name":"main"}': { ".": {}, "f:image": {} } };
    const template = { "f:spec": { "f:template": { "f:spec": { "f:containers": containers } } } };
    const image = [{ path: ".spec.template.spec.containers[0].image", was: "a", now: "b" }];
    expect(findEdit(edited([update("kubectl-set", "2026-01-01T00:00:00Z", template)]), image, own)?.manager).toBe(
      "kubectl-set",
    );
  });

  test("is unknown when no other manager owns the field", () => {
    expect(findEdit(edited([]), fields, own)).toBeUndefined();
  });
});
