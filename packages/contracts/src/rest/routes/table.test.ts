import { describe, expect, test } from "vitest";
import { allRoutes, ROUTES } from "./table.ts";
import { fillPath, pathParameters } from "./route.ts";

const routes = allRoutes();

/** Written from the contract's tables (sections 3.1 and 3.2), not from the code. */
const CONTRACT = `
POST /api/v1/packages
GET /api/v1/packages
GET /api/v1/packages/{name}
POST /api/v1/packages/{name}
DELETE /api/v1/packages/{name}
POST /api/v1/deployments
GET /api/v1/deployments
GET /api/v1/deployments/{key}
DELETE /api/v1/deployments/{key}
GET /api/v1/deployments/{key}/env-mappings
GET /api/v1/deployments/{key}/cluster-mappings
GET /api/v1/class-runtimes
GET /api/v1/class-runtimes/{id}
GET /api/v1/deployment-records
GET /api/v1/deployment-records/{id}
GET /api/v1/deployment-status/{id}
GET /api/v1/envs
GET /api/v1/envs/health
GET /api/v1/envs/{name}/health
GET /api/v1/clusters
GET /api/v1/clusters/health
GET /api/v1/clusters/{name}/health
GET /api/v1/topology
GET /api/v1/classes
GET /api/v1/functions
GET /api/v1/artifacts
GET /api/v1/artifacts/{id}
POST /api/v1/scripts/compile
POST /api/v1/scripts/build
POST /api/v1/scripts/test
POST /api/v1/scripts/deploy
GET /api/v1/scripts/{package}/{function}
GET /health
`
  .trim()
  .split("\n");

test.each(CONTRACT)("%s exists", (line) => {
  expect(routes.map((route) => `${route.method} ${route.path}`)).toContain(line);
});

test("has unique methods and paths", () => {
  const places = routes.map((route) => `${route.method} ${route.path.replaceAll(/\{\w+\}/g, "{}")}`);
  expect(places.filter((place, at) => places.indexOf(place) !== at)).toEqual([]);
});

test("has every /clusters route under /envs too", () => {
  const places = routes.map(({ method, path }) => `${method} ${path}`);
  const under = (word: string): string[] =>
    places.filter((place) => place.includes(`/${word}`)).map((place) => place.replace(`/${word}`, ""));
  expect(under("envs")).toEqual(expect.arrayContaining(under("clusters")));
});

describe("aliases", () => {
  test.each(routes.filter((route) => route.aliasOf !== undefined))("$operationId equals $aliasOf", (route) => {
    const original = routes.find(({ operationId }) => operationId === route.aliasOf);
    expect(original?.aliasOf).toBeUndefined();
    expect(route.query).toBe(original?.query);
    expect(route.response.schema).toBe(original?.response.schema);
    expect(route.role).toBe(original?.role);
    expect(JSON.stringify(route.faults)).toBe(JSON.stringify(original?.faults));
  });
});

test.each(routes.filter((route) => route.method !== "GET" && route.offered !== false))(
  "$operationId writes, so a viewer may not call it, unless it only plans or signs in",
  (route) => {
    if (route.tag === "session") return expect(route.role).toBe("public");
    expect(route.role).toBe(
      route.operationId === "createPlan" ? "viewer" : route.role === "admin" ? "admin" : "deployer",
    );
  },
);

test("only sign-in, probes and documentation are public", () => {
  const open = new Set(routes.filter((route) => route.role === "public").map((route) => route.path));
  const session = ["", "/oidc/login", "/oidc/callback"].map((path) => `/api/v1/session${path}`);
  expect([...open]).toEqual([...session, "/health", "/readyz", "/openapi.json", "/", "/docs"]);
});

describe("fillPath", () => {
  test("escapes values", () => {
    expect(fillPath(ROUTES.getPackage.path, { name: "a/b c" })).toBe("/api/v1/packages/a%2Fb%20c");
  });

  test("throws for a missing or empty parameter", () => {
    expect(() => fillPath(ROUTES.getPackage.path, {})).toThrow("needs name");
    expect(() => fillPath(ROUTES.getPackage.path, { name: "" })).toThrow("needs name");
  });

  test("finds parameters in order", () => {
    expect(pathParameters("/a/{b}/c/{d}")).toEqual(["b", "d"]);
  });
});
