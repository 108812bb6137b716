import path from "node:path";
import { describeWith, eventually, startEtcd, sweepSize, type EtcdUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTwoClusters, type TwoClusters } from "./e2e-world.ts";
import { runPm, type PmProcess } from "./pm-process.ts";
import { onceHeld } from "./running-pm.ts";

/** Generous, as the machine may be busy; nothing here takes this long. */
const PATIENCE = { timeoutMs: 90_000 };
const TEST_MS = 240_000;

interface Finding {
  readonly level: string;
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly Finding[];
}

describeWith(["kubernetes", "kwok", "etcd"], "a class over two clusters, from end to end", () => {
  let world: TwoClusters;
  let etcd: EtcdUnderTest;
  let pm: PmProcess;
  beforeAll(async () => {
    [world, etcd] = await Promise.all([startTwoClusters(), startEtcd()]);
  }, TEST_MS);
  afterAll(async () => {
    await etcd?.close();
    await world?.[Symbol.asyncDispose]();
  });

  const startOn = async (store: string): Promise<void> => {
    const [east, west] = world.clusters;
    pm = await runPm({
      folder: world.folder,
      env: {
        STORAGE_TYPE: store,
        STORAGE_FILE: path.join(world.folder, "pm.sqlite"),
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
  const call: PmProcess["call"] = (...request) => onceHeld(() => pm.call(...request));
  const contents = (): Promise<readonly (readonly string[])[]> =>
    Promise.all(["east", "west"].map((cluster) => world.contents(cluster)));
  const images = async (): Promise<readonly string[]> =>
    (await Promise.all(["east", "west"].map((cluster) => world.images(cluster)))).flat();
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
      { ...PATIENCE, what: `${key} to run in both clusters` },
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
  const wish = (key: string, tag?: string): object => ({
    key,
    package_name: key,
    class_key: "Order",
    target_clusters: ["east", "west"],
    ...(tag === undefined
      ? {}
      : { functions: [{ function_key: "place", provision_config: { container_image: `example.test/place:${tag}` } }] }),
  });
  const update = async (key: string, tag: string): Promise<number> =>
    (await call("PUT", `/api/v1/deployments/${key}`, { body: wish(key, tag) })).status;
  const both = (tag: string): readonly string[] => [`example.test/place:${tag}`, `example.test/place:${tag}`];

  // Both on both in a sweep; otherwise each store sees one of the two: that a store keeps its promises is proved where stores are.
  const isSweep = sweepSize(1, 2) === 2;
  describe.each(["sqlite", "etcd"])("kept in %s", (store) => {
    beforeAll(() => startOn(store), TEST_MS);
    afterAll(() => pm?.[Symbol.asyncDispose]());

    const testOn = (wanted: string): ((name: string, body: () => Promise<void>, ms: number) => void) =>
      isSweep || store === wanted ? test : () => undefined;

    testOn("sqlite")(
      "planned, deployed, updated, broken and explained, mended, rolled back, deleted without a trace",
      async () => {
        const key = `order-${store}`;
        await registered(key);
        const before = await contents();
        const plan = await call("POST", "/api/v1/plans", { body: { deployment: wish(key) } });
        expect(plan).toMatchObject({ status: 200, json: { units: [{ cluster: "east" }, { cluster: "west" }] } });
        expect(await contents(), "a plan changes nothing").toEqual(before);
        const applied = await call("POST", "/api/v1/deployments", {
          body: { ...wish(key), plan_digest: plan.json.digest },
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
        await world.patch("east", edited, "example.test/place:edited");
        const putRight = async () => expect(await world.wantedImage("east", edited)).toBe("example.test/place:2");
        await eventually(putRight, { ...PATIENCE, what: "what was edited to be put right" });
        await untilRunning(key);

        expect(await update(key, "missing")).toBe(200);
        const explained = await eventually(async () => {
          const { json } = await call("GET", `/api/v1/deployments/${key}/explain`);
          expect(json).toMatchObject({ verdict: "permanent", clusters: [{ cluster: "east" }, { cluster: "west" }] });
          for (const { finding } of json.clusters) expect(chainOf(finding).at(-1)?.message).toContain("no such tag");
          return json;
        }, PATIENCE);
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
          ...PATIENCE,
          what: "the clusters to be as they were",
        });
        expect((await call("DELETE", `/api/v1/packages/${key}`)).status).toBe(204);
      },
      TEST_MS,
    );

    testOn("etcd")(
      "a manager killed while its class changes, and the package manager killed while it deploys: all converges, nothing twice, nothing left",
      async () => {
        const key = `killed-${store}`;
        const [, west] = world.clusters;
        await registered(key);
        const before = await contents();

        await west.signal("SIGSTOP");
        const asked = call("POST", "/api/v1/deployments", { body: wish(key) }).then(
          ({ status }) => status,
          () => "lost",
        );
        await eventually(async () => expect((await world.contents("east")).join()).toContain("classruntime"), PATIENCE);
        pm.process.signal("SIGKILL");
        // On a slow machine it was told in time that work goes on.
        expect(["lost", 202]).toContain(await asked);
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
        expect(await world.images("west"), "what runs goes on without its manager").toEqual(["example.test/place:1"]);
        await west.start();
        await eventually(async () => expect(await images()).toEqual(both("2")), PATIENCE);
        await untilRunning(key);

        await west.signal("SIGKILL");
        expect([202, 204]).toContain((await call("DELETE", `/api/v1/packages/${key}?cascade=true`)).status);
        await west.start();
        await eventually(async () => expect(await contents()).toEqual(before), {
          ...PATIENCE,
          what: "the clusters to be as they were",
        });
        await eventually(async () => expect((await call("GET", `/api/v1/packages/${key}`)).status).toBe(404), PATIENCE);
      },
      TEST_MS,
    );
  });
});

/** From the class down to what explains it most deeply: the first cause that is not well, and so on. */
function chainOf(finding: Finding): readonly Finding[] {
  const cause = finding.causes.find(({ reason }) => reason !== "");
  return cause === undefined ? [finding] : [finding, ...chainOf(cause)];
}
