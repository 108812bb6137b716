import { virtualAmbient } from "@oaas/foundation/virtual";
import type { ClusterName, DeploymentKey, UnitId } from "@oaas/models";
import { createRecordingLogger, createRecordingMeter } from "@oaas/observability/testing";
import { openMemoryStore } from "@oaas/storage/memory";
import { expect, test } from "vitest";
import { UnaccountedUnits } from "./unaccounted-units.ts";
import { unaccountedWarnings, type UnaccountedUnit } from "../records/unaccounted-unit.ts";

const A = "a" as ClusterName;
const B = "b" as ClusterName;
const unit = (name: string, cluster: ClusterName = A): UnaccountedUnit => ({
  cluster,
  unitId: `${name}-${cluster}` as UnitId,
  deploymentKey: name,
  packageName: "shop",
  classKey: "Order",
});

function setUp() {
  const store = openMemoryStore({ ambient: virtualAmbient(1) });
  const logger = createRecordingLogger();
  const meter = createRecordingMeter();
  return { store, logger, meter, units: new UnaccountedUnits({ store, logger: logger.log, meter }) };
}

test("logs each unit once, counts it, and drops it when it is not found any more", async () => {
  const { store, logger, meter, units } = setUp();
  await units.record([unit("x"), unit("y")], []);
  await units.record([unit("y"), unit("x")], []);
  expect(logger.records).toMatchObject([{ level: "warn", fields: { count: 2, units: ["a/x-a", "a/y-a"] } }]);
  expect(meter.value("pm_units_unaccounted")).toBe(2);
  const revision = await store.revision();
  await units.record([unit("x"), unit("y")], []);
  expect(await store.revision(), "nothing is written when nothing changed").toBe(revision);
  await units.record([], []);
  expect([units.units, meter.value("pm_units_unaccounted")]).toEqual([[], 0]);
});

test("keeps the units of an unreachable cluster, in every process", async () => {
  const { store, logger, meter, units } = setUp();
  await units.record([unit("x"), unit("x", B)], []);
  await units.record([], [B]);
  expect(units.units).toEqual([unit("x", B)]);
  const other = new UnaccountedUnits({ store, logger: logger.log, meter: createRecordingMeter() });
  expect(await other.ofDeployment("x" as DeploymentKey)).toEqual([unit("x", B)]);
  expect(await other.ofDeployment("y" as DeploymentKey)).toEqual([]);
  expect(other.units).toEqual(units.units);
  expect(meter.value("pm_units_unaccounted")).toBe(1);
});

test("bounds the list and the warning", async () => {
  const { units } = setUp();
  const many = Array.from({ length: 2_000 }, (_, index) => unit(`d${index}`));
  await units.record(many, []);
  expect(units.units).toHaveLength(500);
  expect(unaccountedWarnings(units.units)[0]).toMatch(
    /: "d0" in a; ("d\d+" in a; ){3}"d\d+" in a; and 495 more\. They keep running/,
  );
});

test("names deployments with their clusters, and units without a deployment", () => {
  expect(unaccountedWarnings([])).toEqual([]);
  const { deploymentKey: _, ...nameless } = unit("z");
  expect(unaccountedWarnings([unit("x"), unit("x", B), nameless])).toEqual([
    expect.stringContaining('"x" in a, b; "z-a" in a. They keep running'),
  ]);
});

test("warns separately about two names of one cluster", async () => {
  const { logger, meter, units } = setUp();
  await units.record(
    [
      { ...unit("x"), home: B },
      { ...unit("y"), home: B },
    ],
    [],
  );
  expect(unaccountedWarnings(units.units)).toEqual([
    expect.stringMatching(/^clusters "a" and "b" report the same units/),
  ]);
  expect(logger.records).toMatchObject([{ level: "warn", fields: { count: 2, units: ["a/x-a", "a/y-a"] } }]);
  expect(meter.value("pm_units_unaccounted")).toBe(0);
  expect(await units.ofDeployment("x" as DeploymentKey)).toEqual([]);
});
