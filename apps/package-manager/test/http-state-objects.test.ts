import { createHash } from "node:crypto";
import { failedPrecondition, unavailable } from "@oaas/foundation";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { startPm, type Answer, type PmUnderTest } from "./running-pm.ts";

const KEY = "shop-cart";
const OBJECTS = `/api/v1/deployments/${KEY}/objects`;
const hash = (token: string): string => createHash("sha256").update(token).digest("hex");
const TOKENS = ["viewer", "deployer", "admin"].map((role) => `${role}:${role}:${hash(role)}`).join("\n");

let clusters: readonly ScriptedCrm[];
let pm: PmUnderTest;
/** The cluster of the primary of partition 0, and the others. */
let holders: readonly ScriptedCrm[];

beforeAll(async () => {
  clusters = await Promise.all(
    ["east", "west"].map((name) => ScriptedCrm.start({ name, facts: { report: { dataPlaneNetwork: "shared" } } })),
  );
  const [east, west] = clusters.map(({ url }) => url);
  pm = await startPm({ tokens: TOKENS, clusters: { east: east ?? "", west: west ?? "" }, env: { DEPLOY_WAIT: "5s" } });
  const shop = {
    name: "shop",
    classes: [
      { key: "Cart", state_spec: {}, function_bindings: [{ name: "add", function_key: "add" }] },
      { key: "Page", function_bindings: [{ name: "add", function_key: "add" }] },
    ],
    functions: [{ key: "add", provision_config: { container_image: "example.test/add:1" } }],
  };
  expect(await call("POST", "/api/v1/packages", { body: shop })).toMatchObject({ status: 201 });
  const targets = { package_name: "shop", target_clusters: ["east", "west"] };
  const cart = { ...targets, key: KEY, class_key: "Cart", odgm: { partition_count: 3, replica_count: 2 } };
  for (const deployment of [cart, { ...targets, key: "shop-page", class_key: "Page" }]) {
    expect(await call("POST", "/api/v1/deployments", { body: deployment })).toMatchObject({ status: 200 });
  }
  const write = await call("PUT", `${OBJECTS}/shop.Cart/0/probe`, { body: { entries: { a: { text: "b" } } } });
  expect(write).toMatchObject({ status: 200 });
  holders = clusters.toSorted((a) => (a.facts.name === write.json.cluster ? -1 : 1));
  expect(await call("DELETE", `${OBJECTS}/shop.Cart/0/probe`)).toMatchObject({ status: 200 });
});
const as = (role: string, method: string, target: string, body?: object): Promise<Answer> =>
  pm.call(method, target, { headers: { authorization: `Bearer ${role}` }, ...(body === undefined ? {} : { body }) });
const call = (method: string, target: string, { body }: { readonly body?: object } = {}): Promise<Answer> =>
  as("deployer", method, target, body);

afterEach(() => {
  for (const cluster of clusters) cluster.decide = undefined;
});
afterAll(async () => {
  await pm?.close();
  await Promise.all((clusters ?? []).map((cluster) => cluster.close()));
});

const put = (place: string, entries: object): Promise<Answer> =>
  call("PUT", `${OBJECTS}/shop.Cart/${place}`, { body: { entries } });
const ids = (answer: Answer): readonly string[] =>
  (answer.json as readonly { partition: number; id: string }[]).map(({ partition, id }) => `${partition}/${id}`);
/** Lets a cluster fail the calls of its state store. */
function failState(cluster: ScriptedCrm | undefined, fault: Error): void {
  if (cluster === undefined) throw new TypeError("unknown cluster");
  cluster.decide = ({ method }) =>
    method.endsWith("StateObject") || method === "ListStateObjects" ? { do: "fail", fault: fault as never } : undefined;
}

test("writes, reads and deletes an object; entries come back in the form they were written", async () => {
  const entries = {
    total: { json: { sum: 3, of: [null, true] } },
    note: { text: '{"spaced": 1}' },
    raw: { base64: "/wA=" },
    merged: { text: "x", type: "crdt-map" },
    nothing: { json: null },
  };
  expect(await put("1/a%2Fb", entries)).toMatchObject({
    status: 200,
    json: { collection: "shop.Cart", partition: 1, id: "a/b" },
  });
  const read = await call("GET", `${OBJECTS}/shop.Cart/1/a%2Fb`);
  expect(read).toMatchObject({ status: 200, json: { id: "a/b", version: 1 } });
  expect(read.json.entries).toEqual(entries);
  expect(await call("DELETE", `${OBJECTS}/shop.Cart/1/a%2Fb`)).toMatchObject({ status: 200 });
  expect(await call("GET", `${OBJECTS}/shop.Cart/1/a%2Fb`)).toMatchObject({
    status: 404,
    json: { detail: expect.stringContaining("a/b") },
  });
});

