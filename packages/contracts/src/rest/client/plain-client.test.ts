import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { createRestClient } from "./client.ts";
import type { FetchInit } from "./send-request.ts";
import { allRoutes } from "../routes/table.ts";
import { createPlainClient, parseOperation } from "./plain-client.ts";
import { pathParameters, type Route } from "../routes/route.ts";

test.each(allRoutes())("$operationId matches the route table", (route) => {
  const { method, path, statuses, mediaType } = parseOperation(route.operationId);
  expect({ method, path, mediaType }).toEqual({
    method: route.method,
    path: route.path,
    mediaType: route.response.mediaType,
  });
  expect(statuses).toEqual(new Set(successes(route)));
});

function successes({ response, otherResponses = [] }: Route): number[] {
  return [response, ...otherResponses]
    .filter(({ status, schema }) => status < 400 || schema !== undefined)
    .map(({ status }) => status);
}

const REFUSED = JSON.stringify({
  error: "no such thing",
  kind: "invalid-argument",
  code: "OAAS_INVALID_ARGUMENT",
  violations: [{ path: "$.name", message: "is missing", fix: "add it" }],
});
const HEADERS: Readonly<Record<string, string>> = { etag: '"7"', "x-total-count": "3", "x-next-page-token": "n" };

describe("both clients send equal requests and return equal values", () => {
  const routes = allRoutes().filter(
    ({ response }) => response.mediaType === undefined && response.schema === undefined,
  );
  const calls = [
    ...routes.map(({ operationId, path, response }) => ({ id: operationId, path, status: response.status, body: "" })),
    { id: "createPackage" as const, path: "", status: 201, body: '{"id":"a","status":"created","message":null}' },
    { id: "listPackages" as const, path: "", status: 200, body: "[]" },
    { id: "listPackages" as const, path: "", status: 200, body: "<html>" },
    { id: "listPackages" as const, path: "", status: 400, body: REFUSED },
    { id: "listPackages" as const, path: "", status: 503, body: "upstream is away" },
  ];
  test.each(calls)("$id with status $status", async ({ id, path, status, body }) => {
    const parameters = Object.fromEntries(pathParameters(path).map((name) => [name, "x"]));
    const outcomes = [createRestClient, createPlainClient].map(async (create) => {
      const sent: (FetchInit & { readonly url: string })[] = [];
      const client = create({
        baseUrl: "http://pm:8080",
        clock: virtualAmbient(1).clock,
        fetch: async (url, init) => {
          sent.push({ url, ...init });
          return { status, headers: { get: (name) => HEADERS[name] ?? null }, text: async () => body };
        },
      });
      const given = await client.call(id, { parameters, query: { limit: 2 } }).catch((fault: unknown) => fault);
      return { sent, given };
    });
    const [checked, plain] = await Promise.all(outcomes);
    expect(plain).toEqual(checked);
  });
});
