import { RolloutFailure, RolloutGate, RolloutStrategy } from "@oaas/models";
import { describe, expect, test } from "vitest";
import { comparePlans } from "./explanation/compare-plans.ts";
import { changedParts, planDigest } from "./plan-digest.ts";
import type { DeploymentPlan, PlannedOdgm } from "./plan-types.ts";
import { expectPlan, STRONG_STATE } from "./testing/plan-inputs.ts";

const plan = expectPlan({ definition: { stateSpec: STRONG_STATE } });
const [unit, ...others] = plan.units;
const [scale] = unit!.functions;
const odgm = plan.odgm as PlannedOdgm;

const withScale = (more: object): Partial<DeploymentPlan> => ({
  units: [{ ...unit!, functions: [{ ...scale!, ...more }] }, ...others],
});

describe("the digest stands for", () => {
  test.each<{ what: string; changed: Partial<DeploymentPlan>; moved: string[] }>([
    { what: "the target", changed: { sizing: { ...plan.sizing, target: 0.5 } }, moved: ["target_availability"] },
    { what: "the replicas", changed: { replicas: 5 }, moved: ["replicas"] },
    { what: "whether the best was accepted", changed: { bestEffort: true }, moved: ["best_effort"] },
    {
      what: "the package's revision",
      changed: { shared: { ...plan.shared, packageRevision: 2 } },
      moved: ["package_revision"],
    },
    {
      what: "what all units say",
      changed: { shared: { ...plan.shared, templateHint: "edge" } },
      moved: ["functions, configuration or requirements"],
    },
    { what: "which units there are", changed: { units: others }, moved: ["clusters", "scales"] },
    { what: "a unit's template", changed: { units: [{ ...unit!, template: "edge" }, ...others] }, moved: ["clusters"] },
    { what: "a least scale", changed: withScale({ minScale: 9 }), moved: ["scales"] },
    { what: "a largest scale", changed: withScale({ maxScale: 9 }), moved: ["scales"] },
    {
      what: "nodes of the data grid",
      changed: { odgm: { ...odgm, nodeIds: { ...odgm.nodeIds, c00: [1] } } },
      moved: ["odgm"],
    },
    { what: "the shard map", changed: { odgm: { ...odgm, assignments: {} } }, moved: ["odgm"] },
    {
      what: "the roll-out",
      changed: {
        rollout: { strategy: RolloutStrategy.rolling, gate: RolloutGate.available, onFailure: RolloutFailure.stop },
      },
      moved: ["rollout"],
    },
  ])("$what", ({ changed, moved }) => {
    const other = { ...plan, ...changed };
    expect(planDigest(other)).not.toBe(plan.digest);
    expect(changedParts(plan.digest, planDigest(other)), "known from the digests alone").toEqual(moved);
    expect(comparePlans(plan, other)).not.toEqual([]);
  });
});

describe("the digest does not stand for", () => {
  test.each<{ what: string; changed: Partial<DeploymentPlan> }>([
    { what: "readings", changed: { clusters: [] } },
    { what: "what is reached", changed: { achievedAvailability: 0.5 } },
    { what: "explanations", changed: { decisions: [] } },
    { what: "reasons of a scale", changed: withScale({ basis: "user", reason: "other words" }) },
  ])("$what", ({ changed }) => {
    const other = { ...plan, ...changed };
    expect(planDigest(other)).toBe(plan.digest);
    expect(comparePlans(plan, other)).toEqual([]);
  });
});

test("a plan that was stored has the digest that it had", () => {
  expect(planDigest(JSON.parse(JSON.stringify(plan)) as DeploymentPlan)).toBe(plan.digest);
});

test.each(["", "nonsense", "a".repeat(40), `${"a".repeat(40)}-12`])("what is no digest tells nothing: %s", (text) => {
  expect(changedParts(text, plan.digest)).toEqual([]);
});
