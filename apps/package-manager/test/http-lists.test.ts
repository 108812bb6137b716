import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { eventually } from "@oaas/testkit";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, startPm, type Answer, type PmUnderTest } from "./running-pm.ts";

let east: ScriptedCrm;
let west: ScriptedCrm;
let pm: PmUnderTest;

const key = (each: { readonly key: string }): string => each.key;
const keysOf = (answer: Answer): string[] => answer.json.map(key);
const list = (path: string): Promise<Answer> => pm.call("GET", `/api/v1/${path}`);

/** Five deployments of two packages in two clusters, created in this order. */
const DEPLOYMENTS = [
  { key: "d", package_name: "shop", class_key: "Echo", target_clusters: ["east"] },
  { key: "b", package_name: "shop", class_key: "Echo", target_clusters: ["west"] },
  { key: "e", package_name: "bank", class_key: "Echo", target_clusters: ["east", "west"] },
  { key: "a", package_name: "bank", class_key: "Echo", target_clusters: ["west"] },
  { key: "c", package_name: "shop", class_key: "Echo", target_clusters: ["east"] },
];

beforeAll(async () => {
  [east, west] = await Promise.all([ScriptedCrm.start({ name: "east" }), ScriptedCrm.start({ name: "west" })]);
  pm = await startPm({
    clusters: { east: east.url, west: west.url },
    env: { DEPLOY_WAIT: "20s", CRM_HEALTH_CHECK_INTERVAL: "500ms" },
  });
  for (const [name, tags] of [
    ["shop", ["web", "eu"]],
    ["bank", ["web"]],
    ["bakery", []],
  ] as const)
    await pm.call("POST", "/api/v1/packages", {
      body: echoPackage(name, { metadata: { tags }, disabled: name === "bakery" }),
    });
  for (const body of DEPLOYMENTS)
    expect(await pm.call("POST", "/api/v1/deployments", { body })).toMatchObject({ status: 200 });
});
afterAll(async () => {
  await pm.close();
  await Promise.all([east.close(), west.close()]);
});

describe("deployments", () => {
  test.each([
    { query: "", keys: "a b c d e" },
    { query: "sort=key", keys: "a b c d e" },
    { query: "sort=-key", keys: "e d c b a" },
    { query: "sort=created_at", keys: "d b e a c" },
    { query: "sort=-created_at", keys: "c a e b d" },
    { query: "package_name=shop", keys: "b c d" },
    { query: "package_name=bank&sort=-key", keys: "e a" },
    { query: "class_key=Echo", keys: "a b c d e" },
    { query: "class_key=shop.Echo", keys: "b c d" },
    { query: "class_key=Other", keys: "" },
    { query: "target_cluster=east", keys: "c d e" },
    { query: "target_cluster=west&package_name=shop", keys: "b" },
    { query: "target_cluster=mars", keys: "" },
    { query: "target_env=east", keys: "c d e" },
    { query: "condition=DELETED", keys: "" },
    { query: "filter=c", keys: "c" },
    { query: "filter=z", keys: "" },
    { query: "filter=*", keys: "a b c d e" },
    { query: "filter=a*&package_name=bank", keys: "a" },
    { query: "sort=package_name", keys: "a e b c d" },
    { query: "sort=-package_name", keys: "d c b e a" },
    { query: "sort=class_key", keys: "a b c d e" },
  ])("?$query", async ({ query, keys }) => {
    const answer = await list(`deployments?${query}`);
    expect(keysOf(answer).join(" ")).toBe(keys);
    expect(answer.headers.get("x-total-count"), "counts the matching ones").toBe(String(keysOf(answer).length));
  });

  test.each(["", "&sort=-created_at", "&package_name=shop", "&sort=-package_name", "&sort=condition&filter=*"])(
    "pages by token and by offset cover the whole list: %s",
    async (more) => {
      const whole = keysOf(await list(`deployments?limit=1000${more}`));
      const [byToken, byOffset]: [string[], string[]] = [[], []];
      let token: string | null = "";
      for (let offset = 0; token !== null; offset += 2) {
        const paged: Answer = await list(`deployments?limit=2${more}${token === "" ? "" : `&page_token=${token}`}`);
        byToken.push(...keysOf(paged));
        byOffset.push(...keysOf(await list(`deployments?limit=2&offset=${offset}${more}`)));
        expect(paged.headers.get("x-total-count")).toBe(String(whole.length));
        token = paged.headers.get("x-next-page-token");
      }
      expect(byToken).toEqual(whole);
      expect(byOffset).toEqual(whole);
    },
  );

  test("rejects an unknown condition", async () => {
    expect(await list("deployments?condition=runing")).toMatchObject({
      status: 400,
      json: { violations: [{ path: "$.condition", fix: expect.stringContaining("running") }] },
    });
  });

  test("rejects a token of another order", async () => {
    const token = (await list("deployments?limit=2&sort=-key")).headers.get("x-next-page-token");
    expect(await list(`deployments?limit=2&page_token=${token}`)).toMatchObject({
      status: 400,
      json: { violations: [{ path: "$.page_token" }] },
    });
  });
});

