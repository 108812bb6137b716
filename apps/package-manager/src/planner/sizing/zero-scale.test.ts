import { ClusterStatus, EMPTY_PROVISION, type NfrRequirements } from "@oaas/models";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CandidateCluster } from "../plan-types.ts";
import { clusterName, clusterOf, expectPlan, expectRefusal, functionOf } from "../testing/plan-inputs.ts";

/** A cluster whose manager reports the templates that can scale to zero; undefined for an earlier release. */
function scalingCluster(
  name: string,
  availability: number,
  templates: readonly string[] | undefined,
): CandidateCluster {
  return clusterOf(name, availability, {
    reading: {
      cluster: clusterName(name),
      status: ClusterStatus.healthy,
      availability,
      ...(templates === undefined ? {} : { zeroScaleTemplates: templates }),
    },
  });
}

const KNATIVE = ["knative", "kn"];
const one = (availability: number, templates: readonly string[] | undefined = KNATIVE) => [
  scalingCluster("a", availability, templates),
];
const three = (availability: number) => ["a", "b", "c"].map((name) => scalingCluster(name, availability, KNATIVE));

interface Given {
  readonly clusters?: readonly CandidateCluster[];
  readonly nfr?: NfrRequirements;
  readonly provision?: object;
  readonly template?: string;
  readonly named?: boolean;
}

function given({ clusters = one(0.99), nfr = {}, provision = { minScale: 0 }, template, named = false }: Given) {
  return {
    functions: [
      functionOf("Order.place", { provision: { ...EMPTY_PROVISION, containerImage: "r/o:1", ...provision } }),
    ],
    deployment: {
      nfr,
      clusterTemplates: template === undefined ? {} : { a: template },
      targetClusters: named ? clusters.map(({ name }) => name) : [],
    },
    clusters,
  };
}

const scaleOf = (task: Given) => expectPlan(given(task)).units[0]?.functions[0];
const violationOf = (task: Given) => {
  const refusal = expectRefusal(given(task));
  return refusal.kind === "invalid" ? refusal.violations[0] : undefined;
};

