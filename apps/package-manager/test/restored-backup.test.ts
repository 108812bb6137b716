import { copyFileSync, rmSync } from "node:fs";
import path from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { eventually, makeRunFolder, type RunFolder } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, startPm, type PmUnderTest } from "./running-pm.ts";

let folder: RunFolder;
let east: ScriptedCrm;
beforeAll(async () => {
  [folder, east] = await Promise.all([makeRunFolder("pm-restored"), ScriptedCrm.start({ name: "east" })]);
});
afterAll(async () => {
  await east.close();
  await folder.remove();
});

const deployment = (key: string) => ({ key, package_name: "shop", class_key: "Echo", target_clusters: ["east"] });
const keys = (): string[] => east.units.all().map(({ unit }) => unit.deploymentKey ?? "");

test("keeps newer deployments running after a restore, and /health says how to manage them again", async () => {
  const file = path.join(folder.path, "pm.db");
  const backup = path.join(folder.path, "backup.db");
  const withPm = async (work: (pm: PmUnderTest) => Promise<void>): Promise<void> => {
    const store = openSqliteStore({ ambient: realAmbient, file });
    const env = { DEPLOY_RECONCILE_INTERVAL: "1s", DEPLOY_WAIT: "20s" };
    const pm = await startPm({ store, clusters: { east: east.url }, env });
    await work(pm);
    await pm.close();
    await store.close();
  };
  const deploy = async (pm: PmUnderTest, key: string): Promise<void> => {
    expect((await pm.call("POST", "/api/v1/deployments", { body: deployment(key) })).status).toBe(200);
  };
  await withPm(async (pm) => {
    await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") });
    await deploy(pm, "before");
  });
  copyFileSync(file, backup);
  await withPm((pm) => deploy(pm, "since"));
  rmSync(`${file}-wal`, { force: true });
  copyFileSync(backup, file);

  await withPm(async (pm) => {
    const warnings = async (): Promise<string> => ((await pm.call("GET", "/health")).json.warnings ?? []).join();
    await eventually(async () => expect(await warnings()).toContain('"since" in east'), { timeoutMs: 60_000 });
    const looks = east.callsOf("ListClassRuntimes").length;
    await eventually(() => expect(east.callsOf("ListClassRuntimes").length).toBeGreaterThan(looks + 3), {
      timeoutMs: 60_000,
      what: "more sweeps of the cluster",
    });
    expect(keys()).toEqual(["before", "since"]);
    await deploy(pm, "since");
    await eventually(async () => expect(await warnings()).not.toContain("since"), { timeoutMs: 60_000 });
    expect((await pm.call("DELETE", "/api/v1/deployments/since")).status).toBe(200);
    expect(keys()).toEqual(["before"]);
  });
});
