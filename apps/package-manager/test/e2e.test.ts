import path from "node:path";
import { describeWith, eventually, startEtcd, sweepSize, type EtcdUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTwoClusters, type TwoClusters } from "./e2e-fixture.ts";
import { runPm, type PmProcess } from "./pm-process.ts";
import { retryWhileLeaseLost } from "./running-pm.ts";

/** Generous, because the machine may be busy. */
const TIMEOUT = { timeoutMs: 90_000 };
const TEST_MS = 240_000;

interface Finding {
  readonly level: string;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly Finding[];
}

describeWith(["kubernetes", "kwok", "etcd"], "a class in two clusters, end to end", () => {
  let fixture: TwoClusters;
  let etcd: EtcdUnderTest;
  let pm: PmProcess;
  beforeAll(async () => {
    [fixture, etcd] = await Promise.all([startTwoClusters(), startEtcd()]);
  }, TEST_MS);
  afterAll(async () => {
    await etcd?.close();
    await fixture?.[Symbol.asyncDispose]();
  });

  const startOn = async (store: string): Promise<void> => {
    const [east, west] = fixture.clusters;
    pm = await runPm({
      folder: fixture.folder,
      env: {
        STORAGE_TYPE: store,
        STORAGE_FILE: path.join(fixture.folder, "pm.sqlite"),
        ETCD_ENDPOINTS: etcd.endpoints.join(","),
        CRM_CLUSTERS_JSON: JSON.stringify({ east: { url: east.url }, west: { url: west.url } }),
        CRM_HEALTH_CHECK_INTERVAL: "500ms",
        CRM_HEALTH_CACHE_TTL: "500ms",
        CRM_CIRCUIT_BREAKER_TIMEOUT: "500ms",
        DEPLOY_WAIT: "5s",
        DEPLOY_LEASE: "3s",
      },
    });
  };
  const call: PmProcess["call"] = (...request) => retryWhileLeaseLost(() => pm.call(...request));
  const contents = (): Promise<readonly (readonly string[])[]> =>
    Promise.all(["east", "west"].map((cluster) => fixture.contents(cluster)));
  const images = async (): Promise<readonly string[]> =>
    (await Promise.all(["east", "west"].map((cluster) => fixture.images(cluster)))).flat();
  const statusOf = async (key: string) => (await call("GET", `/api/v1/deployments/${key}/status`)).json;
  const untilRunning = (key: string): Promise<unknown> =>
    eventually(
      async () =>
        expect(await statusOf(key)).toMatchObject({
          condition: "Running",
          clusters: [
            { cluster: "east", condition: "Running", phase: "available", reachable: true },
            { cluster: "west", condition: "Running", phase: "available", reachable: true },
          ],
        }),
      { ...TIMEOUT, what: `${key} to run in both clusters` },
    );
  const registered = async (name: string): Promise<void> => {
    const sent = await call("POST", "/api/v1/packages", {
      body: {
        name,
        classes: [
          {
            key: "Order",
            state_spec: { consistency_model: "READ_YOUR_WRITE" },
            function_bindings: [{ name: "place", function_key: "place", access_modifier: "PUBLIC" }],
          },
        ],
        functions: [{ key: "place", provision_config: { container_image: "example.test/place:1" } }],
      },
    });
    expect(sent.status).toBe(201);
  };
  const deployment = (key: string, tag?: string): object => ({
    key,
    package_name: key,
    class_key: "Order",
    target_clusters: ["east", "west"],
    ...(tag === undefined
      ? {}
      : { functions: [{ function_key: "place", provision_config: { container_image: `example.test/place:${tag}` } }] }),
  });
  const update = async (key: string, tag: string): Promise<number> =>
    (await call("PUT", `/api/v1/deployments/${key}`, { body: deployment(key, tag) })).status;
  const both = (tag: string): readonly string[] => [`example.test/place:${tag}`, `example.test/place:${tag}`];

  // In a sweep each test runs on each store; otherwise each store runs one test, because stores have their own suite.
  const isSweep = sweepSize(1, 2) === 2;
  describe.each(["sqlite", "etcd"])("kept in %s", (store) => {
    beforeAll(() => startOn(store), TEST_MS);
    afterAll(() => pm?.[Symbol.asyncDispose]());

    const testOn = (selected: string): ((name: string, body: () => Promise<void>, ms: number) => void) =>
      isSweep || store === selected ? test : () => undefined;

    testOn("sqlite")(
      "plans, deploys, updates, explains a failure, repairs, rolls back and deletes",
      async () => {
        const key = `order-${store}`;
        await registered(key);
        const before = await contents();
        const plan = await call("POST", "/api/v1/plans", { body: { deployment: deployment(key) } });
        expect(plan).toMatchObject({ status: 200, json: { units: [{ cluster: "east" }, { cluster: "west" }] } });
        expect(await contents(), "a plan changes nothing").toEqual(before);
        const applied = await call("POST", "/api/v1/deployments", {
          body: { ...deployment(key), plan_digest: plan.json.digest },
        });
        expect(applied).toMatchObject({ status: 200, json: { status: "created" } });
        await untilRunning(key);
        const running = await contents();
        for (const [index, unit] of plan.json.units.entries())
          expect(running[index]).toContain(`classruntime.oaas.io/${unit.unit_id}`);
        expect(await images()).toEqual(both("1"));

        expect(await update(key, "2")).toBe(200);
        await untilRunning(key);
        expect(await images()).toEqual(both("2"));

        const [{ unit_id: edited }] = plan.json.units;
        await fixture.patch("east", edited, "example.test/place:edited");
        const isRepaired = async () => expect(await fixture.desiredImage("east", edited)).toBe("example.test/place:2");
        await eventually(isRepaired, { ...TIMEOUT, what: "the edited image to be repaired" });
        await untilRunning(key);

        expect(await update(key, "missing")).toBe(200);
        const explained = await eventually(async () => {
          const { json } = await call("GET", `/api/v1/deployments/${key}/explain`);
          expect(json).toMatchObject({ verdict: "permanent", clusters: [{ cluster: "east" }, { cluster: "west" }] });
          for (const { finding } of json.clusters) expect(chainOf(finding).at(-1)?.message).toContain("no such tag");
          return json;
        }, TIMEOUT);
        for (const { finding } of explained.clusters)
          expect(chainOf(finding).map(({ level }) => level)).toEqual(["class", "function", "workload", "pod", "event"]);
        expect(explained.suggested_action).toContain("image");
        expect((await statusOf(key)).condition).not.toBe("Running");

        expect(await update(key, "3")).toBe(200);
        await untilRunning(key);
        expect(await call("POST", `/api/v1/deployments/${key}/rollback`, { body: { revision: 1 } })).toMatchObject({
          status: 200,
        });
        await untilRunning(key);
        expect(await images()).toEqual(both("1"));

        const deleted = await call("DELETE", `/api/v1/deployments/${key}`);
        expect(deleted).toMatchObject({ status: 200, json: { deleted_envs: ["east", "west"] } });
        await eventually(async () => expect(await contents()).toEqual(before), {
          ...TIMEOUT,
          what: "the clusters to be empty again",
        });
        expect((await call("DELETE", `/api/v1/packages/${key}`)).status).toBe(204);
      },
      TEST_MS,
    );

    testOn("etcd")(
      "converges after both managers are killed, without duplicates or leftovers",
      async () => {
        const key = `killed-${store}`;
        const [, west] = fixture.clusters;
        await registered(key);
        const before = await contents();

        await west.signal("SIGSTOP");
        const response = call("POST", "/api/v1/deployments", { body: deployment(key) }).then(
          ({ status }) => status,
          () => "lost",
        );
        await eventually(
          async () => expect((await fixture.contents("east")).join()).toContain("classruntime"),
          TIMEOUT,
        );
        pm.process.signal("SIGKILL");
        // On a slow machine the response may arrive before the kill.
        expect(["lost", 202]).toContain(await response);
        await pm.process.exited;
        await west.signal("SIGCONT");
        await startOn(store);
        await untilRunning(key);
        expect((await contents()).map((one) => one.filter((name) => name.startsWith("classruntime")).length)).toEqual([
          1, 1,
        ]);

        await west.signal("SIGKILL");
        expect([200, 202, 503]).toContain(await update(key, "2"));
        await eventually(async () => expect((await statusOf(key)).clusters[1]).toMatchObject({ reachable: false }));
        expect(await fixture.images("west"), "units keep running without their manager").toEqual([
          "example.test/place:1",
        ]);
        await west.start();
        await eventually(async () => expect(await images()).toEqual(both("2")), TIMEOUT);
        await untilRunning(key);

        await west.signal("SIGKILL");
        expect([202, 204]).toContain((await call("DELETE", `/api/v1/packages/${key}?cascade=true`)).status);
        await west.start();
        await eventually(async () => expect(await contents()).toEqual(before), {
          ...TIMEOUT,
          what: "the clusters to be empty again",
        });
        await eventually(async () => expect((await call("GET", `/api/v1/packages/${key}`)).status).toBe(404), TIMEOUT);
      },
      TEST_MS,
    );
  });
});

/** The chain of findings from the class to its root cause. */
function chainOf(finding: Finding): readonly Finding[] {
  const cause = finding.causes.find(({ reason }) => reason !== "");
  return cause === undefined ? [finding] : [finding, ...chainOf(cause)];
}
