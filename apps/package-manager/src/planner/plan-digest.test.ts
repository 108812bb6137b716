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

describe("the digest covers", () => {
  test.each<{ what: string; changed: Partial<DeploymentPlan>; parts: string[] }>([
    { what: "the target", changed: { sizing: { ...plan.sizing, target: 0.5 } }, parts: ["target_availability"] },
    { what: "the replicas", changed: { replicas: 5 }, parts: ["replicas"] },
    { what: "best effort", changed: { bestEffort: true }, parts: ["best_effort"] },
    {
      what: "the package revision",
      changed: { shared: { ...plan.shared, packageRevision: 2 } },
      parts: ["package_revision"],
    },
    {
      what: "the shared content of units",
      changed: { shared: { ...plan.shared, templateHint: "edge" } },
      parts: ["functions, configuration or requirements"],
    },
    { what: "the set of units", changed: { units: others }, parts: ["clusters", "scales"] },
    {
      what: "the template of a unit",
      changed: { units: [{ ...unit!, template: "edge" }, ...others] },
      parts: ["clusters"],
    },
    { what: "a minimum scale", changed: withScale({ minScale: 9 }), parts: ["scales"] },
    { what: "a maximum scale", changed: withScale({ maxScale: 9 }), parts: ["scales"] },
    {
      what: "nodes of the data grid",
      changed: { odgm: { ...odgm, nodeIds: { ...odgm.nodeIds, c00: [1] } } },
      parts: ["odgm"],
    },
    { what: "the shard map", changed: { odgm: { ...odgm, assignments: {} } }, parts: ["odgm"] },
    {
      what: "the roll-out",
      changed: {
        rollout: { strategy: RolloutStrategy.rolling, gate: RolloutGate.available, onFailure: RolloutFailure.stop },
      },
      parts: ["rollout"],
    },
  ])("$what", ({ changed, parts }) => {
    const other = { ...plan, ...changed };
    expect(planDigest(other)).not.toBe(plan.digest);
    expect(changedParts(plan.digest, planDigest(other)), "derived from the digests alone").toEqual(parts);
    expect(comparePlans(plan, other)).not.toEqual([]);
  });
});

describe("the digest does not cover", () => {
  test.each<{ what: string; changed: Partial<DeploymentPlan> }>([
    { what: "readings", changed: { clusters: [] } },
    { what: "the achieved availability", changed: { achievedAvailability: 0.5 } },
    { what: "explanations", changed: { decisions: [] } },
    { what: "reasons of a scale", changed: withScale({ basis: "user", reason: "another reason" }) },
  ])("$what", ({ changed }) => {
    const other = { ...plan, ...changed };
    expect(planDigest(other)).toBe(plan.digest);
    expect(comparePlans(plan, other)).toEqual([]);
  });
});

test("a stored plan keeps its digest", () => {
  expect(planDigest(JSON.parse(JSON.stringify(plan)) as DeploymentPlan)).toBe(plan.digest);
});

test.each(["", "nonsense", "a".repeat(40), `${"a".repeat(40)}-12`])(
  "reports no changed parts for a text that is not a digest: %s",
  (text) => {
    expect(changedParts(text, plan.digest)).toEqual([]);
  },
);
