import { eventually } from "@oaas/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, startPm, type PmUnderTest } from "./running-pm.ts";

let east: ScriptedCrm;
let west: ScriptedCrm;
let pm: PmUnderTest;
beforeEach(async () => {
  [east, west] = await Promise.all([ScriptedCrm.start({ name: "east" }), ScriptedCrm.start({ name: "west" })]);
  pm = await startPm({
    clusters: { east: east.url, west: west.url },
    // The periodic drift check and health check come too late for these tests.
    env: { DEPLOY_RECONCILE_INTERVAL: "1h", CRM_HEALTH_CHECK_INTERVAL: "1h", DEPLOY_WAIT: "30s" },
  });
  await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") });
  const body = { key: "echo", package_name: "shop", class_key: "Echo", target_clusters: ["east", "west"] };
  expect((await pm.call("POST", "/api/v1/deployments", { body })).status).toBe(200);
});
afterEach(async () => {
  await pm.close();
  await Promise.all([east.close(), west.close()]);
});

describe("a deletion that waits for an unreachable cluster", () => {
  test("finishes when the cluster recovers, without waiting for the drift check", async () => {
    await west.down();
    const { json } = await pm.call("DELETE", "/api/v1/deployments/echo");
    expect(JSON.stringify(json)).toContain("west");
    expect([east.units.size, west.units.size]).toEqual([0, 1]);
    await west.up();
    await eventually(() => expect(west.units.size).toBe(0), {
      timeoutMs: 60_000,
      what: "the pending removal to finish",
    });
    await eventually(async () => expect((await pm.call("GET", "/api/v1/deployments/echo")).status).toBe(404), {
      timeoutMs: 30_000,
    });
  });
});
