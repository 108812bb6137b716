import { isDeepStrictEqual } from "node:util";
import { allRoutes, openApiDocument, pathParameters, type Route } from "@oaas/contracts/rest";
import { eventually, sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createMemoryLab } from "./fakes/memory-lab.ts";
import { ScriptedCrm } from "./fakes/scripted-crm.ts";
import { echoPackage, recordVersions, startPm, type Answer, type PmUnderTest } from "./running-pm.ts";

let crm: ScriptedCrm;
let pm: PmUnderTest;

beforeAll(async () => {
  crm = await ScriptedCrm.start({ name: "east" });
  pm = await startPm({
    clusters: { east: crm.url },
    lab: createMemoryLab(["east"]),
    env: { SERVER_HOST: "127.0.0.1", DEPLOY_WAIT: "2s", SERVER_MAX_BODY_BYTES: "65536" },
  });
  for (const name of ["shop", "spare"]) await pm.call("POST", "/api/v1/packages", { body: echoPackage(name) });
  await pm.call("POST", "/api/v1/deployments", { body: deploymentOf("shop") });
});
afterAll(async () => {
  await pm.close();
  await crm.close();
});

function deploymentOf(key: string): object {
  return { key, package_name: "shop", class_key: "Echo", target_clusters: ["east"], target_envs: ["east"] };
}

const CLUSTER = { name: "north", url: "http://127.0.0.1:9", labels: { zone: "a" } };

/** A valid document for each route with a body, by the last word of its path. Pauses and freezes end at once. */
const VALID: Readonly<Record<string, object>> = {
  packages: echoPackage("shop", { tags: ["a"], metadata: { author: "ann" } }),
  deployments: deploymentOf("shop"),
  plans: { deployment: deploymentOf("shop"), what_if: { clusters_down: ["east"] }, objects: true },
  apply: { documents: [{ package: echoPackage("shop") }, { deployment: deploymentOf("shop"), if_match: "*" }] },
  clusters: CLUSTER,
  envs: CLUSTER,
  rollback: { revision: 1 },
  replan: { plan_digest: "sha256:1", reason: "fuzz" },
  pause: { duration_secs: 1, reason: "fuzz" },
  invocations: { cluster: "east", method: "PUT", path: "/a?b=c", headers: { accept: "text/plain" }, body: "hello" },
  objects: { entries: { a: { json: [1] }, b: { text: "x", type: "crdt-map" }, c: { base64: "/wA=" } } },
  cordon: { reason: "fuzz" },
  drain: { reason: "fuzz", allow_state_loss: true },
  "freeze-windows": { clusters: ["north"], start: "2020-01-01T00:00:00Z", end: "2020-01-01T01:00:00Z" },
  session: { token: "secret" },
  faults: { fault: "partition", cluster: "east" },
  restore: { fault: "partition", cluster: "east" },
};

function validBody({ path }: Route): object | undefined {
  return VALID[/([\w-]+)(?:\/\{\w+\})*$/.exec(path)?.[1] ?? ""];
}

/** Streams never end. */
const ROUTES = allRoutes().filter(({ response }) => response.mediaType !== "text/event-stream");
const QUERY_NAMES = [...JSON.stringify(openApiDocument("1.0.0")).matchAll(/"name":"(\w+)","in":"query"/g)].map(
  ([, name = ""]) => name,
);

interface FuzzRequest {
  readonly path: string;
  readonly body: string | Uint8Array | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const wild = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
  fc.constantFrom("..", "%", "null", "__proto__", "-1", "1e999", "a".repeat(300), "\u0000", "'; --", "shop/x"),
);

/** A document with one member replaced, removed or added anywhere. */
function mutated(document: unknown): fc.Arbitrary<unknown> {
  const anything = fc.oneof(fc.jsonValue(), wild, fc.constantFrom(null, -1, 7, 1e308, [], {}, ""));
  if (typeof document !== "object" || document === null) return anything;
  const keys = Object.keys(document);
  const inside = fc.constantFrom(...(keys.length === 0 ? ["x"] : keys)).chain((key) =>
    mutated((document as Record<string, unknown>)[key]).map((value) => {
      const copy: unknown = structuredClone(document);
      Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true });
      return copy;
    }),
  );
  const removed = fc.constantFrom(...keys, "x").map((key) => {
    const copy = structuredClone(document) as Record<string, unknown>;
    delete copy[key];
    return copy;
  });
  const added = fc.tuple(fc.string(), fc.jsonValue()).map(([key, value]) => ({ ...document, [key]: value }));
  return fc.oneof({ weight: 4, arbitrary: inside }, removed, added, anything);
}

