import { allRoutes, fillPath, pathParameters } from "@oaas/contracts/rest";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RouteTable } from "./routing.ts";

const table = new RouteTable(allRoutes());
const found = (method: string, path: string) => {
  const match = table.match(method, path);
  return match && { id: match.route.operationId, ...match.parameters };
};

describe("the route of a request", () => {
  test.each([
    { request: "GET /api/v1/packages", is: { id: "listPackages" } },
    { request: "GET /api/v1/packages/", is: { id: "listPackages" } },
    { request: "HEAD /api/v1/packages/x", is: { id: "getPackage", name: "x" } },
    { request: "GET /api/v1/packages/a%2Fb%20c", is: { id: "getPackage", name: "a/b c" } },
    { request: "GET /api/v1/p%61ckages", is: { id: "listPackages" } },
    { request: "GET /api/v1/packages/x/revisions/3/", is: { id: "getPackageRevision", name: "x", revision: "3" } },
    { request: "GET /api/v1/clusters/health", is: { id: "listClusterHealth" } },
    { request: "DELETE /api/v1/clusters/health", is: { id: "removeCluster", name: "health" } },
    { request: "PUT /api/gateway/a/b//c", is: { id: "gatewayPut" } },
    { request: "GET /api/gateway", is: { id: "gatewayGet" } },
    { request: "PATCH /api/v1/packages/x", is: undefined },
    { request: "GET /api/v1/Packages", is: undefined },
    { request: "GET /api/v1//packages", is: undefined },
    { request: "GET /api/v1/packages//revisions", is: undefined },
    { request: `GET /api/v1/packages/${"x".repeat(513)}`, is: undefined },
    { request: "GET /", is: undefined },
    { request: "OPTIONS *", is: undefined },
    { request: "GET api/v1/packages", is: undefined },
    { request: "GET http://x/api/v1/packages", is: undefined },
  ])("$request", ({ request, is }) => {
    const [method = "", path = ""] = request.split(" ");
    expect(found(method, path)).toEqual(is);
  });

  test("an escape that is none is refused", () => {
    expect(() => table.match("GET", "/api/v1/packages/%zz")).toThrow(
      expect.objectContaining({ kind: "invalid-argument" }),
    );
  });

  test("a path that was asked for before has the same route, for each method its own, however many others came between", () => {
    const fresh = new RouteTable(allRoutes());
    const first = fresh.match("GET", "/api/v1/packages/x");
    expect(fresh.match("GET", "/api/v1/packages/x")).toBe(first);
    expect(fresh.match("DELETE", "/api/v1/packages/x")?.route.operationId).toBe("deletePackage");
    for (let other = 0; other < 3_000; other += 1) fresh.match("GET", `/api/v1/packages/p${other}`);
    expect(fresh.match("GET", "/api/v1/packages/x")).toEqual(first);
    expect(fresh.match("GET", "/api/v1/packages/p7")?.parameters).toEqual({ name: "p7" });
  });

  test("names of any characters come out as they were put in", () => {
    const name = fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter((each) => each.isWellFormed());
    for (const route of allRoutes()) {
      if (route.path.endsWith("{path}")) continue;
      const names = pathParameters(route.path);
      fc.assert(
        fc.property(fc.array(name, { minLength: names.length, maxLength: names.length }), (values) => {
          // What is spelled out wins: such a name belongs to another route.
          if (values.includes("health")) return;
          const parameters = Object.fromEntries(names.map((each, index) => [each, values[index] as string]));
          expect(found(route.method, fillPath(route.path, parameters))).toEqual({
            id: route.operationId,
            ...parameters,
          });
        }),
        { numRuns: 20, seed: 6 },
      );
    }
  });
});

describe("the methods of a path", () => {
  test.each([
    { path: "/api/v1/packages/x", methods: "GET, HEAD, POST, DELETE" },
    { path: "/api/v1/packages/", methods: "POST, GET, HEAD" },
    { path: "/api/v1/clusters/health", methods: "GET, HEAD" },
    { path: "/api/gateway/a/b", methods: "GET, HEAD, POST, PUT, DELETE" },
    { path: "/nowhere", methods: "" },
  ])("$path", ({ path, methods }) => {
    expect(table.methods(path).join(", ")).toBe(methods);
  });
});
