import { describeWith, eventually } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOneCluster, type OneCluster } from "./e2e-fixture.ts";
import { runPm, type PmProcess } from "./pm-process.ts";

/** Generous, because the machine may be busy. */
const TIMEOUT = { timeoutMs: 90_000 };
const TEST_MS = 240_000;
const URL_PATH = "/api/v1/deployments";

const PACKAGE = {
  name: "shop",
  classes: [{ key: "Order", function_bindings: [{ name: "place", function_key: "place", access_modifier: "PUBLIC" }] }],
  functions: [{ key: "place", provision_config: { container_image: "example.test/place:1" } }],
};

describeWith(["kubernetes", "kwok"], "namespaces of one cluster, end to end", () => {
  let fixture: OneCluster;
  let pms: readonly PmProcess[] = [];
  beforeAll(async () => {
    fixture = await startOneCluster();
    const env = {
      STORAGE_TYPE: "memory",
      CRM_CLUSTERS_JSON: JSON.stringify({
        edge: { url: fixture.crm.url, default_namespace: "classes" },
      }),
      CRM_HEALTH_CHECK_INTERVAL: "500ms",
      DEPLOY_WAIT: "10s",
    };
    pms = await Promise.all([1, 2].map(() => runPm({ folder: fixture.folder, env })));
    for (const pm of pms) await pm.call("POST", "/api/v1/packages", { body: PACKAGE });
  }, TEST_MS);
  afterAll(async () => {
    for (const pm of pms) await pm[Symbol.asyncDispose]();
    await fixture?.[Symbol.asyncDispose]();
  });

  const deployment = (namespace?: string, image = "1", key = "order") => ({
    key,
    package_name: "shop",
    class_key: "Order",
    target_clusters: ["edge"],
    ...(namespace === undefined ? {} : { namespace }),
    functions: [{ function_key: "place", provision_config: { container_image: `example.test/place:${image}` } }],
  });
  const apply = (pm: PmProcess, body: object) => pm.call("POST", URL_PATH, { body });
  const statusOf = async (pm: PmProcess, key = "order") => (await pm.call("GET", `${URL_PATH}/${key}/status`)).json;
  const untilRunning = (pm: PmProcess, namespace: string, key = "order") =>
    eventually(
      async () => expect(await statusOf(pm, key)).toMatchObject({ condition: "Running", clusters: [{ namespace }] }),
      TIMEOUT,
    );
  const imagesIn = (namespace: string) =>
    fixture.kubectl("get", "deployments", "-n", namespace, "-o", "jsonpath={..containers[0].image}");

  test(
    "two package managers run units with the same names in different namespaces",
    async () => {
      const [a, b] = pms as [PmProcess, PmProcess];
      expect(await apply(a, deployment("team-a"))).toMatchObject({ status: 200, json: { status: "created" } });
      expect(await apply(b, deployment("team-b", "2"))).toMatchObject({ status: 200, json: { status: "created" } });
      await untilRunning(a, "team-a");
      await untilRunning(b, "team-b");
      const names = await Promise.all(
        ["team-a", "team-b"].map((namespace) => fixture.kubectl("get", "crt", "-n", namespace, "-o", "name")),
      );
      expect(names[0]).toBe(names[1]);
      expect([await imagesIn("team-a"), await imagesIn("team-b")]).toEqual([
        "example.test/place:1",
        "example.test/place:2",
      ]);

      // The created namespaces enforce the pod security standard.
      const label = "jsonpath={.metadata.labels.pod-security\\.kubernetes\\.io/enforce}";
      expect(await fixture.kubectl("get", "namespace", "team-a", "-o", label)).toBe("restricted");

      expect((await apply(a, deployment("team-a", "3"))).status).toBe(200);
      await eventually(async () => expect(await imagesIn("team-a")).toBe("example.test/place:3"), TIMEOUT);
      expect(await imagesIn("team-b")).toBe("example.test/place:2");
      await untilRunning(a, "team-a");

      await a.call("DELETE", `${URL_PATH}/order`);
      await eventually(async () => expect(await fixture.kubectl("get", "crt", "-n", "team-a", "-o", "name")).toBe(""), {
        ...TIMEOUT,
        what: "the unit in team-a to be removed",
      });
      await untilRunning(b, "team-b");
      expect(await imagesIn("team-b")).toBe("example.test/place:2");
    },
    TEST_MS,
  );

  test(
    "a unit without a namespace is created in the default of the registration, and cannot move",
    async () => {
      const [pm] = pms as [PmProcess];
      const plan = await pm.call("POST", "/api/v1/plans", {
        body: { deployment: deployment(undefined, "1", "plain") },
      });
      expect(plan.json.units).toMatchObject([{ namespace: { name: "classes", origin: "cluster" } }]);
      expect((await apply(pm, deployment(undefined, "1", "plain"))).status).toBe(200);
      await untilRunning(pm, "classes", "plain");
      expect(await apply(pm, deployment("team-a", "1", "plain"))).toMatchObject({
        status: 400,
        json: { violations: [{ path: "$.namespace", fix: "keep its namespace, or deploy it under a new key" }] },
      });
      expect(await apply(pm, deployment("classes", "1", "plain"))).toMatchObject({ status: 200 });
      const explained = await pm.call("GET", `${URL_PATH}/plain/explain`);
      expect(explained).toMatchObject({ status: 200, json: { verdict: "healthy" } });
      await pm.call("DELETE", `${URL_PATH}/plain`);
    },
    TEST_MS,
  );

  test(
    "rejects system namespaces with the field and creates nothing",
    async () => {
      const [pm] = pms as [PmProcess];
      const before = await fixture.kubectl("get", "namespaces", "-o", "name");
      for (const namespace of ["kube-system", "kube-mine", "Team_A"]) {
        const answer = await apply(pm, deployment(namespace, "1", "miner"));
        expect(answer).toMatchObject({ status: 400, json: { violations: [{ path: "$.namespace" }] } });
      }
      expect(await fixture.kubectl("get", "namespaces", "-o", "name")).toBe(before);
    },
    TEST_MS,
  );
});
