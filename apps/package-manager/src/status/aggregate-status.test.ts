import type { ClusterName, DeploymentCondition, DeploymentKey } from "@oaas/models";
import { describe, expect, it } from "vitest";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { aggregateStatus, type UnitObservation } from "./aggregate-status.ts";
import { recordOf, reportOf } from "./testing/reports.ts";

const key = "cart" as DeploymentKey;
const reported = (cluster: string, condition: DeploymentCondition, message?: string): UnitObservation => ({
  reachable: true,
  unit: {
    report: reportOf(cluster, `cart-${cluster}`, { condition, ...(message === undefined ? {} : { message }) }),
    observedAtMs: Date.UTC(2026, 5, 1),
  },
});
const nothing: UnitObservation = { reachable: true };
const unreachable: UnitObservation = { reachable: false, error: 'cluster "b" is unreachable' };
const refused = { detail: { kind: "failed-precondition", subject: "odgm" }, code: "OAAS_FAILED_PRECONDITION" } as const;

interface Case {
  name: string;
  record: DeploymentRecord;
  observed: Readonly<Record<string, UnitObservation>>;
  whole: DeploymentCondition;
  parts: Readonly<Record<string, DeploymentCondition>>;
  message?: RegExp;
  why: string;
}

const cases: Case[] = [
  {
    name: "all units run",
    record: recordOf({ a: {}, b: {} }),
    observed: { a: reported("a", "running"), b: reported("b", "running") },
    whole: "running",
    parts: { a: "running", b: "running" },
    why: "no message",
  },
  {
    name: "one unit is down",
    record: recordOf({ a: {}, b: {} }),
    observed: { a: reported("a", "running"), b: reported("b", "down", "Degraded (ImagePull)") },
    whole: "degraded",
    parts: { a: "running", b: "down" },
    message: /^serving in 1 of 2 clusters, up to date in 1 of 2; b: Degraded \(ImagePull\)$/,
    why: "the other one serves",
  },
  {
    name: "an update fails everywhere",
    record: recordOf({ a: {}, b: {} }),
    observed: { a: reported("a", "degraded", "No image."), b: reported("b", "degraded", "No image.") },
    whole: "degraded",
    parts: { a: "degraded", b: "degraded" },
    message: /^serving in 2 of 2 clusters, up to date in 0 of 2; a: No image; b: No image$/,
    why: "the earlier revision serves",
  },
  {
    name: "a rollout has not reached one cluster",
    record: recordOf({ a: {}, b: { accepted: false } }),
    observed: { a: reported("a", "down", "No image."), b: reported("b", "running", "Available") },
    whole: "degraded",
    parts: { a: "down", b: "deploying" },
    message:
      /^serving in 1 of 2 clusters, up to date in 0 of 2; a: No image; b: the desired revision is not accepted yet; current state: Available$/,
    why: "it runs an outdated revision",
  },
  {
    name: "one cluster is unreachable",
    record: recordOf({ a: {}, b: {} }),
    observed: { a: reported("a", "running"), b: unreachable },
    whole: "degraded",
    parts: { a: "running", b: "unknown" },
    message: /b: cluster "b" is unreachable/,
    why: "the other one serves",
  },
  {
    name: "every cluster is unreachable",
    record: recordOf({ b: {} }),
    observed: { b: unreachable },
    whole: "unknown",
    parts: { b: "unknown" },
    message: /^serving in 0 of 1 clusters/,
    why: "its condition is unknown",
  },
  {
    name: "one unit was never accepted",
    record: recordOf({ a: {}, b: { accepted: false } }),
    observed: { a: reported("a", "running"), b: nothing },
    whole: "deploying",
    parts: { a: "running", b: "pending" },
    why: "the other one serves",
  },
  {
    name: "one unit was rejected",
    record: recordOf({ a: {}, b: { accepted: false, fault: { ...refused, message: "ODGM is off" } } }),
    observed: { a: reported("a", "running"), b: nothing },
    whole: "degraded",
    parts: { a: "running", b: "down" },
    message: /b: ODGM is off/,
    why: "the other one serves",
  },
  {
    name: "an update was rejected",
    record: recordOf({ b: { accepted: false, fault: { ...refused, message: "ODGM is off" } } }),
    observed: { b: reported("b", "running") },
    whole: "degraded",
    parts: { b: "degraded" },
    message: /^serving in 1 of 1 clusters, up to date in 0 of 1; b: ODGM is off$/,
    why: "the earlier revision serves",
  },
  {
    name: "one unit is missing",
    record: recordOf({ a: {} }),
    observed: { a: nothing },
    whole: "down",
    parts: { a: "down" },
    message: /deployed again/,
    why: "it is down until it is deployed again",
  },
  {
    name: "an update is not accepted yet",
    record: recordOf({ a: { accepted: false } }),
    observed: { a: reported("a", "running") },
    whole: "deploying",
    parts: { a: "deploying" },
    why: "it is deploying",
  },
  {
    name: "a removed target",
    record: recordOf({ a: {}, b: { state: "withdrawn" } }),
    observed: { a: reported("a", "running"), b: unreachable },
    whole: "running",
    parts: { a: "running", b: "unknown" },
    why: "it is listed but does not count",
  },
  {
    name: "being deleted",
    record: recordOf({ a: { state: "withdrawn" } }, { deletion: { by: "x", at: "y" } }),
    observed: { a: nothing },
    whole: "deleted",
    parts: { a: "deleted" },
    message: /^being deleted, requested by x at y$/,
    why: "it is deleted",
  },
];

