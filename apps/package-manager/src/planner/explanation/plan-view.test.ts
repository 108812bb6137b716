import { planRefusalView, planView } from "@oaas/contracts/rest";
import { EMPTY_PROVISION } from "@oaas/models";
import { describe, expect, test } from "vitest";
import type { DeploymentPlan } from "../plan-types.ts";
import { comparePlans } from "./compare-plans.ts";
import { planText, planToWire } from "./plan-view.ts";
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

describe("planText and planToWire", () => {
  test("reports the highest supported target for a target of 1", () => {
    const plan = expectPlan({ clusters: [clusterOf("a", 0.999)], deployment: { nfr: { availability: 1 } } });
    expect(plan.decisions[0]?.outcome).toBe("0.999999999, the highest supported target");
  });

  test("explains clusters and decisions", () => {
    const plan = expectPlan({
      clusters: [clusterOf("a", 0.99), clusterOf("b", 0.995), clusterOf("c", 0.99, { breaker: "open" })],
      deployment: { nfr: { availability: 0.999, minThroughputRps: 2500 } },
    });
    expect(planText(plan)).toMatchInlineSnapshot(`
      "orders: class shop.Order (package revision 1), 3 replicas in 2 clusters.
      Planned availability: 0.9998755 if replicas fail independently (quorum), at most 0.99995 if clusters fail as a whole; target 0.999.
      Requirement: availability 0.999: used for sizing, decides the number of replicas.
      Requirement: throughput 2500 requests per second: used for sizing, decides the scale of functions.
      Clusters:
        [x] a: + any cluster is allowed; + up 0.99 of the time (reported by the cluster, read 1 s ago); + among the 2 most available clusters
        [x] b: + any cluster is allowed; + up 0.995 of the time (reported by the cluster, read 1 s ago); + among the 2 most available clusters
        [ ] c: + any cluster is allowed; + up 0.99 of the time (reported by the cluster, read 1 s ago); - its circuit breaker is open
      Decisions:
        1. target availability: what_if, else nfr_requirements, else the default
           outcome: 0.999
           would change with: nfr_requirements.availability
        2. clusters: the most available of all allowed clusters
           outcome: a, b
           would change with: target_clusters, available_envs, or new health readings
        3. replicas: the smallest count of which a majority is up for the target, placed round robin, worst cluster first
           outcome: 3 replicas with a planned availability of 0.9998755, if replicas fail independently
           would change with: a target of at most 0.99, which 1 replica would meet
        4. cluster failures: all replicas of one cluster fail together with it
           outcome: at most 0.99995: one of a, b is enough
           would change with: replicas in more clusters
        5. scale of Order.place: the largest of min_scale, availability and throughput
           outcome: 3 in every cluster: availability needs 3; 2500 requests per second need 3 at an assumed 1000 each (not measured yet)
           would change with: min_scale, nfr_requirements, or new measurements"
    `);
  });

  test.each([
    { why: "STRONG alone needs three", availability: 0.99, want: "a weaker consistency" },
    {
      why: "the target needs three as well",
      availability: 0.999,
      want: "a lower target together with a weaker consistency",
    },
    {
      why: "a lower target needs fewer",
      availability: 0.9999,
      want: "a target of at most 0.999702, which 3 replicas would meet",
    },
    {
      why: "replica_count needs more",
      availability: 0.99,
      replicaCount: 4,
      want: "a weaker consistency, or a lower odgm.replica_count",
    },
  ])("suggests how to need fewer replicas: $why", ({ availability, replicaCount, want }) => {
    const plan = expectPlan({
      definition: { stateSpec: STRONG_STATE },
      deployment: {
        nfr: { availability },
        ...(replicaCount === undefined ? {} : { odgm: { collections: [], nodeIds: {}, replicaCount } }),
      },
    });
    expect(plan.decisions.find(({ rule }) => rule.startsWith("replicas: "))?.wouldChange).toBe(want);
  });

  test("matches the schema of the REST API", () => {
    for (const given of [{}, { definition: { stateSpec: STRONG_STATE } }]) {
      const plan = expectPlan(given);
      const changes = comparePlans(expectPlan({ clusters: clustersOf([0.99]) }), plan);
      const wire = planToWire({ plan, changes, loss: undefined });
      expect(planView.parse(JSON.parse(JSON.stringify(wire)))).toEqual(wire);
      expect(wire).toMatchObject({ digest: plan.digest, replicas: plan.replicas, explanation: planText(plan) });
    }
  });

  test("is plain JSON", () => {
    const plan = expectPlan({ definition: { stateSpec: STRONG_STATE } });
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  });
});