function bodies(route: Route): fc.Arbitrary<string | Uint8Array | undefined> {
  if (route.method === "GET") return fc.constant(undefined);
  if (route.body === undefined) return fc.option(fc.string(), { nil: undefined });
  return fc.oneof(
    { weight: 5, arbitrary: mutated(validBody(route)).map((value) => JSON.stringify(value) ?? "") },
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.string({ unit: "binary" }),
    fc.uint8Array({ minLength: 1 }),
  );
}

function requestsFor(route: Route): fc.Arbitrary<FuzzRequest> {
  const value = fc.oneof(fc.constantFrom("shop", "east", "1", "unknown"), wild);
  // The client would resolve these segments, and call another route.
  const values = pathParameters(route.path).map(() => value.filter((text) => text !== "." && text !== ".."));
  const path = fc.tuple(...values).map((given) => {
    let at = 0;
    return route.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(String(given[at++]).toWellFormed()));
  });
  const pair = fc.tuple(
    fc.oneof(fc.constantFrom(...QUERY_NAMES), fc.string()),
    fc.oneof(wild, fc.integer().map(String), fc.constant("true")),
  );
  const query = fc.array(pair, { maxLength: 3 }).map((pairs) => {
    const text = new URLSearchParams(pairs).toString();
    return text === "" ? "" : `?${text}`;
  });
  const type = fc.constantFrom("application/json", "application/json", "application/yaml", "text/plain", "x", "");
  const ifMatch = fc.option(fc.constantFrom('"1"', "*", "W/x", '"99999999999999999999"'), { nil: undefined });
  return fc.record({ path, query, body: bodies(route), type, ifMatch }).map(({ body, ...given }) => ({
    path: given.path + given.query,
    body,
    headers: {
      ...(body === undefined ? {} : { "content-type": given.type }),
      ...(given.ifMatch === undefined ? {} : { "if-match": given.ifMatch }),
    },
  }));
}

/** The versions of all records once they no longer change. */
async function stableVersions(): Promise<readonly string[]> {
  let last = await recordVersions(pm.store);
  await eventually(async () => {
    const before = last;
    await new Promise((resolve) => setTimeout(resolve, 100));
    last = await recordVersions(pm.store);
    return isDeepStrictEqual(before, last);
  });
  return last;
}

async function send(route: Route, { path, body, headers }: FuzzRequest): Promise<Answer> {
  return pm.call(route.method, path, { headers, ...(body === undefined ? {} : { raw: body }) });
}

function assertContract(route: Route, { status, headers, json, text }: Answer): void {
  if (status >= 400) {
    expect(status < 500 || [501, 503].includes(status), `${status}: ${text}`).toBe(true);
    expect(headers.get("content-type")).toMatch(/^application\/problem\+json/);
    expect(json).toMatchObject({ status, error: expect.any(String), correlationId: expect.any(String) });
    return;
  }
  const answer = [route.response, ...(route.otherResponses ?? [])].find((each) => each.status === status);
  expect(answer, `${status} is not in the contract`).toBeDefined();
  if (answer?.schema === undefined) return;
  const read = answer.schema.safeParse(json);
  expect(read.error, text).toBeUndefined();
}

test("knows a valid document of each route, and the parameters", () => {
  const invalid = ROUTES.filter((route) => route.body?.safeParse(validBody(route)).success === false);
  expect(invalid.map(({ path }) => path)).toEqual([]);
  expect(QUERY_NAMES).toEqual(expect.arrayContaining(["limit", "filter", "dry_run", "field_validation"]));
});

describe("any bytes to any route: a response of the contract, and a rejection changes nothing", () => {
  test.each(ROUTES.map((route) => ({ name: `${route.method} ${route.path}`, route })))("$name", async ({ route }) => {
    const parameters = { numRuns: sweepSize(15, 1000) };
    await fc.assert(
      fc.asyncProperty(requestsFor(route), async (request) => {
        const before = await recordVersions(pm.store);
        const answer = await send(route, request);
        assertContract(route, answer);
        if (answer.status < 400 || isDeepStrictEqual(await recordVersions(pm.store), before)) return;
        // An earlier request may still be running. A rejection with an effect has it every time.
        await eventually(
          async () => {
            const stable = await stableVersions();
            const again = await send(route, request);
            if (again.status >= 400) expect(await recordVersions(pm.store), again.text).toEqual(stable);
          },
          { timeoutMs: 10_000, what: "a rejection without an effect" },
        );
      }),
      parameters,
    );
  });

  test("serves requests after all of them", async () => {
    expect((await pm.call("GET", "/readyz")).status).toBe(200);
    const name = `after-${crypto.randomUUID()}`;
    expect((await pm.call("POST", "/api/v1/packages", { body: echoPackage(name) })).status).toBe(201);
  });
});
