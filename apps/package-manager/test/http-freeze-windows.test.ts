import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, startPm, type PmUnderTest } from "./running-pm.ts";

const URL_PATH = "/api/v1/freeze-windows";
const DAILY = { schedule: "0 0 * * *", duration_secs: 86_400 };

let east: ScriptedCrm;
let pm: PmUnderTest;
beforeAll(async () => {
  east = await ScriptedCrm.start({ name: "east" });
  pm = await startPm({ clusters: { east: east.url } });
  expect((await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") })).status).toBe(201);
});
afterAll(async () => {
  await pm.close();
  await east.close();
});

const deployment = { key: "shop-echo", package_name: "shop", class_key: "Echo" };
const set = (body: object, name = "always") => pm.call("PUT", `${URL_PATH}/${name}`, { body });

describe("freeze windows over HTTP", () => {
  test("freeze the platform, in refusals, plans and the status, until they are deleted", async () => {
    expect((await pm.call("POST", "/api/v1/deployments", { body: deployment })).status).toBe(200);
    const raw = "schedule: 0 0 * * *\nduration_secs: 86400\nreason: year end\n";
    const headers = { "content-type": "application/yaml" };
    const sent = await pm.call("PUT", `${URL_PATH}/always`, { raw, headers });
    const window = { name: "always", clusters: [], active: true, reason: "year end", until: expect.any(String) };
    expect(sent).toMatchObject({ status: 200, json: window });
    expect((await pm.call("GET", URL_PATH)).json).toMatchObject([window]);
    expect((await pm.call("GET", `${URL_PATH}/always`)).json).toMatchObject(window);

    const changed = { ...deployment, nfr_requirements: { availability: 0.9 } };
    for (const refused of [
      await pm.call("POST", "/api/v1/deployments", { body: changed }),
      await pm.call("DELETE", "/api/v1/deployments/shop-echo"),
      await pm.call("DELETE", "/api/v1/packages/shop?cascade=true"),
    ]) {
      expect(refused.json).toMatchObject({
        code: "OAAS_DEPLOYMENT_HELD",
        error: expect.stringContaining('freeze window "always" (year end) of east until '),
      });
    }
    const freezes = [{ window: "always", clusters: ["east"], reason: "year end" }];
    const plan = await pm.call("POST", "/api/v1/plans", { body: { deployment: changed } });
    expect(plan).toMatchObject({ status: 200, json: { freezes } });
    expect((await pm.call("GET", "/api/v1/deployments/shop-echo/status")).json).toMatchObject({ freezes });

    expect((await pm.call("DELETE", `${URL_PATH}/always`)).status).toBe(204);
    expect((await pm.call("DELETE", `${URL_PATH}/always`)).status).toBe(404);
    expect((await pm.call("GET", "/api/v1/deployments/shop-echo/status")).json).not.toHaveProperty("freezes");
    expect((await pm.call("POST", "/api/v1/deployments", { body: changed })).status).toBe(200);
  });

  const once = { start: "2999-01-01T00:00:00Z", end: "2999-01-02T00:00:00Z" };
  test.each<{ name: string; body: object; path: string; window?: string }>([
    { name: "without a time", body: {}, path: "$.start" },
    { name: "with two kinds of times", body: { ...once, ...DAILY }, path: "$.schedule" },
    { name: "without an end", body: { start: once.start }, path: "$.end" },
    { name: "that ends before it starts", body: { start: once.end, end: once.start }, path: "$.end" },
    { name: "without a duration", body: { schedule: "0 0 * * *" }, path: "$.duration_secs" },
    { name: "with a schedule of four fields", body: { ...DAILY, schedule: "0 0 * *" }, path: "$.schedule" },
    { name: "with an interval", body: { ...DAILY, schedule: "@every 1h" }, path: "$.schedule" },
    {
      name: "with a long schedule",
      body: { ...DAILY, schedule: `${"0,".repeat(10_000)}0 * * * *` },
      path: "$.schedule",
    },
    { name: "with an unknown zone", body: { ...DAILY, time_zone: "Mars/Olympus" }, path: "$.time_zone" },
    { name: "with too short a duration", body: { ...DAILY, duration_secs: 1 }, path: "$.duration_secs" },
    { name: "of an unknown cluster", body: { ...DAILY, clusters: ["nowhere"] }, path: "$.clusters[0]" },
    { name: "of too many clusters", body: { ...DAILY, clusters: Array(101).fill("east") }, path: "$.clusters" },
    { name: "with too long a reason", body: { ...DAILY, reason: "x".repeat(2000) }, path: "$.reason" },
    { name: "with an invalid name", body: DAILY, path: "$.name", window: "A%20B" },
  ])("a window $name is rejected with the field and the fix", async ({ body, path, window }) => {
    const { status, json } = await set(body, window);
    expect({ status, violations: json.violations }).toMatchObject({
      status: 400,
      violations: expect.arrayContaining([
        expect.objectContaining({ path, message: expect.any(String), fix: expect.any(String) }),
      ]),
    });
    expect((await pm.call("GET", URL_PATH)).json).toEqual([]);
  });
});
