import { FunctionType, type ClusterOffer, type NodeShape, type StateSpecification } from "@oaas/models";
import { describe, expect, test } from "vitest";
import type { CandidateCluster } from "./plan-types.ts";
import { zoneOf } from "./placement/placement.ts";
import {
  bindingOf,
  clusterName,
  clusterOf,
  clustersIn,
  expectPlan,
  expectRefusal,
  functionKey,
  functionOf,
  stateOf,
} from "./testing/plan-inputs.ts";

const GI = 2 ** 30;

function shapeOf(cpu: number, gib: number, more: Partial<NodeShape> = {}): NodeShape {
  return {
    nodes: 1,
    freeCpuMillicores: cpu * 1000,
    freeMemoryBytes: gib * GI,
    freePods: 100,
    largestFreeCpuMillicores: cpu * 1000,
    largestFreeMemoryBytes: gib * GI,
    ...more,
  };
}

/** A cluster that reports what it offers. */
function reporting(
  name: string,
  availability: number,
  offer: Partial<ClusterOffer> = {},
  more: Partial<CandidateCluster> = {},
) {
  const plain = clusterOf(name, availability, more);
  const all = {
    capabilities: ["odgm", "knative"],
    templates: ["dev", "full", "knative"],
    environments: [],
    labels: {},
  };
  return { ...plain, reading: { ...plain.reading!, offer: { ...all, ...offer } } };
}

const sized = (cpuRequest: string, minScale = 1) =>
  functionOf("Order.place", {
    functionType: FunctionType.custom,
    provision: {
      containerImage: "r/o:1",
      maxConcurrency: 0,
      needHttp2: false,
      cpuRequest,
      memoryRequest: "1Gi",
      minScale,
    },
  });

const withGpus = (gpus: number) =>
  functionOf("Order.place", {
    functionType: FunctionType.custom,
    provision: {
      containerImage: "r/o:1",
      maxConcurrency: 0,
      needHttp2: false,
      resources: { limits: { "nvidia.com/gpu": gpus } },
    },
  });

const against = (plan: ReturnType<typeof expectPlan>, name: string): string | undefined =>
  plan.clusters.find(({ cluster }) => cluster === name)?.reasonsAgainst.map(({ text }) => text)[0];

describe("what a cluster offers", () => {
  const definition: { readonly stateSpec: StateSpecification } = { stateSpec: stateOf() };

  test("excludes a cluster without a state store for a class that needs one, but not for another", () => {
    const clusters = [reporting("a", 0.999, { capabilities: [] }), reporting("b", 0.99)];
    const plan = expectPlan({ clusters, definition });
    expect(clustersIn(plan)).toEqual(["b"]);
    expect(against(plan, "a")).toContain("offers no state store (capability odgm)");
    expect(clustersIn(expectPlan({ clusters }))).toEqual(["a"]);
  });

  test("excludes a cluster without the template, or without the feature that it needs", () => {
    const clusters = [
      reporting("a", 0.9999, { templates: ["dev"] }),
      reporting("b", 0.999, { capabilities: ["odgm"] }),
      reporting("c", 0.99),
    ];
    const plan = expectPlan({ clusters, deployment: { templateHint: "Knative" } });
    expect(clustersIn(plan)).toEqual(["c"]);
    expect(against(plan, "a")).toBe("it does not offer the template Knative (it offers dev)");
    expect(against(plan, "b")).toContain("lacks the capability knative");
  });

  test("reads the template of one cluster from its own map", () => {
    const clusters = [reporting("a", 0.999, { templates: ["dev"] }), reporting("b", 0.99)];
    const deployment = { clusterTemplates: { a: "full" } as never };
    expect(clustersIn(expectPlan({ clusters, deployment }))).toEqual(["b"]);
  });

  test("is unknown for an older manager, which is not excluded", () => {
    expect(
      clustersIn(expectPlan({ clusters: [clusterOf("old", 0.99)], definition, deployment: { templateHint: "mine" } })),
    ).toEqual(["old"]);
  });

  test("does not move a running unit", () => {
    const previous = expectPlan({ clusters: [reporting("a", 0.999)], definition });
    const clusters = [reporting("a", 0.999, { capabilities: [] }), reporting("b", 0.999)];
    expect(clustersIn(expectPlan({ clusters, definition, previous }))).toEqual(["a"]);
  });

  test("keeps a cluster that the user names, with the reason beside it", () => {
    const clusters = [reporting("a", 0.99, { templates: [] })];
    const deployment = { targetClusters: [clusterName("a")], templateHint: "full" };
    const plan = expectPlan({ clusters, deployment });
    expect(against(plan, "a")).toContain("does not offer the template full (it offers none)");
  });

  test("is refused when no cluster offers it; waiting does not help", () => {
    const refusal = expectRefusal({
      clusters: [reporting("a", 0.99, { templates: [] })],
      deployment: { templateHint: "full" },
    });
    expect(refusal).toMatchObject({ kind: "no-usable-cluster", assumed: true, unusable: ["a"] });
    expect(refusal.message).toContain("make the stated change");
  });

  test("selects by the reported environment where the registration has no label", () => {
    const clusters = [
      reporting("a", 0.99, { environments: ["edge"] }),
      reporting("b", 0.999, { environments: ["edge"] }, { labels: { env: "cloud" } }),
    ];
    expect(clustersIn(expectPlan({ clusters, deployment: { environmentKind: "edge" } }))).toEqual(["a"]);
  });

  test("names the zone where the registration does not", () => {
    const labels = { region: "eu", zone: "1" };
    expect(zoneOf(reporting("a", 0.99, { labels }))).toBe("eu/1");
    expect(zoneOf(reporting("a", 0.99, { labels }, { labels: { zone: "2" } }))).toBe("eu/2");
  });
});