describe("min_scale 0", () => {
  test.each<{ why: string; task: Given; want: number; basis: string; reason: string }>([
    {
      why: "is kept without a stated availability, although the default target needs three replicas",
      task: { clusters: one(0.95) },
      want: 0,
      basis: "user",
      reason: "min_scale 0 is kept, because no availability is stated",
    },
    {
      why: "is kept if one replica reaches the stated availability",
      task: { nfr: { availability: 0.99 } },
      want: 0,
      basis: "user",
      reason:
        "min_scale 0 is kept, because one replica in each cluster, which a request starts, reaches the stated availability 0.99",
    },
    {
      why: "is kept if one replica in each of several clusters reaches the stated availability",
      task: { clusters: three(0.99), nfr: { availability: 0.999 } },
      want: 0,
      basis: "user",
      reason:
        "min_scale 0 is kept, because one replica in each cluster, which a request starts, reaches the stated availability 0.999",
    },
    {
      why: "is raised by a stated availability that one replica does not reach",
      task: { clusters: one(0.95), nfr: { availability: 0.99 } },
      want: 3,
      basis: "availability",
      reason:
        "availability needs 3; min_scale 0 is raised, because availability 0.99 is stated and a function without " +
        "replicas reaches 0.95: a request starts one in each cluster",
    },
    {
      why: "is kept with a required throughput, whose replicas start with the requests",
      task: { nfr: { minThroughputRps: 4000 } },
      want: 0,
      basis: "user",
      reason: "min_scale 0 is kept, because no availability is stated",
    },
    {
      why: "is kept with a named template that can scale to zero, in any case",
      task: { template: "KN" },
      want: 0,
      basis: "user",
      reason: "min_scale 0 is kept, because no availability is stated",
    },
    {
      why: "is raised where the manager does not report what it can",
      task: { clusters: [scalingCluster("a", 0.99, undefined)] },
      want: 1,
      basis: "availability",
      reason:
        "availability needs 1; min_scale 0 is raised, because the class runtime manager does not report whether it can scale to zero",
    },
  ])("$why", ({ task, want, basis, reason }) => {
    expect(scaleOf(task)).toMatchObject({ minScale: want, basis });
    expect(scaleOf(task)?.reason).toBe(reason);
  });

  test("takes the availability of the function before that of the class", () => {
    const task = given({ clusters: one(0.95), nfr: { availability: 0.9 } });
    const functions = [{ functionKey: task.functions[0]!.key, nfr: { availability: 0.99 }, config: {} }];
    const plan = expectPlan({ ...task, deployment: { ...task.deployment, functions } });
    expect(plan.units[0]?.functions[0]).toMatchObject({ minScale: 3, basis: "availability" });
  });

  test("is placed in clusters that can scale to zero, with the reason against the others", () => {
    const clusters = [scalingCluster("a", 0.999, []), scalingCluster("b", 0.9, KNATIVE), scalingCluster("c", 0.95, [])];
    const plan = expectPlan(given({ clusters }));
    expect(plan.units.map(({ cluster }) => cluster)).toEqual(["b"]);
    expect(plan.units[0]?.functions[0]).toMatchObject({ minScale: 0 });
    expect(plan.clusters.find(({ cluster }) => cluster === "a")?.reasonsAgainst).toContainEqual({
      code: "no-scale-to-zero",
      text: "cluster a has no template that can scale to zero, and a function has min_scale 0",
    });
  });

  test("is placed anywhere if a stated availability raises it in every placement", () => {
    const clusters = [scalingCluster("a", 0.95, []), scalingCluster("b", 0.95, KNATIVE)];
    const plan = expectPlan(given({ clusters, nfr: { availability: 0.99 } }));
    expect(plan.units.flatMap(({ functions }) => functions.map(({ minScale }) => minScale))).toEqual([3, 3]);
  });

  test("is refused where it runs already, when the cluster cannot scale to zero any more", () => {
    const clusters = [scalingCluster("a", 0.99, []), scalingCluster("b", 0.99, KNATIVE)];
    const previous = expectPlan(given({ clusters, provision: { minScale: 1 } }));
    const refusal = expectRefusal({ ...given({ clusters }), previous });
    expect(refusal.message).toContain("cluster a has no template that can scale to zero");
  });

  test("is refused when no cluster can, naming the field", () => {
    const clusters = [scalingCluster("a", 0.999, []), scalingCluster("b", 0.9, [])];
    expect(violationOf({ clusters })?.message).toContain("min_scale 0, but cluster a has no template");
  });

  test("is refused in a named cluster without a template for it, with the remedies", () => {
    const clusters = [scalingCluster("a", 0.999, []), scalingCluster("b", 0.9, KNATIVE)];
    const task = given({ clusters });
    const deployment = { ...task.deployment, targetClusters: [clusterName("a")] };
    const refusal = expectRefusal({ ...task, deployment });
    expect(refusal.kind === "invalid" ? refusal.violations[0] : undefined).toEqual({
      path: "$.functions",
      message: "Order.place has min_scale 0, but cluster a has no template that can scale to zero",
      fix:
        "install Knative Serving, or KEDA with a template whose ScaledObject starts the first replica, " +
        "or use target_clusters with b, or set min_scale to 1",
    });
  });

  test("is refused with a named template that cannot scale to zero", () => {
    expect(violationOf({ template: "k8s_deployment" })).toEqual({
      path: "$.functions",
      message: "Order.place has min_scale 0, but template k8s_deployment in cluster a cannot scale to zero",
      fix: "use template knative or kn in env_templates, or set min_scale to 1",
    });
  });

  test("is not refused for what a stated availability raises anyway", () => {
    const task = { clusters: one(0.95, []), nfr: { availability: 0.99 } };
    expect(scaleOf(task)).toMatchObject({ minScale: 3, basis: "availability" });
  });

  test("needs a max_scale of only one, unless the throughput needs more", () => {
    const clusters = one(0.95);
    expect(scaleOf({ clusters, provision: { minScale: 0, maxScale: 1 } })).toMatchObject({ minScale: 0, maxScale: 1 });
    const task = { clusters, provision: { minScale: 0, maxScale: 1 }, nfr: { minThroughputRps: 2500 } };
    expect(violationOf(task)?.message).toBe("Order.place is limited to 1 replica, but its throughput needs 3");
    expect(violationOf({ clusters, provision: { minScale: 0, maxScale: 0 } })?.path).toBe("$.functions");
  });

  test("is explained with its inputs, and with a warning for a required latency", () => {
    const plan = expectPlan(given({ clusters: one(0.95), nfr: { maxLatencyMs: 50 } }));
    expect(plan.decisions.slice(-2)).toMatchObject([
      {
        rule:
          "scale of Order.place: a min_scale of 0 unless a stated availability forbids it, else the largest of " +
          "min_scale, availability and throughput",
        inputs: { min_scale: 0, one_replica_per_cluster: 0.95 },
        outcome: "0 in every cluster: min_scale 0 is kept, because no availability is stated",
      },
      {
        rule: "warning: cold start of Order.place: a request without a running replica waits until one is ready",
        inputs: { max_latency_ms: 50, clusters: ["a"] },
      },
    ]);
  });

  test("ignores measurements while it is kept", () => {
    const [cluster] = one(0.99);
    const recommendedReplicas = { "Order.place": { replicas: 7, isOutdated: false } };
    const clusters = [{ ...cluster!, recommendedReplicas }];
    expect(scaleOf({ clusters, nfr: { minThroughputRps: 10 } })).toMatchObject({ minScale: 0 });
  });

  test("is never planned where a stated availability needs more than one replica in each cluster", () => {
    const share = fc.constantFrom(0.9, 0.95, 0.99, 0.999);
    const algorithm = fc.constantFrom("quorum" as const, "independent" as const, "domains" as const);
    fc.assert(
      fc.property(share, fc.integer({ min: 1, max: 3 }), share, algorithm, (availability, count, target, by) => {
        const clusters = ["a", "b", "c"].slice(0, count).map((name) => scalingCluster(name, availability, KNATIVE));
        const task = given({ clusters, nfr: { availability: target }, named: true });
        const deployment = { ...task.deployment, allowBestEffort: true };
        const plan = expectPlan({ ...task, deployment, settings: { algorithm: by } });
        const planned = plan.units[0]?.functions[0]?.minScale ?? Number.NaN;
        if (plan.replicas > count && !plan.bestEffort) expect(planned).toBe(plan.replicas);
        if (plan.replicas <= count && !plan.bestEffort) expect(planned).toBe(0);
        if (plan.bestEffort && plan.replicas > 1) expect(planned).toBeGreaterThan(0);
      }),
    );
  });
});