describe("packages, classes and functions", () => {
  const names = (answer: Answer): string => answer.json.map((each: { readonly name: string }) => each.name).join(" ");

  test.each([
    { query: "", is: "bakery bank shop" },
    { query: "sort=-name", is: "shop bank bakery" },
    { query: "sort=created_at", is: "shop bank bakery" },
    { query: "name_pattern=ba", is: "bakery bank" },
    { query: "name_pattern=*k", is: "bank" },
    { query: "tags=web", is: "bank shop" },
    { query: "tags=web&tags=eu", is: "shop" },
    { query: "disabled=true", is: "bakery" },
    { query: "disabled=false&sort=-name", is: "shop bank" },
  ])("packages?$query, whole and as summaries", async ({ query, is }) => {
    for (const path of ["packages", "package-summaries"]) {
      const answer = await list(`${path}?${query}`);
      expect(names(answer)).toBe(is);
      expect(answer.headers.get("x-total-count")).toBe(String(is.split(" ").length));
    }
  });

  test("summarises a package, continues with the page token, and rejects unknown orders", async () => {
    const first = await list("package-summaries?limit=1");
    expect(first.json).toEqual([
      {
        name: "bakery",
        version: null,
        description: null,
        tags: [],
        classes: ["Echo"],
        functions: 1,
        disabled: true,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    ]);
    const token = first.headers.get("x-next-page-token");
    expect(names(await list(`package-summaries?limit=1&page_token=${token}`))).toBe("bank");
    expect(await list("package-summaries?sort=size")).toMatchObject({
      status: 400,
      json: { violations: [{ path: "$.sort" }] },
    });
  });

  test("returns the dependency graph of a package, also right after a change, and 404 without the package", async () => {
    const write = (name: string, ...dependencies: string[]) =>
      pm.call("POST", "/api/v1/packages", { body: echoPackage(name, { dependencies }) });
    await write("mill", "bank");
    await write("cafe", "mill", "bakery");
    const graph = {
      packages: [
        { name: "mill", state: "available" },
        { name: "bank", state: "available" },
        { name: "cafe", state: "available" },
      ],
      dependencies: [
        { from: "mill", to: "bank" },
        { from: "cafe", to: "mill" },
      ],
      total_packages: 3,
      total_dependencies: 2,
    };
    expect(await list("packages/mill/dependencies")).toMatchObject({ status: 200, json: graph });
    await pm.call("DELETE", "/api/v1/packages/cafe");
    expect((await list("packages/mill/dependencies")).json).toMatchObject({ total_packages: 2, total_dependencies: 1 });
    await pm.call("DELETE", "/api/v1/packages/mill");
    expect(await list("packages/mill/dependencies")).toMatchObject({ status: 404, json: { kind: "not-found" } });
    expect((await list("packages/bakery/dependencies")).json).toMatchObject({
      packages: [{ name: "bakery", state: "disabled" }],
      dependencies: [],
    });
  });

  test("lists classes with their package and functions without; both accept a filter", async () => {
    expect(keysOf(await list("classes"))).toEqual(["bakery.Echo", "bank.Echo", "shop.Echo"]);
    expect(keysOf(await list("classes?filter=shop"))).toEqual(["shop.Echo"]);
    expect(keysOf(await list("functions"))).toEqual(["echo", "echo", "echo"]);
    expect(keysOf(await list("functions?filter=none"))).toEqual([]);
  });
});

describe("the overview and operations", () => {
  test("counts everything, and shows who changed what", async () => {
    const { status, json: overview } = await eventually(
      async () => {
        const answer = await list("overview");
        expect(answer.json).toMatchObject({
          deployments: { total: 5, by_condition: { Running: 5 }, paused: 0 },
          class_runtimes: { total: 6, by_condition: { Running: 6 } },
          packages: { total: 3, disabled: 1 },
          clusters: { total: 2, by_status: { Healthy: 2 }, cordoned: 0 },
          operations: { running: 0, failed: 0, items: [] },
          violations: { total: 0, items: [] },
        });
        return answer;
      },
      { timeoutMs: 60_000, what: "the overview to count what the clusters report" },
    );
    expect(status).toBe(200);
    const changes = overview.recent_changes as { kind: string; key: string; at: string }[];
    expect(changes.filter(({ kind }) => kind === "deployment").map(key)).toEqual(["c", "a", "e", "b", "d"]);
    expect(changes[0]).toMatchObject({ revision: 1, author: "anonymous@127.0.0.1", reason: null });
    expect(changes.map(({ at }) => at)).toEqual(
      changes
        .map(({ at }) => at)
        .toSorted()
        .toReversed(),
    );
  });

  test("counts pauses, cordons and deleted deployments' packages as they change", async () => {
    await pm.call("POST", "/api/v1/deployments/a/pause", { body: { duration_secs: 600 } });
    await pm.call("POST", "/api/v1/clusters/east/cordon", { body: {} });
    expect((await list("overview")).json).toMatchObject({ deployments: { paused: 1 }, clusters: { cordoned: 1 } });
    await pm.call("POST", "/api/v1/deployments/a/resume");
    await pm.call("POST", "/api/v1/clusters/east/uncordon");
    expect((await list("overview")).json).toMatchObject({ deployments: { paused: 0 }, clusters: { cordoned: 0 } });
  });

  test.each([
    { query: "", keys: "c a e b d" },
    { query: "state=succeeded", keys: "c a e b d" },
    { query: "state=failed", keys: "" },
    { query: "kind=deploy&filter=a", keys: "a" },
    { query: "kind=delete", keys: "" },
    { query: "limit=2", keys: "c a" },
    { query: "limit=2&offset=3", keys: "b d" },
  ])("operations?$query", async ({ query, keys }) => {
    const answer = await list(`operations?${query}`);
    expect(answer.json.map((each: { deployment_key: string }) => each.deployment_key).join(" ")).toBe(keys);
    for (const one of answer.json)
      expect(one).toMatchObject({
        kind: "deploy",
        state: "succeeded",
        done: one.total,
        requested_by: "anonymous@127.0.0.1",
        started_at: expect.any(String),
        ended_at: expect.any(String),
      });
    if (!query.includes("limit")) expect(answer.headers.get("x-total-count")).toBe(String(answer.json.length));
  });

  test.each([
    { path: "operations?state=broken", field: "$.state" },
    { path: "operations?kind=deploy&kind=delete", field: "$.kind" },
    { path: "operations?limit=-1", field: "$.limit" },
    { path: "operations?page_token=x", field: "$.page_token" },
    { path: "deployments?sort=colour", field: "$.sort" },
    { path: "clusters/east/usage?max_entries=0", field: "$.max_entries" },
    { path: "clusters/east/drain?max_entries=1001", field: "$.max_entries" },
    { path: "class-runtimes?sort=colour", field: "$.sort" },
    { path: "audit?outcome=odd", field: "$.outcome" },
  ])("names the wrong parameter of $path", async ({ path, field }) => {
    const answer = await list(path);
    expect([answer.status, answer.json.violations[0].path]).toEqual([400, field]);
  });

  test("shows only failed attempts of the audit trail when asked", async () => {
    await pm.call("POST", "/api/v1/packages", { body: echoPackage("shop") });
    const refused = await list("audit?outcome=refused");
    expect(refused.json).toMatchObject([{ action: "createPackage", outcome: "refused", status: 409 }]);
  });
});

describe("class runtimes of all clusters", () => {
  const idOf = (each: { readonly id: string }): string => each.id;

  test.each(["id", "package_name", "class_key", "status", "updated_at", "cluster"])(
    "are sorted by %s, also in pages and backwards",
    async (field) => {
      const ascending = (await list(`class-runtimes?sort=${field}`)).json.map(idOf);
      const descending = (await list(`class-runtimes?sort=-${field}`)).json.map(idOf);
      expect(ascending).toHaveLength(6);
      expect(descending).toEqual(ascending.toReversed());
      const paged: string[] = [];
      let token: string | null = "";
      while (token !== null) {
        const page: Answer = await list(`class-runtimes?limit=4&sort=${field}${token && `&page_token=${token}`}`);
        paged.push(...page.json.map(idOf));
        token = page.headers.get("x-next-page-token");
      }
      expect(paged).toEqual(ascending);
    },
  );

  test("are summarised in the same order, with the same filters, pages and errors", async () => {
    for (const query of ["", "sort=-id", "package_name=bank", "cluster=west&limit=2", "filter=e-&offset=1"]) {
      const [whole, summaries] = await Promise.all([
        list(`class-runtimes?${query}`),
        list(`class-runtime-summaries?${query}`),
      ]);
      expect(summaries.json.map(idOf)).toEqual(whole.json.map(idOf));
      for (const header of ["x-total-count", "x-next-page-token"])
        expect(summaries.headers.get(header)).toBe(whole.headers.get(header));
    }
    expect((await list("class-runtime-summaries?package_name=bank&cluster=east")).json).toEqual([
      {
        id: expect.stringMatching(/^e-/),
        package_name: "bank",
        class_key: "bank.Echo",
        cluster_name: "east",
        condition: "Running",
        ready_replicas: 0,
        desired_replicas: 0,
        compliance: null,
        updated_at: expect.any(String),
      },
    ]);
    expect(await list("class-runtime-summaries?status=odd")).toMatchObject({
      status: 400,
      json: { violations: [{ path: "$.status" }] },
    });
  });

  test("are filtered by a part of the id, and counted", async () => {
    const found = await list("class-runtimes?filter=e-&sort=package_name");
    const ids = found.json.map(idOf);
    expect(ids.length).toBeGreaterThan(0);
    for (const id of ids) expect(id).toContain("e-");
    expect(found.headers.get("x-total-count")).toBe(String(ids.length));
    expect((await list("class-runtimes?filter=nothing")).json).toEqual([]);
    const changed = (await list("class-runtimes?package_name=bank&sort=-id")).json.map(idOf);
    expect(changed).toEqual(changed.toSorted().toReversed());
  });

  const clusterOf = (each: { readonly cluster_name?: string }): string | undefined => each.cluster_name;

  test("are listed in pages by cluster; an unreachable cluster is named in a header", async () => {
    const all = await list("class-runtimes?limit=100");
    expect(all.headers.get("x-total-count")).toBe("6");
    expect(all.json.map(clusterOf)).toEqual(["east", "east", "east", "west", "west", "west"]);
    const first = await list("class-runtimes?limit=4");
    const second = await list(`class-runtimes?limit=4&page_token=${first.headers.get("x-next-page-token")}`);
    expect([...first.json, ...second.json]).toEqual(all.json);
    expect((await list("class-runtimes?env=west")).json).toHaveLength(3);
    await west.close();
    await eventually(
      async () => {
        const without = await list("class-runtimes?package_name=bank&environment=any");
        expect(without.headers.get("x-missing-clusters")).toBe("west");
      },
      { timeoutMs: 60_000, what: "the cluster to be reported as missing" },
    );
  });
});
