import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Stored } from "@oaas/kube-core";
import type { Deployment, ReplicaSet } from "../../objects/typed.ts";
import {
  getRolloutLimits,
  computeNewSize,
  computeOldSizes,
  computeProportionalSizes,
  getSize,
} from "./deployment-rollout.ts";

const deployment = (
  replicas: number,
  maxSurge: number | string,
  maxUnavailable: number | string,
  type = "RollingUpdate",
): Deployment => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web" },
  spec: {
    replicas,
    strategy: { type, ...(type === "RollingUpdate" ? { rollingUpdate: { maxSurge, maxUnavailable } } : {}) },
    template: {},
  },
});

const set = (name: string, replicas: number, availableReplicas = replicas, maxReplicas = 0): Stored<ReplicaSet> => ({
  apiVersion: "apps/v1",
  kind: "ReplicaSet",
  metadata: {
    name,
    uid: name,
    resourceVersion: "1",
    creationTimestamp: `2026-01-0${name.charCodeAt(0) % 9 || 1}T00:00:00Z`,
    annotations: { "deployment.kubernetes.io/max-replicas": String(maxReplicas) },
  },
  spec: { replicas, template: {} },
  status: { replicas, availableReplicas },
});

describe("maxSurge and maxUnavailable", () => {
  test.each([
    { case: "25 % of three: one more, none less", of: deployment(3, "25%", "25%"), surge: 1, unavailable: 0 },
    { case: "absolute numbers", of: deployment(10, 3, 2), surge: 3, unavailable: 2 },
    { case: "both zero would block forever", of: deployment(4, 0, 0), surge: 0, unavailable: 1 },
    { case: "at most the number of replicas unavailable", of: deployment(2, 0, 5), surge: 0, unavailable: 2 },
    { case: "zero replicas", of: deployment(0, "25%", "25%"), surge: 0, unavailable: 0 },
    { case: "Recreate has no limits", of: deployment(3, 0, 0, "Recreate"), surge: 0, unavailable: 0 },
  ])("$case", ({ of, surge, unavailable }) => {
    expect(getRolloutLimits(of)).toEqual({ surge, unavailable });
  });
});

describe("next size of the new ReplicaSet", () => {
  test.each([
    { case: "as many as maxSurge allows", sets: [set("a", 10), set("n", 0)], of: deployment(10, 3, 2), size: 3 },
    { case: "none while old pods use the surge", sets: [set("a", 13), set("n", 0)], of: deployment(10, 3, 2), size: 0 },
    { case: "at most the desired replicas", sets: [set("a", 0), set("n", 8)], of: deployment(10, 3, 2), size: 10 },
    { case: "Recreate: all at once", sets: [set("n", 0)], of: deployment(10, 0, 0, "Recreate"), size: 10 },
  ])("$case", ({ sets, of, size }) => {
    expect(computeNewSize(of, sets, sets.at(-1)!)).toBe(size);
  });
});

describe("next sizes of old ReplicaSets", () => {
  const sizes = (of: Deployment, fresh: ReplicaSet, old: readonly ReplicaSet[]): object =>
    Object.fromEntries([...computeOldSizes(of, fresh, old)].map(([one, size]) => [one.metadata.name, size]));

  test.each([
    {
      case: "none while the new pods are not available",
      of: deployment(10, 3, 2),
      fresh: set("n", 5, 0),
      old: [set("a", 8)],
      next: {},
    },
    {
      case: "as many as the new pods replace",
      of: deployment(10, 3, 2),
      fresh: set("n", 5, 5),
      old: [set("a", 8)],
      next: { a: 3 },
    },
    {
      case: "unavailable pods first",
      of: deployment(10, 3, 2),
      fresh: set("n", 3, 3),
      old: [set("a", 4, 0), set("b", 6)],
      next: { a: 0, b: 5 },
    },
    {
      case: "oldest first",
      of: deployment(4, 1, 1),
      fresh: set("n", 3, 3),
      old: [set("a", 1), set("b", 1)],
      next: { a: 0, b: 0 },
    },
  ])("$case", ({ of, fresh, old, next }) => {
    expect(sizes(of, fresh, old)).toEqual(next);
  });

  test("property: never fewer available pods than the strategy allows, never negative", () => {
    const count = fc.integer({ min: 0, max: 20 });
    fc.assert(
      fc.property(
        count,
        count,
        count,
        fc.array(fc.tuple(count, count), { maxLength: 4 }),
        (desired, surge, unavailable, olds) => {
          const of = deployment(desired, surge, unavailable);
          const fresh = set("n", Math.min(desired, 5), Math.min(desired, 3));
          const old = olds.map(([size, available], index) =>
            set(String.fromCharCode(97 + index), size, Math.min(size, available)),
          );
          const minAvailable = desired - getRolloutLimits(of).unavailable;
          const before = [...old, fresh].reduce((sum, one) => sum + (one.status?.availableReplicas ?? 0), 0);
          const next = computeOldSizes(of, fresh, old);
          // A shrinking ReplicaSet deletes unavailable pods first.
          const after = old.reduce(
            (sum, one) => sum + Math.min(one.status?.availableReplicas ?? 0, next.get(one) ?? getSize(one)),
            fresh.status?.availableReplicas ?? 0,
          );
          for (const [one, size] of next) expect(size >= 0 && size < getSize(one)).toBe(true);
          if (before >= minAvailable) expect(after).toBeGreaterThanOrEqual(Math.min(before, minAvailable));
          else expect(after).toBe(before);
        },
      ),
    );
  });
});

test("distributes a scaled rollout without losing or adding replicas", () => {
  const count = fc.integer({ min: 1, max: 30 });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 60 }),
      fc.integer({ min: 0, max: 10 }),
      fc.array(count, { minLength: 2, maxLength: 4 }),
      (desired, surge, sizes) => {
        const of = deployment(desired, surge, 0);
        const total = sizes.reduce((sum, one) => sum + one, 0);
        const sets = sizes.map((size, index) => set(String.fromCharCode(97 + index), size, size, total));
        const next = [...computeProportionalSizes(of, sets).values()];
        expect(next.every((size) => size >= 0)).toBe(true);
        expect(next.reduce((sum, one) => sum + one, 0)).toBe(desired === 0 ? 0 : desired + getRolloutLimits(of).surge);
      },
    ),
  );
});
