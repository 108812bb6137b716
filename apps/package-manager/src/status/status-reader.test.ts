import { notFound, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import type {
  ClassDefinition,
  ClusterHealth,
  ClusterName,
  DeploymentKey,
  FunctionKey,
  StateStoreStatus,
  UnitId,
} from "@oaas/models";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { clusterOf, expectPlan, STRONG_STATE } from "../planner/testing/plan-inputs.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import type { CrmGateway, RuntimeQuery, UnitReport } from "../ports.ts";
import { matchesQuery } from "./runtime-query.ts";
import { RuntimeView } from "./runtime-view.ts";
import { ClusterStatusReader } from "./status-reader.ts";
import { recordOf, reportOf } from "./testing/reports.ts";

/** In-memory clusters: unreachable ones fail, live ones are also in the view. */
function readerOver(
  clusters: Readonly<Record<string, readonly UnitReport[]>>,
  record?: DeploymentRecord,
  defaultCluster?: string,
  classes: readonly ClassDefinition[] = [],
  plan?: DeploymentPlan,
) {
  const { clock } = virtualAmbient(1);
  const view = new RuntimeView(clock);
  const world = new Map(Object.entries(clusters));
  const unreachable = new Set<string>();
  const queried: string[] = [];
  const units = (cluster: ClusterName): readonly UnitReport[] => {
    queried.push(cluster);
    if (unreachable.has(cluster)) throw unavailable(cluster, `cluster "${cluster}" is unreachable`);
    return world.get(cluster) ?? [];
  };
  const gateway = {
    unit: async (cluster: ClusterName, id: UnitId) => units(cluster).find(({ unitId }) => unitId === id),
    async *runtimes(cluster: ClusterName, query: RuntimeQuery) {
      yield* units(cluster).filter((report) => matchesQuery(report, query));
    },
    explain: async (cluster: ClusterName, id: UnitId) => {
      if (!units(cluster).some(({ unitId }) => unitId === id)) throw notFound("class runtime", id);
      return undefined;
    },
    topology: async (cluster: ClusterName) => {
      units(cluster);
      const node = { id: "environment::x", nodeType: "environment", status: "healthy", metadata: {} } as const;
      return { nodes: [{ ...node, deployedClasses: [] }], edges: [], timestamp: "" };
    },
  } as unknown as CrmGateway;
  const entry = (name: string) => ({ name: name as ClusterName }) as never;
  const health = (name: string): ClusterHealth => ({ cluster: name as ClusterName, status: "healthy" });
  const reader = new ClusterStatusReader({
    clock,
    view,
    gateway,
    turns: { get: async () => undefined },
    classes: () => classes,
    defaultCluster: () => defaultCluster as ClusterName | undefined,
    clusters: {
      list: () => [...world.keys()].map(entry),
      get: (name) => (world.has(name) ? entry(name) : undefined),
      reading: async (name) => ({ cluster: name, health: health(name), breaker: "closed" }),
      readings: async () =>
        [...world.keys()].map((name) => ({
          cluster: name as ClusterName,
          health: health(name),
          breaker: "closed" as const,
        })),
    },
    deployments: {
      record: async () => record,
      plan: async () => plan,
      operation: () => undefined,
      all: () => (record === undefined ? [] : [record]),
    },
  });
  const follow = (name: string): void => {
    const cluster = name as ClusterName;
    view.apply(cluster, { type: "syncing" }, "live");
    for (const report of world.get(name) ?? []) view.apply(cluster, { type: "changed", report }, "live");
    view.apply(cluster, { type: "synced" }, "live");
  };
  return { reader, view, world, unreachable, queried, follow };
}

describe("status", () => {
  const plan = expectPlan({
    clusters: [clusterOf("a", 0.99), clusterOf("b", 0.9), clusterOf("c", 0.8)],
    definition: { stateSpec: STRONG_STATE },
    deployment: { nfr: { availability: 0.96 }, targetClusters: ["a", "b", "c"] as ClusterName[] },
  });

  it("has the planned availability, and the present one only while a cluster is down", async () => {
    const clusters = { a: [reportOf("a", "cart-a")], b: [reportOf("b", "cart-b")], c: [reportOf("c", "cart-c")] };
    const record = recordOf({ a: {}, b: {}, c: {} });
    const over = readerOver(clusters, record, undefined, [], plan);
    const healthy = await over.reader.status("cart" as DeploymentKey);
    expect(healthy.plannedAvailability).toEqual(plan.availability);
    expect(healthy).not.toHaveProperty("presentAvailability");

    over.unreachable.add("c");
    const { presentAvailability } = await over.reader.status("cart" as DeploymentKey);
    expect(presentAvailability).toMatchObject({ clustersDown: ["c"] });
    expect(presentAvailability?.clusterBound).toBeCloseTo(0.99 * 0.9, 12);
  });

  it("shows the state stores, and who waits for a turn to restart", async () => {
    const store = { ready: true, desiredReplicas: 1, readyReplicas: 1, writable: true, missingShards: [] };
    const restart = { state: "waiting-for-turn", reason: "TemplateChanged", message: "image", nodes: [1] } as const;
    const withStore = (cluster: string, stateStore: StateStoreStatus) => {
      const report = reportOf(cluster, `cart-${cluster}`);
      const status = { condition: "running", phase: "running", lastUpdated: "", stateStore } as const;
      return [{ ...report, runtime: { ...report.runtime, status } }];
    };
    const clusters = { a: withStore("a", { ...store, restart }), b: withStore("b", store), c: withStore("c", store) };
    const over = readerOver(clusters, recordOf({ a: {}, b: {}, c: {} }), undefined, [], plan);
    const healthy = await over.reader.status("cart" as DeploymentKey);
    expect(healthy.clusters.map(({ stateStore }) => stateStore)).toEqual([{ ...store, restart }, store, store]);
    expect(healthy.stateRestart).toEqual({
      waiting: [{ cluster: "a", nodeId: 1 }],
      message: "node 1 in a is next",
    });

    over.unreachable.add("c");
    const { stateRestart } = await over.reader.status("cart" as DeploymentKey);
    expect(stateRestart?.message).toMatch(/^c: it cannot be read: .*unreachable/);
  });

  it("lists each requirement with the reason why it is not measured", async () => {
    const notObserved = "Prometheus is unavailable";
    const clusters = { a: [reportOf("a", "cart-a", { notObserved })] };
    const over = readerOver(clusters, recordOf({ a: {} }), undefined, [], plan);
    const { requirements } = await over.reader.status("cart" as DeploymentKey);
    expect(requirements?.[0]).toMatchObject({
      requirement: "availability",
      use: "sizing",
      state: "not_measured",
      measurements: [{ reason: notObserved }],
    });
  });

  it("counts a cluster that reports the class as down, and one from which it was deleted", async () => {
    const clusters = { a: [reportOf("a", "cart-a", { condition: "down" })], b: [reportOf("b", "cart-b")] };
    const over = readerOver(clusters, recordOf({ a: {}, b: {} }), undefined, [], plan);
    const { presentAvailability } = await over.reader.status("cart" as DeploymentKey);
    expect(presentAvailability).toMatchObject({ clustersDown: ["a", "c"], clusterBound: 0 });
  });
});

describe("runtimes", () => {
  const inCluster = (name: string) =>
    fc
      .uniqueArray(fc.nat(400), { maxLength: 40 })
      .map((ids) => ids.map((id) => reportOf(name, `unit-${String(id).padStart(3, "0")}`)));
  const worlds = fc.record({ a: inCluster("a"), b: inCluster("b"), c: inCluster("c") });

  it("returns every runtime once and in order over all pages, while units come and go", async () => {
    await fc.assert(
      fc.asyncProperty(
        worlds,
        fc.integer({ min: 1, max: 17 }),
        fc.subarray(["a", "b", "c"]),
        fc.subarray(["a", "b", "c"]),
        fc.boolean(),
        async (clusters, limit, live, unreachable, churn) => {
          const over = readerOver(clusters);
          for (const name of live) over.follow(name);
          const down = unreachable.filter((name) => !live.includes(name));
          for (const name of down) over.unreachable.add(name);
          const stable = Object.entries(clusters)
            .filter(([name]) => !down.includes(name))
            .flatMap(([name, reports]) => reports.map(({ unitId }) => `${name}/${unitId}`))
            .toSorted();
          const seen: string[] = [];
          let pageToken: string | undefined;
          let pages = 0;
          do {
            const page = await over.reader.runtimes({ limit, ...(pageToken === undefined ? {} : { pageToken }) });
            expect(page.missing).toEqual(down);
            expect(page.items.length).toBeLessThanOrEqual(limit);
            seen.push(...page.items.map(({ cluster, unitId }) => `${cluster}/${unitId}`));
            pageToken = page.next;
            pages += 1;
            // A new first item must not shift the pages.
            if (churn) over.world.set("a", [reportOf("a", `aaa-${pages}`), ...(over.world.get("a") ?? [])]);
            if (churn && live.includes("a")) over.follow("a");
          } while (pageToken !== undefined);
          const old = seen.filter((name) => !name.includes("/aaa-"));
          expect(old).toEqual(stable);
          expect(new Set(seen).size).toBe(seen.length);
        },
      ),
    );
  });

  it("queries a polled cluster, because its view may be outdated", async () => {
    const over = readerOver({ a: [reportOf("a", "u1")], b: [reportOf("b", "u2")] });
    over.follow("a");
    over.view.apply("b" as ClusterName, { type: "syncing" }, "polled");
    over.view.apply("b" as ClusterName, { type: "synced" }, "polled");
    const { items, missing } = await over.reader.runtimes({});
    expect(items.map(({ unitId }) => unitId)).toEqual(["u1", "u2"]);
    expect([missing, over.queried]).toEqual([[], ["b"]]);
    over.unreachable.add("b");
    expect((await over.reader.runtimes({})).missing).toEqual(["b"]);
  });

  it("supports offset, filters and totals, and rejects foreign tokens", async () => {
    const over = readerOver({
      a: [reportOf("a", "x"), reportOf("a", "y", { condition: "down" })],
      b: [reportOf("b", "z")],
    });
    over.follow("a");
    expect(await over.reader.runtimes({ limit: 1, offset: 1 })).toMatchObject({
      total: 3,
      items: [{ unitId: "y" }],
    });
    expect((await over.reader.runtimes({ condition: "running" })).items.map(({ unitId }) => unitId)).toEqual([
      "x",
      "z",
    ]);
    expect((await over.reader.runtimes({ cluster: "b" as ClusterName })).total).toBe(1);
    expect((await over.reader.runtimes({ classKey: "Cart", packageName: "other" })).total).toBe(0);
    await expect(over.reader.runtimes({ pageToken: "!" })).rejects.toMatchObject({
      detail: { kind: "invalid-argument" },
    });
    await expect(over.reader.runtimes({ cluster: "x" as ClusterName })).rejects.toMatchObject({
      detail: { kind: "invalid-argument" },
    });
  });
});

describe("unit", () => {
  it("finds a unit in any cluster, without a query if its cluster is watched", async () => {
    const over = readerOver({ a: [], b: [reportOf("b", "x")] });
    expect(await over.reader.unit("x" as UnitId)).toMatchObject({ cluster: "b" });
    over.follow("b");
    over.queried.splice(0);
    expect(await over.reader.unit("x" as UnitId)).toMatchObject({ cluster: "b" });
    expect(over.queried).toEqual([]);
    await expect(over.reader.unit("y" as UnitId)).rejects.toMatchObject({ detail: { kind: "not-found" } });
    await expect(over.reader.unit("x" as UnitId, "a" as ClusterName)).rejects.toMatchObject({
      detail: { kind: "not-found" },
    });
  });

  it("prefers the default cluster when several have the unit", async () => {
    const over = readerOver({ a: [reportOf("a", "x")], b: [reportOf("b", "x")] }, undefined, "b");
    expect(await over.reader.unit("x" as UnitId)).toMatchObject({ cluster: "b" });
    expect(await over.reader.unit("x" as UnitId, "a" as ClusterName)).toMatchObject({ cluster: "a" });
  });

  it("returns unavailable instead of not-found while a cluster is unreachable", async () => {
    const over = readerOver({ a: [], b: [reportOf("b", "x")] });
    over.unreachable.add("b");
    await expect(over.reader.unit("x" as UnitId)).rejects.toThrow(/unreachable: b/);
  });
});

describe("status, explain and topology", () => {
  const key = "cart" as DeploymentKey;
  const record = recordOf({ a: {}, b: {} });

  it("reads from the view, and queries clusters whose report is not the accepted revision", async () => {
    const over = readerOver({ a: [reportOf("a", "cart-a")], b: [reportOf("b", "cart-b", { digest: "old" })] }, record);
    over.follow("a");
    over.follow("b");
    over.world.set("b", [reportOf("b", "cart-b")]);
    over.queried.splice(0);
    expect(await over.reader.status(key)).toMatchObject({ condition: "running" });
    expect(over.queried).toEqual(["b"]);
  });

  it("reports an unreachable cluster with its last known state", async () => {
    const over = readerOver({ a: [reportOf("a", "cart-a")], b: [reportOf("b", "cart-b")] }, record);
    over.follow("b");
    over.view.markLost("b" as ClusterName, "cut");
    over.unreachable.add("b");
    const { clusters, condition } = await over.reader.status(key);
    expect(condition).toBe("degraded");
    expect(clusters[1]).toMatchObject({
      reachable: false,
      condition: "unknown",
      message: "last known state: running",
      error: 'cluster "b" is unreachable',
    });
  });

  it("explains over all clusters, with a fallback for managers without explain", async () => {
    const over = readerOver(
      { a: [reportOf("a", "cart-a", { condition: "down", message: "no image" })], b: [] },
      record,
    );
    over.unreachable.add("b");
    const explanation = await over.reader.explain(key);
    expect(explanation).toMatchObject({ verdict: "permanent", clusters: [{ cluster: "a" }, { cluster: "b" }] });
    expect(explanation.summary).toBe("In a: no image.");
    expect(await over.reader.explain(key, "b" as ClusterName)).toMatchObject({ verdict: "transient" });
    await expect(over.reader.explain(key, "c" as ClusterName)).rejects.toMatchObject({
      detail: { kind: "invalid-argument" },
    });
  });

  it("explains a placement in a cluster that is not registered any more", async () => {
    const { reader } = readerOver({ a: [reportOf("a", "cart-a", { condition: "running" })] }, record);
    expect(await reader.explain(key, "b" as ClusterName)).toMatchObject({
      summary: "Cluster b: the cluster is not registered any more.",
      clusters: [{ cluster: "b", error: "the cluster is not registered any more" }],
    });
  });

  it("returns not-found for an unknown deployment", async () => {
    const { reader } = readerOver({});
    await expect(reader.status(key)).rejects.toMatchObject({ detail: { kind: "not-found" } });
    await expect(reader.explain(key)).rejects.toMatchObject({ detail: { kind: "not-found" } });
  });

  it("draws the bound functions of a class if the deployment lists none", async () => {
    const bindings = ["Cart.add", "Cart.get", "Cart.add"].map((functionKey) => ({ functionKey }));
    const plain = { ...record, deployment: { ...record.deployment, functions: [] } };
    const { reader } = readerOver({ a: [] }, plain, undefined, [{ key: "shop.Cart", bindings } as never]);
    const { nodes, edges } = await reader.topology("deployments");
    expect(nodes.filter(({ nodeType }) => nodeType === "function").map(({ id }) => id)).toEqual([
      "function::shop.Cart::Cart.add",
      "function::shop.Cart::Cart.get",
    ]);
    expect(edges.filter(({ to }) => to.startsWith("function::"))).toHaveLength(2);
  });

  it("shows the health and replicas of each function, sorted, whatever the order of reports", async () => {
    const functions = ["Cart.add", "Cart.get"];
    const statusOf = (keys: readonly string[]) => ({
      condition: "degraded" as const,
      phase: "running" as const,
      serving: true,
      upToDate: false,
      lastUpdated: "",
      functions: keys.map((key) => ({
        functionKey: key as FunctionKey,
        service: "s",
        port: 80,
        predictedUrl: "",
        template: "dev",
        condition: key === "Cart.get" ? ("degraded" as const) : ("running" as const),
        serving: true,
        desiredReplicas: 3,
        readyReplicas: key === "Cart.get" ? 2 : 3,
      })),
    });
    const topologyOf = async (keys: readonly string[], clusters: readonly string[]) => {
      const reports = clusters.map((name) => [
        name,
        [reportOf(name, `cart-${name}`, { condition: "degraded", runtime: { status: statusOf(keys) } })],
      ]);
      const listed = keys.map((functionKey) => ({ functionKey, config: {} }) as never);
      const placed = recordOf(Object.fromEntries(clusters.map((name) => [name, {}])));
      const over = readerOver(Object.fromEntries(reports), {
        ...placed,
        deployment: { ...placed.deployment, functions: listed },
      });
      for (const name of clusters) over.follow(name);
      return over.reader.topology("deployments");
    };
    const { nodes, edges } = await topologyOf(functions, ["a", "b"]);
    expect(nodes.map(({ id, status, metadata }) => [id, status, metadata["health"], metadata["replicas"]])).toEqual([
      ["package::shop", "degraded", "Degraded", undefined],
      ["class::shop.Cart", "degraded", "Degraded", undefined],
      ["function::shop.Cart::Cart.add", "healthy", "Running", "6/6"],
      ["function::shop.Cart::Cart.get", "degraded", "Degraded", "4/6"],
      ["env::a", "healthy", "Healthy", undefined],
      ["env::b", "healthy", "Healthy", undefined],
    ]);
    const reversed = await topologyOf(functions.toReversed(), ["b", "a"]);
    expect({ nodes: reversed.nodes, edges: reversed.edges }).toEqual({ nodes, edges });
  });

  it("shows a function as unknown while its cluster is not followed", async () => {
    const { reader } = readerOver({ a: [reportOf("a", "cart-a")] }, recordOf({ a: {} }));
    const { nodes } = await reader.topology("deployments");
    expect(nodes.find(({ nodeType }) => nodeType === "function")).toMatchObject({ status: "unknown" });
  });

  it("draws clusters, and names unreachable clusters in the live topology", async () => {
    const over = readerOver({ a: [], b: [] }, record);
    const { nodes, edges } = await over.reader.topology("deployments");
    expect(nodes.map(({ id }) => id).toSorted()).toEqual([
      "class::shop.Cart",
      "env::a",
      "env::b",
      "function::shop.Cart::Cart.add",
      "package::shop",
    ]);
    expect(edges).toHaveLength(4);
    expect(nodes.find(({ id }) => id === "env::a")).toMatchObject({
      metadata: { name: "a" },
      deployedClasses: ["shop.Cart"],
    });
    over.unreachable.add("b");
    expect((await over.reader.topology("zenoh")).nodes.map(({ id, status }) => [id, status])).toEqual([
      ["a/environment::x", "healthy"],
      ["b/env::b", "unreachable"],
    ]);
    over.unreachable.add("a");
    await expect(over.reader.topology("zenoh")).rejects.toMatchObject({ detail: { kind: "unavailable" } });
  });
});
