import type { ClusterName } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { expectPlan } from "../planner/testing/plan-inputs.ts";
import { CALL, deploymentFor } from "../../test/fakes/deployment-fixture.ts";
import type { NamedDeployment } from "../deployments/planning/gather-plan-input.ts";
import { markDeleted, applyDesired, withdrawFromCluster, type DesiredDeployment } from "./desired-deployment.ts";

const desired = (clusters: readonly string[], nowMs: number): DesiredDeployment => {
  const deployment = deploymentFor(clusters, { availableClusters: [] }) as NamedDeployment;
  const plan = {
    ...expectPlan(),
    units: clusters.map((cluster) => ({ unitId: `u-${cluster}`, cluster, functions: [] })),
  };
  return {
    deployment,
    plan: plan as unknown as DesiredDeployment["plan"],
    kind: "deploy",
    withdrawn: [],
    claims: [],
    digests: Object.fromEntries(clusters.map((cluster) => [cluster, `digest of ${cluster}`])),
    call: CALL,
    nowMs,
  };
};
const states = ({ placements }: { readonly placements: object }): string =>
  Object.entries(placements as Record<string, { state: string }>)
    .map(([cluster, { state }]) => `${cluster} ${state}`)
    .join(", ");

describe("desired deployments", () => {
  test("keep a placement for every cluster that may have a unit", () => {
    const first = applyDesired(undefined, desired(["a", "b"], 1000)).record;
    const second = applyDesired(first, desired(["b", "c"], 2000)).record;
    expect(states(second)).toBe("a leaving, b wanted, c wanted");
    const gone = markDeleted(second, CALL, 3000);
    expect(states(gone)).toBe("a withdrawn, b withdrawn, c withdrawn");
    expect(gone).toMatchObject({ condition: "deleted", deletion: { by: "ann", reason: "because" } });
    expect(gone).not.toHaveProperty("desired");
    expect(states(applyDesired(gone, desired(["c"], 4000)).record)).toBe("a withdrawn, b withdrawn, c wanted");
  });

  test("increase the unit revision with every change, independent of the clock, and reserve one for the undo", () => {
    const first = applyDesired(undefined, desired(["a"], 1000));
    expect(first.record).toMatchObject({ desired: { revision: 1, unitRevision: 1000 }, unitRevision: 1001 });
    const again = applyDesired(first.record, desired(["a"], 500)).record;
    expect(again).toMatchObject({ desired: { revision: 2, unitRevision: 1002 }, unitRevision: 1003 });
    expect(markDeleted(again, CALL, 0).unitRevision).toBe(1004);
  });

  test("withdrawn from one cluster: the others are as they were", () => {
    const { record, entry } = applyDesired(undefined, desired(["a", "b"], 1000));
    const { deployment, plan, call } = desired(["a", "b"], 2000);
    const less = withdrawFromCluster(record, "a" as ClusterName, entry, { deployment, plan, call, nowMs: 2000 });
    expect(states(less.record)).toBe("a withdrawn, b wanted");
    expect(less.entry).toMatchObject({ revision: 2, withdrawn: ["a"], kind: "withdraw" });
    expect(less.record.summary.selectedClusters).toEqual(["b"]);
  });
});