describe("aggregateStatus", () => {
  it.each(cases)("$name: $why", ({ record, observed, whole, parts, message }) => {
    const observations = new Map(Object.entries(observed).map(([name, one]) => [name as ClusterName, one]));
    const status = aggregateStatus(key, record, observations, undefined);
    expect(status.condition).toBe(whole);
    expect(Object.fromEntries(status.clusters.map(({ cluster, condition }) => [cluster, condition]))).toEqual(parts);
    if (message === undefined && whole === "running") expect(status.message).toBeUndefined();
    if (message !== undefined) expect(status.message).toMatch(message);
  });

  it("has the revision in force, not one that was rolled back", () => {
    const undone = recordOf({ a: {} }, { revision: 4, desired: { revision: 3, unitRevision: 5 } });
    expect(aggregateStatus(key, undone, new Map(), undefined).revision).toBe(3);
  });

  it("includes recommendations, the last change and compliance of each cluster", () => {
    const recommendations = [{ component: "Cart.add", dimension: "replicas", target: 3 }];
    const lastApplied = [{ component: "Cart.add", dimension: "replicas", target: 2 }];
    const nfrCompliance = { overall: "Violated", lastChecked: "t" };
    const status = {
      condition: "running",
      serving: true,
      upToDate: true,
      phase: "running",
      lastUpdated: "t",
      recommendations,
      lastApplied,
    } as const;
    const report = reportOf("a", "cart-a", { runtime: { status, nfrCompliance } });
    const observed = new Map([["a" as ClusterName, { reachable: true, unit: { report, observedAtMs: 0 } }]]);
    expect(aggregateStatus(key, recordOf({ a: {} }), observed, undefined)).toMatchObject({
      clusters: [{ recommendations, lastApplied, nfrCompliance }],
    });
  });

  it("lists the corrections of the unit and of its objects, newest first", () => {
    const one = { kind: "K", name: "n", fields: [], firstAt: "t", count: 1, message: "m" };
    const status = { condition: "running", phase: "running", lastUpdated: "t" } as const;
    const report = reportOf("a", "cart-a", {
      runtime: { status: { ...status, driftCorrections: [{ ...one, lastAt: "t1" }] } },
    });
    const observed = new Map([["a" as ClusterName, { reachable: true, unit: { report, observedAtMs: 0 } }]]);
    const record = recordOf({ a: { drift: { ...one, kind: "ClassRuntime", lastAt: "t2" } } });
    const [cluster] = aggregateStatus(key, record, observed, undefined).clusters;
    expect(cluster?.driftCorrections?.map(({ kind }) => kind)).toEqual(["ClassRuntime", "K"]);
  });

  it("includes the operation, the planned availability and the last update", () => {
    const operation = { id: "s1", kind: "deploy", state: "running", done: 1, total: 2 } as const;
    const observed = new Map([["a" as ClusterName, reported("a", "running")]]);
    expect(aggregateStatus(key, recordOf({ a: {} }), observed, operation)).toMatchObject({
      operation,
      revision: 3,
      achievedQuorumAvailability: 0.999,
      updatedAt: "2026-06-01T00:00:00.000Z",
      clusters: [{ functions: [{ functionKey: "Cart.add", ready: true }], observedAt: "2026-06-01T00:00:00.000Z" }],
    });
  });
});
