import { planRefusalView, planView } from "@oaas/contracts/rest";
import { describe, expect, test } from "vitest";
import { comparePlans } from "./compare-plans.ts";
import { planText } from "./explain.ts";
import { planToWire } from "./plan-view.ts";
import { refusalFault } from "../refusals/refusal-view.ts";
import {
  clusterName,
  clusterOf,
  clustersOf,
  functionOf,
  expectPlan,
  expectRefusal,
  STRONG_STATE,
} from "../testing/plan-inputs.ts";

describe("a plan in words", () => {
  test("a target of 1, which nothing can meet, is told as what is aimed at instead", () => {
    const plan = expectPlan({ clusters: [clusterOf("a", 0.999)], deployment: { nfr: { availability: 1 } } });
    expect(plan.decisions[0]?.outcome).toBe("0.999999999, as nothing is up for certain");
  });

  test("tells what, where and why, with what would change it", () => {
    const plan = expectPlan({
      clusters: [clusterOf("a", 0.99), clusterOf("b", 0.995), clusterOf("c", 0.99, { breaker: "open" })],
      deployment: { nfr: { availability: 0.999, minThroughputRps: 2500 } },
    });
    expect(planText(plan)).toMatchInlineSnapshot(`
      "orders: class shop.Order (revision 1 of the package), 3 replicas over 2 clusters.
      Availability by quorum: 0.9998755 for a target of 0.999.
      Clusters:
        [x] a: + any cluster is allowed; + up 0.99 of the time (measured, read 1 s ago); + it is among the best 2
        [x] b: + any cluster is allowed; + up 0.995 of the time (measured, read 1 s ago); + it is among the best 2
        [ ] c: + any cluster is allowed; + up 0.99 of the time (measured, read 1 s ago); - its circuit breaker is open
      Decisions:
        1. target availability: assumed, else stated, else the default
           so: 0.999
           changed by: nfr_requirements.availability
        2. clusters: the most available of all that are allowed
           so: a, b
           changed by: target_clusters, available_envs, or other readings
        3. replicas: the fewest of which a majority is up for the target, counted worst cluster first and round again
           so: 3 replicas, which reach 0.9998755
           changed by: a target of at most 0.99, which 1 would meet
        4. scale of Order.place: the largest of min_scale, availability and throughput
           so: 3 in every cluster: availability needs 3; 2500 requests per second need 3 at 1000 each
           changed by: its min_scale, nfr_requirements, or what its clusters measure"
    `);
  });

  test.each([
    { why: "STRONG alone asks for three", availability: 0.99, want: "a weaker consistency" },
    {
      why: "the target asks for three as well",
      availability: 0.999,
      want: "a lower target together with a weaker consistency",
    },
    {
      why: "a lower target would do with fewer",
      availability: 0.9999,
      want: "a target of at most 0.999702, which 3 would meet",
    },
    {
      why: "a count of copies asks for more",
      availability: 0.99,
      replicaCount: 4,
      want: "a weaker consistency, or a lower odgm.replica_count",
    },
  ])("what would take fewer replicas: $why", ({ availability, replicaCount, want }) => {
    const plan = expectPlan({
      definition: { stateSpec: STRONG_STATE },
      deployment: {
        nfr: { availability },
        ...(replicaCount === undefined ? {} : { odgm: { collections: [], nodeIds: {}, replicaCount } }),
      },
    });
    expect(plan.decisions.find(({ rule }) => rule.startsWith("replicas: "))?.wouldChange).toBe(want);
  });

  test("is the contract's JSON", () => {
    for (const given of [{}, { definition: { stateSpec: STRONG_STATE } }]) {
      const plan = expectPlan(given);
      const wire = planToWire(plan);
      expect(planView.parse(JSON.parse(JSON.stringify(wire)))).toEqual(wire);
      expect(wire).toMatchObject({ digest: plan.digest, replicas: plan.replicas, explanation: planText(plan) });
    }
  });

  test("is plain JSON, so that it can be stored and compared later", () => {
    const plan = expectPlan({ definition: { stateSpec: STRONG_STATE } });
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });
});

