import type { ClusterName, DeploymentCondition, DeploymentKey } from "@oaas/models";
import { describe, expect, it } from "vitest";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import { aggregateStatus, type UnitObservation } from "./aggregate-status.ts";
import { recordOf, reportOf } from "./testing/reports.ts";

const key = "cart" as DeploymentKey;
const seen = (cluster: string, condition: DeploymentCondition, message?: string): UnitObservation => ({
  reachable: true,
  unit: {
    report: reportOf(cluster, `cart-${cluster}`, { condition, ...(message === undefined ? {} : { message }) }),
    observedAtMs: Date.UTC(2026, 5, 1),
  },
});
const nothing: UnitObservation = { reachable: true };
const away: UnitObservation = { reachable: false, error: 'cluster "b" is dead' };
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
    name: "all run",
    record: recordOf({ a: {}, b: {} }),
    observed: { a: seen("a", "running"), b: seen("b", "running") },
    whole: "running",
    parts: { a: "running", b: "running" },
    why: "nothing to say",
  },
  {
    name: "one is down",
    record: recordOf({ a: {}, b: {} }),
    observed: { a: seen("a", "running"), b: seen("b", "down", "Degraded (ImagePull)") },
    whole: "down",
    parts: { a: "running", b: "down" },
    message: /1 of 2 clusters run it; b: Degraded \(ImagePull\)/,
    why: "the worst counts",
  },
  {
    name: "one's turn in a roll-out has not come",
    record: recordOf({ a: {}, b: { accepted: false } }),
    observed: { a: seen("a", "down", "No image."), b: seen("b", "running", "Available") },
    whole: "down",
    parts: { a: "down", b: "deploying" },
    message: /^0 of 2 clusters run it; a: No image; b: it has not taken what is wanted yet; what it has: Available$/,
    why: "what runs there is not what is wanted",
  },
  {
    name: "one is out of reach",
    record: recordOf({ a: {}, b: {} }),
    observed: { a: seen("a", "running"), b: away },
    whole: "unknown",
    parts: { a: "running", b: "unknown" },
    message: /b: cluster "b" is dead/,
    why: "nobody can say that it runs there",
  },
  {
    name: "one was never accepted",
    record: recordOf({ a: {}, b: { accepted: false } }),
    observed: { a: seen("a", "running"), b: nothing },
    whole: "pending",
    parts: { a: "running", b: "pending" },
    why: "it is on its way",
  },
  {
    name: "one was refused",
    record: recordOf({ a: {}, b: { accepted: false, fault: { ...refused, message: "ODGM is off" } } }),
    observed: { a: seen("a", "running"), b: nothing },
    whole: "down",
    parts: { a: "running", b: "down" },
    message: /b: ODGM is off/,
    why: "it will not come by itself",
  },
  {
    name: "one went missing",
    record: recordOf({ a: {} }),
    observed: { a: nothing },
    whole: "down",
    parts: { a: "down" },
    message: /sent again/,
    why: "it was there and is not",
  },
  {
    name: "an update is not accepted yet",
    record: recordOf({ a: { accepted: false } }),
    observed: { a: seen("a", "running") },
    whole: "deploying",
    parts: { a: "deploying" },
    why: "what runs is the old one",
  },
  {
    name: "a removed target",
    record: recordOf({ a: {}, b: { state: "withdrawn" } }),
    observed: { a: seen("a", "running"), b: away },
    whole: "running",
    parts: { a: "running", b: "unknown" },
    why: "what is not wanted does not count, and is shown",
  },
  {
    name: "being deleted",
    record: recordOf({ a: { state: "withdrawn" } }, { deletion: { by: "x", at: "y" } }),
    observed: { a: nothing },
    whole: "deleted",
    parts: { a: "deleted" },
    message: /^it is being deleted, as x asked at y$/,
    why: "nothing is wanted any more",
  },
];

describe("the state of a deployment", () => {
  it.each(cases)("$name: $why", ({ record, observed, whole, parts, message }) => {
    const observations = new Map(Object.entries(observed).map(([name, one]) => [name as ClusterName, one]));
    const status = aggregateStatus(key, record, observations, undefined);
    expect(status.condition).toBe(whole);
    expect(Object.fromEntries(status.clusters.map(({ cluster, condition }) => [cluster, condition]))).toEqual(parts);
    if (message === undefined && whole === "running") expect(status.message).toBeUndefined();
    if (message !== undefined) expect(status.message).toMatch(message);
  });

  it("has the revision of the wish in force, not of one that was undone", () => {
    const undone = recordOf({ a: {} }, { revision: 4, desired: { revision: 3, unitRevision: 5 } });
    expect(aggregateStatus(key, undone, new Map(), undefined).revision).toBe(3);
  });

  it("carries the operation, the promise, and when it was last heard of", () => {
    const operation = { id: "s1", kind: "deploy", state: "running", done: 1, total: 2 } as const;
    const observed = new Map([["a" as ClusterName, seen("a", "running")]]);
    expect(aggregateStatus(key, recordOf({ a: {} }), observed, operation)).toMatchObject({
      operation,
      revision: 3,
      achievedQuorumAvailability: 0.999,
      updatedAt: "2026-06-01T00:00:00.000Z",
      clusters: [{ functions: [{ functionKey: "Cart.add", ready: true }], observedAt: "2026-06-01T00:00:00.000Z" }],
    });
  });
});
