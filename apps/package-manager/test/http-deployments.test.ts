import { unavailable } from "@oaas/foundation";
import { createRecordingLogger } from "@oaas/observability/testing";
import { eventually } from "@oaas/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, startPm, type PmUnderTest } from "./running-pm.ts";

let east: ScriptedCrm;
let west: ScriptedCrm;
let pm: PmUnderTest;
let recording: ReturnType<typeof createRecordingLogger>;

beforeEach(async () => {
  recording = createRecordingLogger();
  [east, west] = await Promise.all([ScriptedCrm.start({ name: "east" }), ScriptedCrm.start({ name: "west" })]);
  pm = await startPm({
    clusters: { east: east.url, west: west.url },
    logger: recording.log,
    env: {
      DEPLOY_WAIT: "5s",
      PLANNER_MAX_REPLICAS: "3",
      CRM_HEALTH_CHECK_INTERVAL: "500ms",
      CRM_CIRCUIT_BREAKER_TIMEOUT: "500ms",
    },
  });
  expect((await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") })).status).toBe(201);
});
afterEach(async () => {
  await pm.close();
  await Promise.all([east.close(), west.close()]);
});

const deploymentWith = (more: object = {}): object => ({
  key: "shop-echo",
  package_name: "shop",
  class_key: "Echo",
  target_clusters: ["east", "west"],
  ...more,
});

describe("a deployment over HTTP", () => {
  test("audits a deletion that continues in the background with its URL and cluster", async () => {
    expect((await pm.call("POST", "/api/v1/deployments", { body: deploymentWith() })).status).toBe(200);
    await west.down();
    const target = "/api/v1/deployments/shop-echo?cluster=west";
    expect((await pm.call("DELETE", target)).status).toBe(202);
    const lines = recording.records.map(({ fields }) => fields).filter(({ action }) => action === "deleteDeployment");
    expect(lines).toMatchObject([{ target, status: 202 }]);
  });

  test("is planned, applied by plan digest, observed, updated, rolled back and deleted", async () => {
    const plan = await pm.call("POST", "/api/v1/plans", { body: { deployment: deploymentWith() } });
    expect(plan).toMatchObject({ status: 200, json: { deployment_key: "shop-echo", digest: expect.any(String) } });
    expect(plan.json.units.map((each: { cluster: string }) => each.cluster).sort()).toEqual(["east", "west"]);
    expect(plan.json.explanation).toContain("east");
    expect(east.callsOf("Deploy")).toHaveLength(0);

    const applied = await pm.call("POST", "/api/v1/deployments?reason=launch", {
      body: deploymentWith({ plan_digest: plan.json.digest }),
    });
    expect(applied).toMatchObject({ status: 200, json: { deployment_key: "shop-echo", status: "created" } });
    const mappings = await pm.call("GET", "/api/v1/deployments/shop-echo/env-mappings");
    // What earlier clients do with an answer: they ask for the state of its id.
    expect(applied.json.id).toBe(mappings.json.env_ids.east);
    expect((await pm.call("GET", `/api/v1/deployment-status/${applied.json.id}`)).json.id).toBe(applied.json.id);
    expect(Object.keys(mappings.json.env_ids).sort()).toEqual(["east", "west"]);
    expect((await pm.call("GET", "/api/v1/deployments/shop-echo/cluster-mappings")).json).toEqual(mappings.json);

    const status = await pm.call("GET", "/api/v1/deployments/shop-echo/status");
    expect(status.json).toMatchObject({
      key: "shop-echo",
      revision: 1,
      clusters: [{ reachable: true }, { reachable: true }],
    });
    const unit = mappings.json.env_ids.east as string;
    expect((await pm.call("GET", `/api/v1/deployment-status/${unit}?cluster=east`)).json.id).toBe(unit);
    expect((await pm.call("GET", "/api/v1/class-runtimes?package_name=shop")).json).toHaveLength(2);
    expect((await pm.call("GET", "/api/v1/deployment-records")).json).toHaveLength(2);
    for (const path of [
      "class-runtimes",
      `class-runtimes/${unit}`,
      `class-runtimes/${unit}/enforcement`,
      `deployment-status/${unit}`,
      "deployments/shop-echo/explain",
    ])
      for (const name of ["env", "cluster"])
        expect(await pm.call("GET", `/api/v1/${path}?${name}=nowhere`)).toMatchObject({
          status: 400,
          json: { violations: [{ path: `$.${name}`, fix: expect.stringContaining("east, west") }] },
        });
    expect((await pm.call("GET", "/api/v1/class-runtimes/none?cluster=east")).status).toBe(404);
    expect((await pm.call("GET", "/api/v1/class-runtimes/none/enforcement")).status).toBe(404);
    expect((await pm.call("GET", "/api/v1/clusters/nowhere/usage")).status).toBe(404);
    expect((await pm.call("GET", "/api/v1/clusters/east/usage")).json).toEqual([
      {
        unit_id: unit,
        namespace: "shop",
        component: "echo",
        pods: 2,
        cpu_millicores: 300,
        memory_bytes: 2 ** 20,
        max_cpu_millicores: 200,
        max_memory_bytes: 2 ** 19,
        observed_at: "1970-01-01T00:00:10.000Z",
      },
    ]);
    expect((await pm.call("GET", "/api/v1/clusters/east/usage?max_entries=1")).json).toHaveLength(1);
    const enforced = await pm.call("GET", `/api/v1/class-runtimes/${unit}/enforcement`);
    expect(enforced.json).toEqual({
      conditions: [{ type: "NfrEnforced", status: "True", reason: "Enforcing", message: "enforced" }],
      states: [
        {
          component: "echo",
          dimension: "replicas",
          last_skip: "cooldown",
          last_action: { at: "2026-01-05T11:59:00Z", from: 2, to: 6, lane: "emergency" },
          direction_changes: 1,
        },
        { component: "echo", dimension: "cpu", direction_changes: 0 },
      ],
      decisions: [
        {
          component: "echo",
          dimension: "replicas",
          applied_at: "2026-01-05T11:59:00Z",
          digest: "sha256:1",
          event_name: `${unit}-1`,
          record: "{}",
        },
      ],
    });
    expect((await pm.call("GET", "/api/v1/topology")).json.nodes.length).toBeGreaterThan(2);
    expect((await pm.call("GET", "/api/v1/deployments/shop-echo/explain")).json.clusters).toHaveLength(2);

    const again = await pm.call("POST", "/api/v1/deployments", { body: deploymentWith() });
    expect(again).toMatchObject({ status: 200, json: { status: "unchanged", id: applied.json.id } });
    expect(east.callsOf("Deploy")).toHaveLength(1);

    const updated = await pm.call("PUT", "/api/v1/deployments/shop-echo", {
      body: deploymentWith({
        functions: [{ function_key: "echo", provision_config: { container_image: "ghcr.io/oaas/echo:2" } }],
      }),
    });
    expect(updated.status).toBe(200);
    expect((await pm.call("GET", "/api/v1/deployments/shop-echo/diff")).json).toMatchObject({ from: 1, to: 2 });
    expect((await pm.call("POST", "/api/v1/deployments/shop-echo/rollback", { body: { revision: 1 } })).status).toBe(
      200,
    );
    const history = await pm.call("GET", "/api/v1/deployments/shop-echo/revisions");
    expect(history.json.map((each: { revision: number }) => each.revision)).toEqual([3, 2, 1]);
    expect(history.json[2]).toMatchObject({
      reason: "launch",
      outcome: expect.stringMatching(/^(Running|Superseded)$/),
      deployment: { key: "shop-echo" },
    });

    expect(await pm.call("DELETE", "/api/v1/packages/shop")).toMatchObject({
      status: 400,
      json: { kind: "failed-precondition" },
    });
    const deleted = await pm.call("DELETE", "/api/v1/deployments/shop-echo");
    expect(deleted).toMatchObject({ status: 200, json: { id: "shop-echo" } });
    expect(deleted.json.deleted_envs.sort()).toEqual(["east", "west"]);
    expect([east.units.size, west.units.size]).toEqual([0, 0]);
    expect((await pm.call("GET", "/api/v1/deployments/shop-echo")).status).toBe(404);
    expect((await pm.call("DELETE", "/api/v1/packages/shop")).status).toBe(204);
  });

  test("rejects an outdated plan digest with the differences", async () => {
    const plan = await pm.call("POST", "/api/v1/plans", { body: { deployment: deploymentWith() } });
    await pm.call("POST", "/api/v1/packages/shop", {
      body: echoPackage("shop", {
        functions: [{ key: "echo", provision_config: { container_image: "ghcr.io/oaas/echo:9" } }],
      }),
    });
    const applied = await pm.call("POST", "/api/v1/deployments", {
      body: deploymentWith({ plan_digest: plan.json.digest }),
    });
    expect(applied.status).toBe(409);
    expect(applied.json.error).toMatch(/is outdated: .*echo:1.* to .*echo:9/);
    const current = await pm.call("POST", "/api/v1/plans", { body: { deployment: deploymentWith() } });
    expect(applied.json.evidence).toEqual({
      reason: "outdated",
      current_digest: current.json.digest,
      changes: expect.arrayContaining([
        expect.objectContaining({ path: "$.package_revision", change: "changed", before: 1, after: 2 }),
        expect.objectContaining({
          path: expect.stringContaining("container_image"),
          text: expect.stringMatching(/echo:1.* to .*echo:9/),
        }),
      ]),
    });
    expect(east.units.size).toBe(0);
  });

  test.each([
    {
      why: "an unconstrained deployment is placed elsewhere",
      deployment: {},
      down: ["east"],
      status: 200,
      expected: /east: .*assumed to be down/,
    },
    {
      why: "an unknown cluster",
      deployment: {},
      down: ["mars"],
      status: 400,
      expected: /\$\.what_if\.clusters_down\[0\]/,
    },
    {
      why: "violations have the path of the deployment",
      deployment: { target_clusters: ["mars"] },
      down: [],
      status: 400,
      expected: /\$\.deployment\.target_clusters\[0\]/,
    },
  ])("what if clusters were down: $why", async ({ deployment, down, status, expected }) => {
    const { target_clusters: _, ...free } = deploymentWith() as Record<string, unknown>;
    const body = { deployment: { ...free, ...deployment }, what_if: { clusters_down: down } };
    const answer = await pm.call("POST", "/api/v1/plans", { body });
    expect([answer.status, answer.json.explanation ?? answer.json.error]).toEqual([
      status,
      expect.stringMatching(expected),
    ]);
  });

  test.each([
    {
      why: "a named cluster is lost and the other keeps running",
      deployment: { target_clusters: ["east", "west"] },
      down: ["east"],
      loss: { lost: ["east"], running: [{ cluster: "west" }], placement: "unchanged" },
    },
    {
      why: "nothing keeps running when all clusters are down",
      deployment: { target_clusters: ["east", "west"] },
      down: ["east", "west"],
      loss: { lost: ["east", "west"], running: [], cluster_bound: 0, placement: "unchanged" },
    },
  ])("the loss of clusters: $why", async ({ deployment, down, loss }) => {
    const body = { deployment: { ...deploymentWith(), ...deployment }, what_if: { clusters_down: down } };
    const answer = await pm.call("POST", "/api/v1/plans", { body });
    expect(answer).toMatchObject({ status: 200, json: { cluster_loss: loss } });
  });

  test("rejects an unreachable target with the findings as data", async () => {
    const { target_clusters: _, ...free } = deploymentWith() as Record<string, unknown>;
    const deployment = { ...free, nfr_requirements: { availability: 0.9999999 } };
    const what_if = { cluster_availability: { east: 0.5, west: 0.5 } };
    const answer = await pm.call("POST", "/api/v1/plans", { body: { deployment, what_if } });
    expect(answer).toMatchObject({ status: 400, json: { evidence: { reason: "out-of-reach" } } });
    const { evidence, detail } = answer.json;
    expect(evidence.clusters.map(({ cluster }: { cluster: string }) => cluster)).toEqual(["east", "west"]);
    expect(evidence.best.availability).toBeLessThan(0.9999999);
    expect(evidence.remedies).not.toEqual([]);
    for (const { text } of evidence.remedies) expect(detail).toContain(text);
  });

  test("deletes in reachable clusters at once and in the others when they return", async () => {
    await pm.call("POST", "/api/v1/deployments", { body: deploymentWith() });
    await west.down();
    const deleted = await pm.call("DELETE", "/api/v1/deployments/shop-echo");
    expect([200, 202]).toContain(deleted.status);
    expect(east.units.size).toBe(0);
    expect(west.units.size).toBe(1);
    await west.up();
    await eventually(() => expect(west.units.size).toBe(0), {
      timeoutMs: 60_000,
      what: "the tombstone to be finished",
    });
  });

  test("reports which cluster rejected the deployment and keeps it in the other", async () => {
    west.always({ do: "fail", fault: unavailable("west", "no room") }, "Deploy");
    const applied = await pm.call("POST", "/api/v1/deployments", { body: deploymentWith() });
    expect(east.units.size).toBe(1);
    const status = await pm.call("GET", "/api/v1/deployments/shop-echo/status");
    expect(JSON.stringify(status.json)).toContain("no room");
    expect(applied).toMatchObject({
      status: 200,
      json: { message: expect.stringMatching(/in the background: west: .*no room/) },
    });
  });

  test("cancels a running operation and undoes its steps; 404 or 409 when none is running", async () => {
    west.always({ do: "hang" }, "Deploy");
    const applying = pm.call("POST", "/api/v1/deployments", { body: deploymentWith() });
    await eventually(() => expect(east.units.size).toBe(1), { what: "the first cluster to take it" });
    const cancelled = await pm.call("POST", "/api/v1/deployments/shop-echo/cancel");
    expect(cancelled).toMatchObject({ status: 200, json: { key: "shop-echo" } });
    west.always({ do: "serve" }, "Deploy");
    expect((await applying).status).toBeGreaterThanOrEqual(400);
    await eventually(() => expect([east.units.size, west.units.size]).toEqual([0, 0]), {
      timeoutMs: 30_000,
      what: "what it began to be undone",
    });
    await eventually(
      async () =>
        expect(await pm.call("POST", "/api/v1/deployments/shop-echo/cancel")).toMatchObject({
          status: 400,
          json: { error: expect.stringContaining("no operation is running") },
        }),
      { timeoutMs: 30_000, what: "the operation to be over" },
    );
  });

  test("a deletion in one cluster leaves the others", async () => {
    await pm.call("POST", "/api/v1/deployments", { body: deploymentWith() });
    expect((await pm.call("DELETE", "/api/v1/deployments/shop-echo?cluster=")).status, "none, not all").toBe(400);
    expect(await pm.call("DELETE", "/api/v1/deployments/shop-echo?cluster=west")).toMatchObject({
      status: 200,
      json: { cluster: "west", env: "west" },
    });
    expect([east.units.size, west.units.size]).toEqual([1, 0]);
  });

  test("honours If-None-Match and If-Match on create and update", async () => {
    const put = (headers: Record<string, string>, more: object = {}) =>
      pm.call("PUT", "/api/v1/deployments/shop-echo", { body: deploymentWith(more), headers });
    expect(await put({ "if-match": "*" })).toMatchObject({ status: 412, json: { code: "OAAS_VERSION_MISMATCH" } });
    expect((await pm.call("GET", "/api/v1/deployments/shop-echo")).status).toBe(404);
    expect(await put({ "if-none-match": "*" })).toMatchObject({ status: 200, json: { status: "created" } });
    expect(await put({ "if-none-match": "*" }, { target_clusters: ["east"] })).toMatchObject({
      status: 412,
      json: { error: 'deployment "shop-echo" exists already; the precondition of the request excludes that' },
    });
    expect([east.units.size, west.units.size]).toEqual([1, 1]);
    expect(await put({ "if-match": "*" }, { target_clusters: ["east"] })).toMatchObject({ status: 200 });
    expect([east.units.size, west.units.size]).toEqual([1, 0]);
  });

  test("cascade deletes deployments with their package", async () => {
    await pm.call("POST", "/api/v1/deployments", { body: deploymentWith() });
    const deleted = await pm.call("DELETE", "/api/v1/packages/shop?cascade=true");
    expect([202, 204]).toContain(deleted.status);
    await eventually(async () => expect((await pm.call("GET", "/api/v1/packages/shop")).status).toBe(404), {
      timeoutMs: 30_000,
      what: "the package to go",
    });
    expect([east.units.size, west.units.size]).toEqual([0, 0]);
  });

  test("settings apply deployments with their package; parameters override them", async () => {
    await using own = await startPm({
      clusters: { east: east.url },
      env: { PACKAGE_AUTO_DEPLOY: "true", PACKAGE_DELETE_CASCADE: "true", DEPLOY_WAIT: "5s" },
    });
    const embedded = (name: string): object =>
      echoPackage(name, { deployments: [{ key: `${name}-echo`, class_key: "Echo", target_clusters: ["east"] }] });
    const quiet = await own.call("POST", "/api/v1/packages?apply_deployments=false", { body: embedded("bank") });
    expect([quiet.status, east.units.size]).toEqual([201, 0]);
    const made = await own.call("POST", "/api/v1/packages", { body: embedded("cafe") });
    expect(made).toMatchObject({ status: 201, json: { message: "1 of 1 deployments scheduled" } });
    expect(east.units.size).toBe(1);
    expect((await own.call("DELETE", "/api/v1/packages/cafe?cascade=false")).status).toBe(400);
    expect([202, 204]).toContain((await own.call("DELETE", "/api/v1/packages/cafe")).status);
    await eventually(async () => expect((await own.call("GET", "/api/v1/packages/cafe")).status).toBe(404), {
      timeoutMs: 30_000,
      what: "the package to go",
    });
    expect(east.units.size).toBe(0);
  });

  test("lists clusters with health, and adds and removes them at run time", async () => {
    expect((await pm.call("GET", "/api/v1/envs")).json.map((each: { name: string }) => each.name)).toEqual([
      "east",
      "west",
    ]);
    const north = await ScriptedCrm.start({ name: "north" });
    try {
      expect(
        await pm.call("POST", "/api/v1/clusters", { body: { name: "north", url: north.url, api_key: "s3cret" } }),
      ).toMatchObject({
        status: 201,
        json: { name: "north", origin: "api" },
      });
      const read = await pm.call("GET", "/api/v1/clusters/north");
      expect(read.text).not.toContain("s3cret");
      await pm.call("POST", "/api/v1/deployments", { body: deploymentWith({ target_clusters: ["north"] }) });
      expect(await pm.call("DELETE", "/api/v1/clusters/north")).toMatchObject({ status: 400 });
      await pm.call("DELETE", "/api/v1/deployments/shop-echo");
      expect((await pm.call("DELETE", "/api/v1/clusters/north")).status).toBe(204);
      expect((await pm.call("DELETE", "/api/v1/clusters/east")).status, "named by the configuration").toBe(400);
    } finally {
      await north.close();
    }
  });

  test("accepts the alias env, and reports why a cluster is unreachable", async () => {
    const body = { name: "nowhere", url: "http://127.0.0.1:1" };
    expect((await pm.call("POST", "/api/v1/envs", { body })).status).toBe(201);
    const read = await pm.call("GET", "/api/v1/envs/nowhere");
    expect(read.json.health).toMatchObject({ status: "Unknown", error: expect.stringContaining("no connection") });
    expect((await pm.call("GET", "/api/v1/envs/nowhere/health")).json).toEqual(read.json.health);
    expect((await pm.call("DELETE", "/api/v1/envs/nowhere")).status).toBe(204);
    expect((await pm.call("GET", "/api/v1/clusters/nowhere")).status).toBe(404);
    expect((await pm.call("POST", "/api/v1/clusters/nowhere/cordon", { body: {} })).status).toBe(404);
    expect(
      (await pm.call("POST", "/api/v1/clusters/east/cordon", { body: { reason: ["kernel"] } })).json,
    ).toMatchObject({
      violations: [{ path: "$.reason" }],
    });
    expect((await pm.call("GET", "/api/v1/clusters/east")).json).not.toHaveProperty("cordon");
    const cordoned = await pm.call("POST", "/api/v1/clusters/east/cordon", { body: { reason: "kernel update" } });
    expect(cordoned.json).toMatchObject({ name: "east", cordon: { reason: "kernel update" } });
    expect((await pm.call("GET", "/api/v1/clusters")).json).toContainEqual(
      expect.objectContaining({ name: "east", cordon: expect.objectContaining({ reason: "kernel update" }) }),
    );
    expect((await pm.call("POST", "/api/v1/clusters/east/uncordon")).json).not.toHaveProperty("cordon");
    expect((await pm.call("GET", "/api/v1/clusters/east")).json.health).not.toHaveProperty("error");
  });

  test("combines the promised availability of a cluster with the measured one", async () => {
    const day = 86_400;
    const north = await ScriptedCrm.start({
      name: "north",
      facts: {
        availability: 1,
        report: {
          availabilityMeasurement: {
            value: 0.99,
            apiAvailability: 0.999,
            nodeAvailability: 0.99 / 0.999,
            windowSeconds: 30 * day,
            halfLifeSeconds: 10 * day,
            samples: 20_160n,
            observedSeconds: BigInt(7 * day),
            evidenceSeconds: 7 * day,
            since: { seconds: 1_767_225_600n, nanos: 0 },
          },
        },
      },
    });
    const terms = {
      availability: { value: 0.999, source: "contract", date: "2026-01-31" },
      cost: { cpu_hour: 0.04, gib_hour: 0.005, currency: "EUR" },
    };
    try {
      const body = { name: "north", url: north.url, ...terms };
      for (const { sent, violation } of [
        { sent: { availability: { ...terms.availability, value: 1 } }, violation: "$.availability.value" },
        { sent: { availability: { ...terms.availability, date: "2999-01-01" } }, violation: "$.availability.date" },
        { sent: { availability: { value: 0.9, date: "2026-01-31" } }, violation: "$.availability.source" },
        { sent: { cost: { ...terms.cost, currency: "euro" } }, violation: "$.cost.currency" },
        { sent: { cost: { ...terms.cost, cpu_hour: -1 } }, violation: "$.cost.cpu_hour" },
      ]) {
        const refused = await pm.call("POST", "/api/v1/clusters", { body: { ...body, ...sent } });
        expect(refused).toMatchObject({ status: 400, json: { violations: [{ path: violation }] } });
      }
      const added = await pm.call("POST", "/api/v1/clusters", { body });
      const stated = { availability: { ...terms.availability, weight_hours: 168 }, cost: terms.cost };
      expect(added).toMatchObject({ status: 201, json: stated });
      expect((await pm.call("GET", "/api/v1/clusters/north")).json).toMatchObject(stated);

      const { json } = await pm.call("GET", "/api/v1/clusters/north/availability");
      expect(json).toMatchObject({
        cluster_name: "north",
        promise: stated.availability,
        measurement: { value: 0.99, samples: 20_160, window_hours: 720, evidence_hours: 168 },
        promise_kept: false,
        estimate: { basis: "combined", prior_is_stated: true, observed: { value: 0.99, hours: 168 } },
        arithmetic:
          "(0.999 × 168 h promised (contract, 2026-01-31) + 0.99 × 168 h measured (20160 samples in a window of 720 h)) / 336 h = 0.9945",
      });
      expect(json.availability).toBeCloseTo(0.9945, 9);
      expect((await pm.call("GET", "/api/v1/envs/north/availability")).json.estimate).toEqual(json.estimate);

      const planned = await pm.call("POST", "/api/v1/plans", {
        body: { deployment: deploymentWith({ target_clusters: ["north"] }) },
      });
      const verdict = planned.json.clusters.find(({ cluster }: { cluster: string }) => cluster === "north");
      expect(verdict.availability).toBe(json.availability);
      expect(verdict.reasons_for.join()).toContain(json.arithmetic);
      expect(verdict.availability_estimate).toEqual(json.estimate);
      expect((await pm.call("GET", "/api/v1/clusters/south/availability")).status).toBe(404);
      expect((await pm.call("GET", "/api/v1/clusters/east/availability")).json).toMatchObject({
        availability: 0.99,
        promise: null,
        measurement: null,
        promise_kept: null,
        arithmetic: "reported by the cluster",
      });
    } finally {
      await pm.call("DELETE", "/api/v1/clusters/north");
      await north.close();
    }
  });

  test("never removes a cluster that is being deployed to", async () => {
    const north = await ScriptedCrm.start({ name: "north" });
    try {
      for (let round = 0; round < 12; round += 1) {
        await pm.call("POST", "/api/v1/clusters", { body: { name: "north", url: north.url } });
        const late = round % 4;
        const removing = async () => {
          for (let turn = 0; turn < late; turn += 1) await pm.call("GET", "/health");
          return pm.call("DELETE", "/api/v1/clusters/north");
        };
        const body = deploymentWith({ target_clusters: ["north"] });
        const [deployed, removed] = await Promise.all([pm.call("POST", "/api/v1/deployments", { body }), removing()]);
        expect([[200, 400].join(), [400, 204].join()]).toContain([deployed.status, removed.status].join());
        const [known, kept] = await Promise.all([
          pm.call("GET", "/api/v1/clusters/north"),
          pm.call("GET", "/api/v1/deployments/shop-echo"),
        ]);
        expect([known.status, kept.status]).toEqual(removed.status === 204 ? [404, 404] : [200, 200]);
        await pm.call("DELETE", "/api/v1/deployments/shop-echo");
        await pm.call("DELETE", "/api/v1/clusters/north");
      }
    } finally {
      await north.close();
    }
  });

  test("rejects reserved cluster names and file references", async () => {
    const add = (body: object) => pm.call("POST", "/api/v1/clusters", { body: { url: "https://crm", ...body } });
    expect(await add({ name: "health" })).toMatchObject({ status: 400, json: { violations: [{ path: "$.name" }] } });
    const tls = { ca_cert: "/etc/hostname" };
    expect(await add({ name: "north", api_key_file: "/etc/passwd", tls })).toMatchObject({
      status: 400,
      json: { violations: [{ path: "$.api_key_file" }, { path: "$.tls.ca_cert" }] },
    });
  });

  test("streams events and resumes after the last event id", async () => {
    /** The id of the next event; who follows is known to the server when this resolves. */
    const follow = async (headers: Record<string, string>): Promise<() => Promise<string>> => {
      const stop = new AbortController();
      const response = await fetch(`${pm.url}/api/v1/events?topic=deployment`, { headers, signal: stop.signal });
      expect(response.headers.get("content-type")).toContain("text/event-stream");
      return async () => {
        let text = "";
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
          text += new TextDecoder().decode(chunk);
          if (/^id: .+$/m.test(text)) break;
        }
        stop.abort();
        return /^id: (.+)$/m.exec(text)?.[1] ?? "";
      };
    };
    const following = await follow({});
    await pm.call("POST", "/api/v1/deployments", { body: deploymentWith() });
    const first = await following();
    await pm.call("DELETE", "/api/v1/deployments/shop-echo");
    const next = await (await follow({ "last-event-id": first }))();
    expect([first, next]).not.toContain("");
    expect(next).not.toBe(first);
  });
});

describe("invalid deployments", () => {
  test.each([
    { why: "an unknown package", more: { package_name: "nope" }, status: 404, expected: "nope" },
    { why: "an unknown class", more: { class_key: "Nope" }, status: 400, expected: "class_key" },
    { why: "an unknown cluster", more: { target_clusters: ["mars"] }, status: 400, expected: "mars" },
    {
      why: "an availability of 7",
      more: { nfr_requirements: { availability: 7 } },
      status: 400,
      expected: "$.nfr_requirements.availability",
    },
    { why: "an unknown function", more: { functions: [{ function_key: "zzz" }] }, status: 400, expected: "zzz" },
    { why: "an invalid key", more: { key: "Bad Key" }, status: 400, expected: "$.key" },
    { why: "two lists of clusters", more: { target_envs: ["east"] }, status: 400, expected: "target_envs" },
    {
      why: "an unreachable target",
      more: { nfr_requirements: { availability: 0.999999999 }, target_clusters: ["east"] },
      status: 400,
      expected: "availability",
    },
  ])("$why: $status, and no cluster is called", async ({ more, status, expected }) => {
    const answer = await pm.call("POST", "/api/v1/deployments", { body: deploymentWith(more) });
    expect(answer.status, answer.text).toBe(status);
    expect(answer.text).toContain(expected);
    expect([east.callsOf("Deploy"), west.callsOf("Deploy")]).toEqual([[], []]);
    expect((await pm.call("GET", "/api/v1/deployments")).json).toEqual([]);
  });

  test.each([
    { sent: { target_clusters: ["east", "mars"] }, at: "target_clusters[1]" },
    { sent: { target_envs: ["mars"] }, at: "target_envs[0]" },
    { sent: { target_envs: ["east", "east", "mars"] }, at: "target_envs[2]" },
    { sent: { target_envs: null, target_clusters: ["mars"] }, at: "target_clusters[0]" },
    { sent: { target_envs: ["mars"], target_clusters: null }, at: "target_envs[0]" },
  ])("the place of an unknown cluster is that in the document: $at", async ({ sent, at }) => {
    const { target_clusters: _, ...bare } = deploymentWith() as { target_clusters?: unknown };
    const body = { ...bare, ...sent };
    const path = `$.${at}`;
    expect(await pm.call("POST", "/api/v1/deployments", { body })).toMatchObject({
      status: 400,
      json: { violations: [{ path }] },
    });
    expect(await pm.call("POST", "/api/v1/plans", { body: { deployment: body } })).toMatchObject({
      status: 400,
      json: { violations: [{ path: `$.deployment.${at}` }] },
    });
  });
});