describe("free capacity", () => {
  test("excludes a cluster in which the planned replicas do not fit, with numbers and remedy", () => {
    const clusters = [
      reporting("a", 0.999, { shapes: [shapeOf(3, 8)] }),
      reporting("b", 0.99, { shapes: [shapeOf(9, 32)] }),
    ];
    const plan = expectPlan({ clusters, functions: [sized("2", 2)] });
    expect(clustersIn(plan)).toEqual(["b"]);
    expect(against(plan, "a")).toBe(
      "it has no room for 2 more of Order.place (2 CPU and 1 GiB each): at most 1 fit into 3 CPU and 8 GiB and 100 pods free on " +
        "1 node; add nodes, or lower cpu_request, memory_request or min_scale",
    );
  });

  test("keeps a cluster that has room once worse clusters, for which more replicas are needed, are left out", () => {
    const clusters = [
      reporting("a", 0.999, { shapes: [shapeOf(3, 8)] }),
      reporting("b", 0.95, { shapes: [shapeOf(1, 8)] }),
      reporting("c", 0.95, { shapes: [shapeOf(3, 8)] }),
    ];
    // With b or c, the default target needs three replicas in every cluster; a alone needs one.
    const plan = expectPlan({ clusters, functions: [sized("2")] });
    expect(plan.units.map(({ cluster, functions }) => [cluster, functions[0]?.minScale])).toEqual([["a", 1]]);
    expect(against(plan, "b")).toContain("no room for 1 more");
    expect(against(plan, "c")).toContain("no room for 3 more");
  });

  test("counts a replica only on nodes that are large enough for it", () => {
    const small = shapeOf(16, 64, { nodes: 16, largestFreeCpuMillicores: 1000 });
    const clusters = [reporting("a", 0.999, { shapes: [small] }), reporting("b", 0.99)];
    expect(clustersIn(expectPlan({ clusters, functions: [sized("2")] }))).toEqual(["b"]);
  });

  test("counts a replica only on nodes that have its extended resources", () => {
    const gpus = (free: number, largestFree: number) => ({ extended: { "nvidia.com/gpu": { free, largestFree } } });
    const functions = [withGpus(2)];
    const chosenOf = (...shapes: NodeShape[]) =>
      clustersIn(expectPlan({ clusters: [reporting("a", 0.999, { shapes }), reporting("b", 0.99)], functions }));
    expect(chosenOf(shapeOf(8, 32, gpus(2, 2)))).toEqual(["a"]);
    expect(chosenOf(shapeOf(8, 32, gpus(4, 1)))).toEqual(["b"]);
    expect(chosenOf(shapeOf(8, 32, { extended: {} }))).toEqual(["b"]);
    expect(chosenOf(shapeOf(8, 32, { extended: {} }), shapeOf(1, 2, gpus(2, 2)))).toEqual(["a"]);
    // A manager of an earlier release does not report them.
    expect(chosenOf(shapeOf(8, 32))).toEqual(["a"]);
  });

  test("names the extended resources that are missing, also together", () => {
    const shapes = [shapeOf(8, 32, { extended: { "nvidia.com/gpu": { free: 3, largestFree: 2 } } })];
    const clusters = [reporting("a", 0.99, { shapes })];
    expect(expectRefusal({ clusters, functions: [withGpus(4)] }).message).toContain(
      "no room for 1 more of Order.place (0 CPU and 0 GiB, 4 nvidia.com/gpu each): at most 0 fit into 8 CPU and 32 GiB, 3 nvidia.com/gpu",
    );
    const functions = [withGpus(2), { ...withGpus(2), key: functionKey("Order.cancel") }];
    const definition = { bindings: [bindingOf("place", "Order.place"), bindingOf("cancel", "Order.cancel")] };
    expect(expectRefusal({ clusters, functions, definition }).message).toContain(
      "no room for 2 more replicas (0 CPU and 0 GiB, 4 nvidia.com/gpu together): not all fit",
    );
  });

  test("ignores what runs already: a running unit does not exclude its own cluster", () => {
    const functions = [sized("2", 3)];
    const previous = expectPlan({ clusters: [reporting("a", 0.999)], functions });
    const full = [reporting("a", 0.999, { shapes: [shapeOf(0, 0)] }), reporting("b", 0.999)];
    expect(clustersIn(expectPlan({ clusters: full, functions, previous }))).toEqual(["a"]);
  });

  test("is unknown without shapes, and without stated requests only pods count", () => {
    const empty = reporting("a", 0.999, { shapes: [shapeOf(0, 0)] });
    expect(clustersIn(expectPlan({ clusters: [empty] }))).toEqual(["a"]);
    expect(clustersIn(expectPlan({ clusters: [reporting("a", 0.999)], functions: [sized("64")] }))).toEqual(["a"]);
    const noPods = reporting("a", 0.999, { shapes: [shapeOf(8, 8, { freePods: 0 })] });
    expect(
      clustersIn(expectPlan({ clusters: [noPods, reporting("b", 0.9)], deployment: { allowBestEffort: true } })),
    ).toEqual(["b"]);
  });

  test("is refused when nothing fits", () => {
    const clusters = [reporting("a", 0.99, { shapes: [shapeOf(1, 1)] })];
    expect(expectRefusal({ clusters, functions: [sized("2")] }).message).toContain(
      "it has no room for 1 more of Order.place",
    );
  });
});