describe("a refusal in words", () => {
  test("out of reach: the best, and what would help, each of which does", () => {
    const given = {
      clusters: [clusterOf("a", 0.9), clusterOf("b", 0.8, { breaker: "open" })],
      settings: { maxReplicas: 5 },
    };
    const fault = refusalFault(expectRefusal({ ...given, deployment: { nfr: { availability: 0.999 } } }));
    expect(fault.message).toBe(
      "an availability of 0.999 is out of reach by quorum over 1 cluster: the best is 0.99144 with 5 replicas. It would be reached by: " +
        "a target of at most 0.99144; or one more cluster that is up 0.9525 of the time; or PLANNER_MAX_REPLICAS of at least 9; " +
        "or allow_best_effort: true, which accepts 0.99144 with 5.",
    );
    expect(fault.evidence).toMatchObject({
      reason: "out-of-reach",
      target_availability: 0.999,
      best: { availability: expect.closeTo(0.99144, 9), replicas: 5 },
      remedies: [
        { kind: "lower-target", targets: [{ subject: "class", availability: 0.99144 }] },
        { kind: "add-cluster", availability: 0.9525 },
        { kind: "raise-cap", max_replicas: 9 },
        { kind: "allow-best-effort" },
      ],
      clusters: [
        { cluster: "a", chosen: false, availability: 0.9, reasons_against: [] },
        { cluster: "b", reasons_against: ["its circuit breaker is open"] },
      ],
    });
  });

  test("out of reach for two reasons at once: both are told, and nothing that would not help", () => {
    const refusal = expectRefusal({
      clusters: [clusterOf("a", 0.4)],
      definition: { stateSpec: STRONG_STATE },
      settings: { maxReplicas: 2 },
    });
    expect(refusal.message).toBe(
      "an availability of 0.99 is out of reach by quorum over 1 cluster: STRONG consistency needs an odd count of at least 3, " +
        "and at most 2 are planned (PLANNER_MAX_REPLICAS). No single change would make it reachable.",
    );
  });

  test("everything that is wrong, each with its field", () => {
    const { message } = refusalFault(expectRefusal({ deployment: { targetClusters: ["x", "y"].map(clusterName) } }));
    expect(message).toContain("$.target_clusters[0]: x is not a known cluster; use one of c00, c01, c02");
    expect(message).toContain("$.target_clusters[1]");
  });

  test.each([
    { why: "wrong words", given: { deployment: { targetClusters: [clusterName("x")] } }, kind: "invalid-argument" },
    { why: "switched off", given: { package: { disabled: true } }, kind: "failed-precondition" },
    { why: "nowhere to go", given: { clusters: [] }, kind: "failed-precondition" },
    {
      why: "out of reach",
      given: { deployment: { nfr: { availability: 1 } }, clusters: clustersOf([0.1]) },
      kind: "failed-precondition",
    },
    { why: "too slow", given: { deployment: { nfr: { minThroughputRps: 1e6 } } }, kind: "failed-precondition" },
    { why: "clusters are down", given: { clusters: [clusterOf("a", 0.9, { breaker: "open" })] }, kind: "unavailable" },
  ])("$why is $kind", ({ given, kind }) => {
    const refusal = expectRefusal(given);
    expect(refusalFault(refusal)).toMatchObject({ kind });
    expect(refusalFault(refusal).message).toContain(refusal.message);
    const { evidence } = refusalFault(refusal);
    // What is wrong with the wish itself is told by field.
    if (refusal.kind === "invalid") expect(evidence).toBeUndefined();
    else expect(planRefusalView.parse(JSON.parse(JSON.stringify(evidence)))).toEqual(evidence);
  });
});

describe("what moved between two plans", () => {
  const base = expectPlan({ definition: { stateSpec: STRONG_STATE } });
  const texts = (given: Parameters<typeof expectPlan>[0]) =>
    comparePlans(base, expectPlan(given)).map(({ text }) => text);
  const strong = { definition: { stateSpec: STRONG_STATE } };

  test("nothing, when only readings did", () => {
    const other = expectPlan({ ...strong, clusters: clustersOf([0.991, 0.992, 0.993]) });
    expect(other.digest).toBe(base.digest);
    expect(comparePlans(base, other)).toEqual([]);
  });

  test.each([
    {
      why: "a cluster went and another came",
      given: { ...strong, clusters: [clusterOf("c00", 0.99), clusterOf("c01", 0.99), clusterOf("d", 0.99)] },
      want: [
        "units.c02 is gone",
        "units.d is new",
        "odgm.env_node_ids.c02 is gone; it was [7534719830]",
        "odgm.env_node_ids.d is new: [2789223990]",
        "odgm.assignments['shop.Order'] is another",
      ],
    },
    {
      why: "another target",
      given: { ...strong, deployment: { nfr: { availability: 0.9 } } },
      want: [
        "target was 0.99 and is 0.9",
        "functions['Order.place'].nfr_requirements.availability is new: 0.9",
        "nfr_requirements.availability is new: 0.9",
      ],
    },
    {
      why: "another package",
      given: { ...strong, functions: [functionOf("Order.place", { config: { A: "1" } })] },
      want: ["functions['Order.place'].config.A is new: \"1\""],
    },
  ])("$why", ({ given, want }) => {
    expect(texts(given)).toEqual(want);
  });

  test("scales are told by cluster and function", () => {
    const one = expectPlan({ clusters: clustersOf([0.99]) });
    const other = expectPlan({
      clusters: [clusterOf("c00", 0.99, { recommendedReplicas: { "Order.place": 4 } })],
      deployment: { nfr: { minThroughputRps: 1 } },
    });
    expect(comparePlans(one, other).map(({ text }) => text)).toContain(
      "units.c00.functions['Order.place'].min_scale was 1 and is 4",
    );
  });
});