test("lists all partitions one after the other, page by page, and filters", async () => {
  for (const place of ["0/b", "0/a", "2/c", "2/cd", "2/x"]) await put(place, {});
  const first = await call("GET", `${OBJECTS}?limit=3`);
  expect(ids(first)).toEqual(["0/a", "0/b", "2/c"]);
  const rest = await call("GET", `${OBJECTS}?limit=3&page_token=${first.headers.get("x-next-page-token")}`);
  expect(ids(rest)).toEqual(["2/cd", "2/x"]);
  expect(rest.headers.get("x-next-page-token")).toBeNull();
  expect(ids(await call("GET", `${OBJECTS}?partition=2&prefix=c&collection=shop.Cart`))).toEqual(["2/c", "2/cd"]);
  const collections = await call("GET", `/api/v1/deployments/${KEY}/collections`);
  expect(collections.json).toMatchObject([
    { name: "shop.Cart", partition_count: 3, replica_count: expect.any(Number), clusters: ["east", "west"] },
  ]);
});

test("asks another cluster that holds the partition when the first one fails", async () => {
  failState(holders[0], unavailable("the state store", "no node of partition 0 responds"));
  const write = await put("0/moved", {});
  expect(write).toMatchObject({ status: 200, json: { cluster: holders[1]?.facts.name } });
  failState(holders[1], failedPrecondition("partition 0", "other clusters hold it"));
  expect(await put("0/moved", {})).toMatchObject({
    status: 503,
    json: { detail: expect.stringContaining("responds") },
  });
  const named = `${OBJECTS}/shop.Cart/0/moved?cluster=${holders[1]?.facts.name}`;
  expect(await call("GET", named)).toMatchObject({ status: 400 });
});

test("failures of a state store do not stop other calls to its cluster", async () => {
  for (const cluster of clusters) failState(cluster, unavailable("the state store", "it has no quorum"));
  for (let call = 0; call < 12; call += 1) expect(await put("0/a", {})).toMatchObject({ status: 503 });
  for (const cluster of clusters) cluster.decide = undefined;
  expect(await put("0/a", {})).toMatchObject({ status: 200 });
});

test("rejects what does not exist and invalid entries, and names the fix", async () => {
  const detail = async (answer: Promise<Answer>) => {
    const { status, json } = await answer;
    return { status, text: JSON.stringify(json) };
  };
  const list = (query: string) => detail(call("GET", `${OBJECTS}?${query}`));
  expect(await list("partition=3")).toMatchObject({ status: 400, text: expect.stringContaining("use 0 to 2") });
  expect(await list("collection=other")).toMatchObject({ status: 404 });
  expect(await list("page_token=x")).toMatchObject({ status: 400, text: expect.stringContaining("$.page_token") });
  expect(await detail(call("GET", "/api/v1/deployments/shop-page/objects"))).toMatchObject({
    text: expect.stringContaining("has no state store"),
  });
  expect(await detail(call("GET", "/api/v1/deployments/missing/objects"))).toMatchObject({ status: 404 });
  expect(await detail(put("x/a", {}))).toMatchObject({ status: 404 });
  for (const [entry, fix] of [
    [{}, "set one of json, text and base64"],
    [{ text: "a", json: 1 }, "set one of json, text and base64"],
    [{ base64: "a" }, "encode it in base64"],
  ] as const) {
    expect(await detail(put("0/a", { e: entry }))).toMatchObject({ status: 400, text: expect.stringContaining(fix) });
  }
  const huge = { base64: Buffer.alloc(3 * 1024 * 1024 + 1).toString("base64") };
  expect(await detail(put("0/a", { huge }))).toMatchObject({
    status: 400,
    text: expect.stringContaining("use at most"),
  });
});

test("contents and writes need the role deployer, and writes are in the audit trail", async () => {
  await put("0/a", {});
  const one = `${OBJECTS}/shop.Cart/0/a`;
  const calls = [
    ["GET", OBJECTS, 200],
    ["GET", `/api/v1/deployments/${KEY}/collections`, 200],
    ["GET", one, 403],
    ["PUT", one, 403],
    ["DELETE", one, 403],
  ] as const;
  for (const [method, target, status] of calls) {
    const answer = await as("viewer", method, target, method === "PUT" ? { entries: {} } : undefined);
    expect({ method, target, status: answer.status }).toEqual({ method, target, status });
  }
  const { json } = await as("admin", "GET", "/api/v1/audit?limit=3");
  expect(json).toMatchObject([
    { action: "deleteStateObject", target: one, outcome: "refused" },
    { action: "setStateObject", target: one, outcome: "refused" },
    { action: "setStateObject", target: one, outcome: "succeeded" },
  ]);
});