describe("the price", () => {
  const cost = (cpuHour: number, currency = "EUR") => ({ cpuHour, gibHour: 0.01, currency });

  test("is the requests of all replicas for 730 hours", () => {
    const plan = expectPlan({ clusters: [clusterOf("a", 0.99, { cost: cost(0.05) })], functions: [sized("500m", 2)] });
    // 2 x 0.5 CPU at 0.05 and 2 GiB at 0.01, for 730 hours.
    expect(plan.price).toEqual({
      clusters: [{ cluster: "a", perMonth: 51.1, currency: "EUR", isAssumed: false }],
      totals: { EUR: 51.1 },
      unknownIn: [],
    });
    expect(plan.decisions.find(({ rule }) => rule.startsWith("price"))?.outcome).toBe("51.10 EUR per month");
  });

  test("counts the state store, and says where defaults replace requests", () => {
    const clusters = [clusterOf("a", 0.99, { cost: cost(0.05) })];
    const [without, withStore] = [{}, { definition: { stateSpec: stateOf() } }].map(
      (more) => expectPlan({ clusters, ...more }).price,
    );
    expect(withStore!.totals["EUR"]!).toBeGreaterThan(without!.totals["EUR"]!);
    expect(without!.clusters[0]!.isAssumed).toBe(true);
  });

  test("is unknown where the registration states none, and currencies are not added", () => {
    const targetClusters = ["a", "b", "c"].map(clusterName);
    const clusters = [
      clusterOf("a", 0.99, { cost: cost(0.05) }),
      clusterOf("b", 0.99),
      clusterOf("c", 0.99, { cost: cost(0.05, "USD") }),
    ];
    const { price } = expectPlan({ clusters, deployment: { targetClusters }, functions: [sized("1")] });
    expect(price.unknownIn).toEqual(["b"]);
    expect(Object.keys(price.totals)).toEqual(["EUR", "USD"]);
  });

  test("decides between equally available clusters only, and never moves a running unit", () => {
    const clusters = [
      clusterOf("a", 0.99, { cost: cost(0.09) }),
      clusterOf("b", 0.99, { cost: cost(0.04) }),
      clusterOf("c", 0.99),
    ];
    expect(clustersIn(expectPlan({ clusters }))).toEqual(["b"]);
    expect(clustersIn(expectPlan({ clusters: [...clusters, clusterOf("d", 0.999, { cost: cost(9) })] }))).toEqual([
      "d",
    ]);
    const previous = expectPlan({ clusters: clusters.slice(0, 1) });
    expect(clustersIn(expectPlan({ clusters, previous }))).toEqual(["a"]);
  });

  test("does not change the digest", () => {
    const [cheap, dear] = [0.01, 5].map((cpuHour) =>
      expectPlan({ clusters: [clusterOf("a", 0.99, { cost: cost(cpuHour) })] }),
    );
    expect(cheap?.digest).toBe(dear?.digest);
  });
});
