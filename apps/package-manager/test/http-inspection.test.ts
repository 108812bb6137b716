import { failedPrecondition, resourceExhausted, unavailable } from "@oaas/foundation";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, startPm, type Answer, type PmUnderTest } from "./running-pm.ts";

let east: ScriptedCrm;
let rust: ScriptedCrm;
let pm: PmUnderTest;
const units: Record<string, string> = {};

beforeAll(async () => {
  [east, rust] = await Promise.all([
    ScriptedCrm.start({ name: "east" }),
    ScriptedCrm.start({ name: "rust", flavour: "rust" }),
  ]);
  pm = await startPm({
    clusters: { east: east.url, rust: rust.url },
    env: { DEPLOY_WAIT: "5s", CRM_HEALTH_CHECK_INTERVAL: "500ms" },
  });
  await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") });
  for (const cluster of ["east", "rust"]) {
    const key = `shop-${cluster}`;
    const deployment = { key, package_name: "shop", class_key: "Echo", target_clusters: [cluster] };
    expect((await pm.call("POST", "/api/v1/deployments", { body: deployment })).status).toBe(200);
    const { json } = await pm.call("GET", `/api/v1/deployments/${key}/env-mappings`);
    units[cluster] = json.env_ids[cluster];
  }
});
afterAll(async () => {
  await pm?.close();
  await Promise.all([east?.close(), rust?.close()]);
});

const get = (path: string, unit = units["east"]): Promise<Answer> =>
  pm.call("GET", `/api/v1/class-runtimes/${unit}/${path}`);
const READS = ["signals", "objects/Deployment/echo", "pods", "conditions"];

describe("inspection over HTTP", () => {
  test("returns signals with gaps as null, without numbers that JSON does not have", async () => {
    const asked = await get("signals?cluster=east&component=echo&range_seconds=600&step_seconds=60");
    expect(asked).toMatchObject({ status: 200 });
    expect(asked.json).toEqual({
      start: "2026-01-05T12:00:00.000Z",
      step_seconds: 60,
      series: [
        {
          component: "echo",
          signal: "requests_per_second",
          values: [1.5, null, null, 2],
          target: 40,
          target_kind: "at_least",
        },
        { component: "echo", signal: "error_ratio", values: [] },
      ],
      marks: [
        { at: "2026-01-05T12:00:30Z", component: "echo", dimension: "replicas", from: 1, to: 2, action: "apply" },
      ],
    });
    expect(east.callsOf("GetSignals").at(-1)?.request).toMatchObject({
      deploymentId: units["east"],
      component: "echo",
      rangeSeconds: 600,
      stepSeconds: 60,
    });
  });

  test("returns an object, pods and conditions", async () => {
    expect((await get("objects/Deployment/echo?api_version=apps%2Fv1")).json).toEqual({
      api_version: "apps/v1",
      kind: "Deployment",
      name: "echo",
      namespace: "shop",
      object: { kind: "Deployment", spec: { replicas: 1 } },
    });
    expect(east.callsOf("GetObject").at(-1)?.request).toMatchObject({ apiVersion: "apps/v1" });
    const created = { component: "echo", created_at: "2026-01-05T12:00:00Z" };
    expect((await get("pods")).json).toEqual({
      pods: [
        { ...created, name: "echo-1", node: "n1", phase: "Running", ready: true, restarts: 2 },
        {
          ...created,
          name: "echo-2",
          node: null,
          phase: "Pending",
          ready: false,
          restarts: 0,
          reason: "Unschedulable",
          message: "no node can run it",
        },
      ],
      more_pods: 3,
    });
    expect((await get("conditions")).json).toEqual({
      conditions: [
        {
          type: "Available",
          status: "True",
          reason: "Ready",
          message: "all ready",
          last_transition_time: "2026-01-05T12:00:00Z",
        },
      ],
      events: [
        { type: "Normal", reason: "Available", message: "all ready", count: 1, at: "2026-01-05T12:00:00Z" },
        { type: "Warning", reason: "NFRViolated", message: "too slow", count: 2, at: null },
      ],
    });
  });

  test.each(READS)("returns 404 for %s of an unknown class runtime, and 400 in an unknown cluster", async (path) => {
    expect((await get(path, "none")).status).toBe(404);
    expect((await get(`${path}?cluster=rust`)).status).toBe(404);
    expect(await get(`${path}?cluster=nowhere`)).toMatchObject({
      status: 400,
      json: { violations: [{ path: "$.cluster", fix: expect.stringContaining("east, rust") }] },
    });
  });

  test.each([
    ["range_seconds=59", "$.range_seconds"],
    ["range_seconds=604801", "$.range_seconds"],
    ["range_seconds=1h", "$.range_seconds"],
    ["step_seconds=0", "$.step_seconds"],
    ["step_seconds=4", "$.step_seconds"],
    ["range_seconds=60&step_seconds=61", "$.step_seconds"],
    ["range_seconds=-1&step_seconds=x", "$.step_seconds"],
  ])("returns 400 for signals with %s, with the limits, and does not ask the cluster", async (query, path) => {
    const before = east.callsOf("GetSignals").length;
    const { status, json } = await get(`signals?${query}`);
    expect(status).toBe(400);
    expect(json.violations).toContainEqual(expect.objectContaining({ path, fix: expect.stringMatching(/\d/) }));
    expect(east.callsOf("GetSignals")).toHaveLength(before);
  });

  test.each([
    ["objects/Secret/echo", 404],
    ["objects/Deployment/broken", 503],
    ["objects/Deployment/", 404],
    ["objects/Deployment", 404],
  ])("rejects %s with %i", async (path, status) => {
    expect((await get(path)).status).toBe(status);
  });

  test.each(READS)("returns 501 for %s when the manager of the cluster is older", async (path) => {
    expect((await get(path, units["rust"])).status).toBe(501);
  });

  test.each([
    { fault: failedPrecondition("signals", "set OPRC_CRM_PROM_URL"), status: 400 },
    { fault: unavailable("Prometheus", "it does not answer"), status: 503 },
    { fault: resourceExhausted("signals", "too many calls"), status: 429 },
  ])("returns $status with the reason when the cluster answers $fault.kind", async ({ fault, status }) => {
    east.next("GetSignals", { do: "fail", fault });
    expect(await get("signals")).toMatchObject({
      status,
      json: { detail: expect.stringContaining(fault.message), kind: fault.kind },
    });
  });
});