describe("refusalFault", () => {
  test("reports the closest result and the remedies for a target out of reach", () => {
    const given = {
      clusters: [clusterOf("a", 0.9), clusterOf("b", 0.8, { breaker: "open" })],
      settings: { maxReplicas: 5 },
    };
    const fault = refusalFault(expectRefusal({ ...given, deployment: { nfr: { availability: 0.999 } } }));
    expect(fault.message).toBe(
      "availability 0.999 is out of reach (quorum over 1 cluster): the best is 0.99144 with 5 replicas. To fix it: " +
        "lower the target to at most 0.99144; or add a cluster that is up 0.9525 of the time; or raise PLANNER_MAX_REPLICAS to at least 9; " +
        "or set allow_best_effort: true to accept 0.99144 with 5 replicas.",
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

  test("reports both reasons when no single change is sufficient", () => {
    const refusal = expectRefusal({
      clusters: [clusterOf("a", 0.4)],
      definition: { stateSpec: STRONG_STATE },
      settings: { maxReplicas: 2 },
    });
    expect(refusal.message).toBe(
      "availability 0.99 is out of reach (quorum over 1 cluster): STRONG consistency needs an odd count of at least 3, " +
        "more than PLANNER_MAX_REPLICAS (2). No single change makes it reachable.",
    );
  });

  test("reports all violations with their fields", () => {
    const { message } = refusalFault(expectRefusal({ deployment: { targetClusters: ["x", "y"].map(clusterName) } }));
    expect(message).toContain("$.target_clusters[0]: x is not a known cluster; use one of c00, c01, c02");
    expect(message).toContain("$.target_clusters[1]");
  });

  test.each([
    {
      why: "an invalid request",
      given: { deployment: { targetClusters: [clusterName("x")] } },
      kind: "invalid-argument",
    },
    { why: "a disabled package", given: { package: { disabled: true } }, kind: "failed-precondition" },
    { why: "no cluster", given: { clusters: [] }, kind: "failed-precondition" },
    {
      why: "a target out of reach",
      given: { deployment: { nfr: { availability: 1 } }, clusters: clustersOf([0.1]) },
      kind: "failed-precondition",
    },
    {
      why: "a throughput out of reach",
      given: { deployment: { nfr: { minThroughputRps: 1e6 } } },
      kind: "failed-precondition",
    },
    { why: "no usable cluster", given: { clusters: [clusterOf("a", 0.9, { breaker: "open" })] }, kind: "unavailable" },
  ])("$why is a fault of kind $kind", ({ given, kind }) => {
    const refusal = expectRefusal(given);
    expect(refusalFault(refusal)).toMatchObject({ kind });
    expect(refusalFault(refusal).message).toContain(refusal.message);
    const { evidence } = refusalFault(refusal);
    // An invalid request is reported by field, without evidence.
    if (refusal.kind === "invalid") expect(evidence).toBeUndefined();
    else expect(planRefusalView.parse(JSON.parse(JSON.stringify(evidence)))).toEqual(evidence);
  });
});

describe("comparePlans", () => {
  const base = expectPlan({ definition: { stateSpec: STRONG_STATE } });
  const texts = (given: Parameters<typeof expectPlan>[0]) =>
    comparePlans(base, expectPlan(given)).map(({ text }) => text);
  const strong = { definition: { stateSpec: STRONG_STATE } };

  test("reports nothing when only readings changed", () => {
    const other = expectPlan({ ...strong, clusters: clustersOf([0.991, 0.992, 0.993]) });
    expect(other.digest).toBe(base.digest);
    expect(comparePlans(base, other)).toEqual([]);
  });

  test.each([
    {
      why: "reports a replaced cluster",
      given: { ...strong, clusters: [clusterOf("c00", 0.99), clusterOf("c01", 0.99), clusterOf("d", 0.99)] },
      want: [
        "odgm.env_node_ids.c02 was removed: [7534719830]",
        "odgm.env_node_ids.d was added: [2789223990]",
        "odgm.assignments['shop.Order'] changed",
        "units.c02 was removed",
        "units.d was added",
      ],
    },
    {
      why: "reports a changed target",
      given: { ...strong, deployment: { nfr: { availability: 0.9 } } },
      want: [
        "target changed from 0.99 to 0.9",
        "functions['Order.place'].nfr_requirements.availability was added: 0.9",
        "nfr_requirements.availability was added: 0.9",
      ],
    },
    {
      why: "reports a changed package",
      given: { ...strong, functions: [functionOf("Order.place", { config: { A: "1" } })] },
      want: ["functions['Order.place'].config.A was added: \"1\""],
    },
  ])("$why", ({ given, want }) => {
    expect(texts(given)).toEqual(want);
  });

  test("says what restarts, and which data moves or is lost", () => {
    const clusters = [clusterOf("c00", 0.99), clusterOf("c01", 0.99), clusterOf("d", 0.99)];
    const moved = expectPlan({ ...strong, clusters, previous: base, mayMoveState: true });
    const odgm = { collections: [], nodeIds: {}, partitionCount: 2, allowLayoutChange: true };
    const split = expectPlan({ ...strong, deployment: { odgm }, previous: base });
    const image = { provision: { ...EMPTY_PROVISION, containerImage: "example.test/fn:2" } };
    const updated = expectPlan({ ...strong, functions: [functionOf("Order.place", image)], previous: base });
    const effects = (plan: DeploymentPlan) =>
      comparePlans(base, plan).flatMap(({ path, effect }) => (effect === undefined ? [] : [`${path}: ${effect}`]));
    expect(effects(moved)).toEqual([
      "$.odgm.env_node_ids.c02: the state store restarts",
      "$.odgm.env_node_ids.d: the state store restarts",
      "$.odgm.assignments['shop.Order']: the state store restarts; 4 shards of 12 on another node, without their objects, 4 removed",
      "$.units.c02: the class is removed from c02",
      "$.units.d: the class starts in d",
    ]);
    expect(effects(split)[0]).toBe(
      "$.odgm.partition_count: the state store restarts; objects that are already stored are lost",
    );
    expect(effects(updated)).toEqual([
      "$.functions['Order.place'].provision_config.container_image: the pods of Order.place are replaced",
    ]);
  });

  test("reports a changed scale by cluster and function", () => {
    const one = expectPlan({ clusters: clustersOf([0.99]) });
    const other = expectPlan({
      clusters: [
        clusterOf("c00", 0.99, { recommendedReplicas: { "Order.place": { replicas: 4, isOutdated: false } } }),
      ],
      deployment: { nfr: { minThroughputRps: 1 } },
    });
    expect(comparePlans(one, other).map(({ text }) => text)).toContain(
      "units.c00.functions['Order.place'].min_scale changed from 1 to 4",
    );
  });
});
