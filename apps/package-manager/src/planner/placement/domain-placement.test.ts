import { describe, expect, test } from "vitest";
import {
  clusterName,
  clusterOf,
  clustersIn,
  expectPlan,
  expectRefusal,
  functionKey,
  functionOf,
  STRONG_STATE,
} from "../testing/plan-inputs.ts";

const settings = { algorithm: "domains" } as const;
const strong = { stateSpec: STRONG_STATE };
const inZone = (name: string, availability: number, zone: string) =>
  clusterOf(name, availability, { labels: { zone } });

describe("PLANNER_ALGORITHM=domains", () => {
  test("refuses a target that replicas of one cluster cannot reach", () => {
    const refusal = expectRefusal({
      settings,
      definition: strong,
      clusters: [inZone("a", 0.95, "z1")],
      deployment: { nfr: { availability: 0.99 } },
    });
    expect(refusal).toMatchObject({ kind: "out-of-reach", target: 0.99 });
    expect("best" in refusal && refusal.best?.availability).toBeCloseTo(0.95, 9);
    expect(refusal.message).toContain("add a cluster in another zone");
  });

  test("plans the same class by quorum, and warns about a stated target", () => {
    const given = { definition: strong, clusters: [clusterOf("a", 0.95)] };
    const stated = expectPlan({ ...given, deployment: { nfr: { availability: 0.99 } } }).availability;
    expect(stated.independentReplicas).toBeCloseTo(0.99275, 9);
    expect(stated).toMatchObject({
      domainAvailability: expect.closeTo(0.95, 9),
      limitingDomain: "cluster a (up 0.95 of the time)",
      meetsTarget: false,
      warning: expect.any(String),
    });
    expect(expectPlan(given).availability.warning).toBeUndefined();
  });

  test("prefers clusters in distinct zones over better clusters in one zone", () => {
    const plan = expectPlan({
      settings: { ...settings, zoneAvailability: 0.99 },
      definition: strong,
      clusters: [
        inZone("a1", 0.989, "a"),
        inZone("a2", 0.989, "a"),
        inZone("a3", 0.989, "a"),
        inZone("b1", 0.98, "b"),
        inZone("c1", 0.98, "c"),
      ],
      deployment: { nfr: { availability: 0.999 } },
    });
    expect(clustersIn(plan)).toEqual(["a1", "b1", "c1"]);
    expect(plan.achievedAvailability).toBeGreaterThanOrEqual(0.999);
    expect(plan.availability.domainAvailability).toBeCloseTo(plan.achievedAvailability, 12);
  });

  test("warns when a stated target is missed only because clusters share a zone", () => {
    const { availability } = expectPlan({
      settings: { zoneAvailability: 0.99 },
      definition: strong,
      clusters: ["a", "b", "c"].map((name) => inZone(name, 0.98, "z")),
      deployment: { nfr: { availability: 0.998 } },
    });
    expect(availability.clusterBound).toBeGreaterThan(0.998);
    expect(availability.limitingDomain).toBe("zone z (up 0.99 of the time)");
    expect(availability.warning).toContain("missed by failure domains");
  });

  test("keeps a running placement that still meets the target", () => {
    const given = {
      settings,
      clusters: ["a", "b", "c"].map((name) => inZone(name, 0.99, name)),
      deployment: { nfr: { availability: 0.999 } },
    };
    const first = expectPlan(given);
    const again = expectPlan({ ...given, previous: first });
    expect(again.digest).toBe(first.digest);
  });

  test("sizes many functions with their own targets at once", () => {
    const keys = Array.from({ length: 200 }, (_, index) => `Order.f${index}`);
    const refusal = expectRefusal({
      settings,
      definition: { ...strong, bindings: [] },
      clusters: Array.from({ length: 50 }, (_, index) => inZone(`c${index}`, 0.9, `z${index % 2}`)),
      functions: keys.map((key) => functionOf(key)),
      deployment: {
        nfr: { availability: 0.99999 },
        functions: keys.map((key) => ({ functionKey: functionKey(key), config: {}, nfr: { availability: 0.9999999 } })),
      },
    });
    expect(refusal).toMatchObject({ kind: "out-of-reach", remedies: expect.arrayContaining([expect.anything()]) });
  });

  test("uses every named cluster, also with many clusters and replicas", () => {
    const clusters = Array.from({ length: 20 }, (_, index) => inZone(`n${index}`, 0.97, `z${index % 4}`));
    const deployment = { nfr: { availability: 0.9999 } };
    const chosen = expectPlan({ settings, definition: strong, clusters, deployment });
    expect(chosen.availability.meetsTarget).toBe(true);
    const named = expectPlan({
      settings,
      clusters,
      deployment: { ...deployment, targetClusters: clusters.slice(0, 4).map(({ name }) => clusterName(name)) },
    });
    expect(clustersIn(named)).toHaveLength(4);
  });
});
