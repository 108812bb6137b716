import type { ClusterName, DeploymentKey } from "@oaas/models";
import { createRecordingMeter, type RecordingMeter } from "@oaas/observability/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  deploymentFor,
  KEY,
  memoryFixtureStore,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { unitIdOf } from "../planner/unit-id.ts";

const A = "a" as ClusterName;
const UNIT = unitIdOf(KEY, A);

let fixture: DeploymentFixture;
let meter: RecordingMeter;
let manager: ManagerUnderTest;
beforeEach(async () => {
  fixture = new DeploymentFixture(await memoryFixtureStore(), ["a", "b"]);
  meter = createRecordingMeter();
  fixture.driftOptions = { meter };
  manager = await fixture.manager({ meter });
});
afterEach(() => fixture.dispose());

const apply = (clusters: readonly string[] = ["a", "b"]) =>
  fixture.drive(manager.service.apply({ deployment: deploymentFor(clusters) }, CALL, {}));
const sagas = (outcome: string): number | undefined => meter.value("pm_sagas_total", { kind: "deploy-class", outcome });

describe("metrics of operations", () => {
  test("count sagas by kind and outcome, with their duration", async () => {
    expect(sagas("succeeded")).toBe(0);
    await apply();
    expect([sagas("succeeded"), sagas("failed")]).toEqual([1, 0]);
    expect(meter.observations("pm_saga_seconds", { kind: "deploy-class" })).toHaveLength(1);
    fixture.clusters.rejecting.add(A);
    const other = { ...deploymentFor(["a"]), key: "other" as DeploymentKey };
    await fixture.drive(manager.service.apply({ deployment: other }, CALL, {})).catch(() => undefined);
    await fixture.untilIdle(manager);
    expect([sagas("succeeded"), sagas("failed")]).toEqual([1, 1]);
  });

  test("count retries of saga steps by action", async () => {
    let failures = 2;
    fixture.clusters.down.add(A);
    manager.onCall = async (_, effect) => {
      if ((failures -= 1) === 0) fixture.clusters.down.delete(A);
      return effect();
    };
    await apply(["a"]).catch(() => undefined);
    await fixture.untilIdle(manager);
    expect(meter.value("pm_saga_step_retries_total", { action: "send" })).toBeGreaterThanOrEqual(1);
  });

  test("count computed plans and refusals by reason", async () => {
    await apply();
    expect(meter.observations("pm_plan_seconds").length).toBeGreaterThanOrEqual(1);
    const refusals = (reason: string): number | undefined => meter.value("pm_plan_refusals_total", { reason });
    expect([refusals("no-usable-cluster"), refusals("disabled")]).toEqual([0, 0]);
    fixture.package = { ...fixture.package, disabled: true };
    await expect(apply(["a"])).rejects.toThrow("is disabled");
    expect([refusals("no-usable-cluster"), refusals("disabled")]).toEqual([0, 1]);
  });

  test("count sweeps by outcome, drifted units and repairs", async () => {
    await apply();
    const sweep = async (): Promise<void> => {
      await fixture.drive(manager.drift.sweep());
      await fixture.untilIdle(manager);
    };
    const sweeps = (outcome: string): number | undefined => meter.value("pm_drift_sweeps_total", { outcome });
    const values = () =>
      ["pm_drift_units_total", "pm_drift_repairs_total", "pm_drift_unreachable_clusters"].map((name) =>
        meter.value(name),
      );
    await sweep();
    expect(values()).toEqual([0, 0, 0]);
    fixture.clusters.units.get(A)?.delete(UNIT);
    await sweep();
    expect(values()).toEqual([1, 1, 0]);
    fixture.clusters.down.add(A);
    await sweep();
    expect(values()).toEqual([1, 1, 1]);
    expect([sweeps("complete"), sweeps("partial")]).toEqual([2, 1]);
    expect(meter.observations("pm_drift_sweep_seconds")).toHaveLength(3);
  });
});
