import { describe, expect, test } from "vitest";
import { planDeployment } from "./plan.ts";
import { clusterName, clusterOf, inputOf } from "./testing/plan-inputs.ts";

const cordon = { by: "ann", at: "2026-01-01T00:00:00Z", reason: "kernel update" };
const clusters = [clusterOf("a", 0.999, { cordon }), clusterOf("b", 0.99)];

describe("a cordoned cluster", () => {
  test("gets no new unit, with the reason in the plan", () => {
    const planned = planDeployment(inputOf({ clusters }));
    if (!planned.ok) throw new Error(planned.error.message);
    expect(planned.value.units.map(({ cluster }) => cluster)).toEqual(["b"]);
    expect(planned.value.clusters.find(({ cluster }) => cluster === "a")?.reasonsAgainst).toEqual([
      { code: "cordoned", text: "cordoned by ann: kernel update" },
    ]);
  });

  test("keeps the unit that it has", () => {
    const before = planDeployment(inputOf({ clusters: [clusterOf("a", 0.999)] }));
    if (!before.ok) throw new Error(before.error.message);
    const planned = planDeployment(inputOf({ clusters, previous: before.value }));
    expect(planned.ok && planned.value.units.map(({ cluster }) => cluster)).toEqual(["a"]);
  });

  test("is refused by name; waiting does not help", () => {
    const deployment = { targetClusters: [clusterName("a")] };
    const planned = planDeployment(inputOf({ clusters, deployment }));
    expect(planned).toMatchObject({
      ok: false,
      error: {
        kind: "no-usable-cluster",
        assumed: true,
        message: "clusters in target_clusters are not usable: a (cordoned by ann: kernel update); uncordon them",
      },
    });
  });
});
