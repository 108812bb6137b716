import { eventually } from "@oaas/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { DEGRADED, RUNNING } from "./fakes/scripted-units.ts";
import { echoPackage, startPm, type PmUnderTest } from "./running-pm.ts";

let crms: readonly ScriptedCrm[];
let pm: PmUnderTest;

const deployment = (image?: string): object => ({
  key: "shop-echo",
  package_name: "shop",
  class_key: "Echo",
  target_clusters: ["east", "west"],
  ...(image === undefined
    ? {}
    : { functions: [{ function_key: "echo", provision_config: { container_image: image } }] }),
});

beforeEach(async () => {
  crms = await Promise.all(["east", "west"].map((name) => ScriptedCrm.start({ name })));
  const [east, west] = crms as readonly [ScriptedCrm, ScriptedCrm];
  // As in a cluster: an update to an image that does not exist leaves the pods of the earlier revision.
  for (const crm of crms)
    crm.units.settle = (unit) => (JSON.stringify(unit.functions).includes(":missing") ? DEGRADED : RUNNING);
  pm = await startPm({ clusters: { east: east.url, west: west.url }, env: { DEPLOY_WAIT: "5s" } });
  expect((await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") })).status).toBe(201);
  expect((await pm.call("POST", "/api/v1/deployments", { body: deployment() })).status).toBe(200);
  await untilOutcomes("Running");
});
afterEach(async () => {
  await pm.close();
  await Promise.all(crms.map((crm) => crm.close()));
});

const read = async (path: string) => (await pm.call("GET", `/api/v1/${path}`)).json;
const untilOutcomes = (...outcomes: readonly string[]): Promise<void> =>
  eventually(
    async () => {
      const revisions: readonly { readonly outcome: string }[] = await read("deployments/shop-echo/revisions");
      expect(revisions.map(({ outcome }) => outcome)).toEqual(outcomes);
    },
    { what: `outcomes ${outcomes.join(", ")}` },
  );
const keysIn = async (path: string): Promise<readonly string[]> =>
  (await read(path)).map((each: { key: string }) => each.key);

describe("an update to an image that does not exist", () => {
  beforeEach(async () => {
    const body = deployment("ghcr.io/oaas/echo:missing");
    expect((await pm.call("PUT", "/api/v1/deployments/shop-echo", { body })).status).toBe(200);
    await untilOutcomes("Degraded", "Running");
  });

  test("is degraded while the earlier revision serves, and running after a rollback", async () => {
    expect(await read("deployments/shop-echo/status")).toMatchObject({
      condition: "Degraded",
      message: expect.stringMatching(/^serving in 2 of 2 clusters, up to date in 0 of 2; east: .*no such image/),
      desired_clusters: 2,
      serving_clusters: 2,
      up_to_date_clusters: 0,
      clusters: [
        { cluster: "east", condition: "Degraded", serving: true, up_to_date: false },
        { cluster: "west", condition: "Degraded", serving: true, up_to_date: false },
      ],
      operation: { kind: "deploy", state: "succeeded", outcome: "Degraded", outcome_at: expect.any(String) },
    });
    const [bad, good] = await read("deployments/shop-echo/revisions");
    expect(bad).toMatchObject({ revision: 2, outcome: "Degraded", outcome_at: expect.any(String) });
    expect(good).toMatchObject({ revision: 1, outcome: "Running", outcome_at: expect.any(String) });

    await pm.call("POST", "/api/v1/deployments/shop-echo/rollback", { body: { revision: 1 } });
    await untilOutcomes("Running", "Degraded", "Running");
    expect(await read("deployments/shop-echo/status")).toMatchObject({
      condition: "Running",
      message: null,
      serving_clusters: 2,
      up_to_date_clusters: 2,
      operation: { kind: "roll_back", outcome: "Running" },
    });
  });

  test("has health Degraded in lists, and a condition that earlier clients know", async () => {
    expect(await read("deployments/shop-echo")).toMatchObject({ health: "Degraded", condition: "DEPLOYING" });
    const runtimes = await read("class-runtimes");
    expect(runtimes).toHaveLength(2);
    for (const { status } of runtimes)
      expect(status).toMatchObject({ health: "Degraded", condition: "Deploying", serving: true, up_to_date: false });
    const unit = await read(`deployment-status/${runtimes[0].id}`);
    expect(unit).toMatchObject({ health: "Degraded", status: "Deploying" });
  });

  test.each(["Degraded", "DEGRADED", "degraded"])("is found by the filter %s, and not as Down", async (word) => {
    expect(await keysIn(`deployments?condition=${word}`)).toEqual(["shop-echo"]);
    expect(await keysIn("deployments?condition=DOWN")).toEqual([]);
    expect(await read(`class-runtimes?status=${word}`)).toHaveLength(2);
    expect(await read("class-runtimes?status=Down")).toEqual([]);
  });
});

describe("the diff of two revisions", () => {
  test("names package revisions, images and scale when only the package changed", async () => {
    const provision_config = { container_image: "ghcr.io/oaas/echo:2", min_scale: 2 };
    const body = echoPackage("shop", { functions: [{ key: "echo", provision_config }] });
    expect((await pm.call("POST", "/api/v1/packages/shop", { body })).status).toBe(200);
    const applied = await pm.call("POST", "/api/v1/deployments", { body: deployment() });
    expect(applied).toMatchObject({ status: 200, json: { status: "updated" } });
    const diff = await read("deployments/shop-echo/diff?from=1&to=2");
    expect(diff).toMatchObject({ from: 1, to: 2, changes: [] });
    const texts: readonly string[] = diff.resolved_changes.map(({ text }: { text: string }) => text);
    expect(texts).toEqual([
      "units.east.functions.echo.min_scale changed from 1 to 2",
      "units.west.functions.echo.min_scale changed from 1 to 2",
      "package_revision changed from 1 to 2",
      'functions.echo.provision_config.container_image changed from "ghcr.io/oaas/echo:1" to "ghcr.io/oaas/echo:2"',
      "functions.echo.provision_config.min_scale was added: 2",
    ]);
  });
});
