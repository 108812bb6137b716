import { Fault, notFound, unavailable } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import { createRestClient } from "./client.ts";
import type { FetchResponse, FetchInit } from "./send-request.ts";
import { faultToProblem } from "../faults/problem.ts";

interface Sent extends FetchInit {
  readonly url: string;
}

/** A fetch function that records requests and returns a fixed response. */
function serverThat(answers: { status: number; body?: string; headers?: Record<string, string> }) {
  const sent: Sent[] = [];
  const client = createRestClient({
    baseUrl: "http://pm:8080/",
    clock: virtualAmbient(1).clock,
    token: () => "t0ken",
    fetch: async (url, init): Promise<FetchResponse> => {
      sent.push({ url, ...init });
      return {
        status: answers.status,
        headers: { get: (name) => answers.headers?.[name] ?? null },
        text: async () => answers.body ?? "",
      };
    },
  });
  return { client, sent };
}

const acknowledgement = { id: "a", status: "created", message: null };

describe("a call", () => {
  test("follows the route table", async () => {
    const { client, sent } = serverThat({ status: 201, body: JSON.stringify(acknowledgement) });
    const reply = await client.call("createPackage", {
      query: { apply_deployments: true, reason: undefined },
      body: { name: "a" },
      headers: { "x-correlation-id": "c-1" },
    });
    expect(reply.value).toEqual(acknowledgement);
    expect(sent).toEqual([
      {
        url: "http://pm:8080/api/v1/packages?apply_deployments=true",
        method: "POST",
        headers: {
          accept: "application/json, application/problem+json",
          "content-type": "application/json",
          authorization: "Bearer t0ken",
          "x-correlation-id": "c-1",
        },
        body: '{"name":"a"}',
      },
    ]);
  });

  test("escapes names and repeats lists", async () => {
    const { client, sent } = serverThat({ status: 204 });
    expect((await client.call("deletePackage", { parameters: { name: "a/b" } })).value).toBe("");
    await client.call("listPackages", { query: { tags: ["x", "y&z"] } }).catch(() => undefined);
    expect(sent.map(({ url }) => url.replace("http://pm:8080/api/v1", ""))).toEqual([
      "/packages/a%2Fb",
      "/packages?tags=x&tags=y%26z",
    ]);
  });

  test("returns values of headers", async () => {
    const headers = { etag: '"7"', "x-total-count": "12", "x-next-page-token": "n", warning: '299 - "a", 299 - "b"' };
    const { client } = serverThat({ status: 200, body: "[]", headers });
    expect(await client.call("listDeployments")).toEqual({
      status: 200,
      value: [],
      etag: '"7"',
      totalCount: 12,
      nextPageToken: "n",
      warnings: ["a", "b"],
    });
  });

  test("reads alternative responses and keeps unknown fields", async () => {
    const accepted = { id: "a", status: "accepted", message: null, status_url: "/s", of_tomorrow: 1 };
    const { client } = serverThat({ status: 202, body: JSON.stringify(accepted) });
    expect((await client.call("createDeployment", { body: {} })).value).toEqual(accepted);
    const sick = { status: "unhealthy", service: "pm", version: "1", timestamp: "t", storage: { status: "error" } };
    const health = serverThat({ status: 503, body: JSON.stringify(sick) });
    expect((await health.client.call("getHealth")).value).toEqual(sick);
  });

  test("returns text responses as text", async () => {
    const { client } = serverThat({ status: 200, body: "up 1\n" });
    expect((await client.call("getMetrics")).value).toBe("up 1\n");
  });
});

describe("a call that fails", () => {
  test("throws the fault of the response", async () => {
    const { client } = serverThat({ status: 404, body: JSON.stringify(faultToProblem(notFound("package", "a"))) });
    await expect(client.call("getPackage", { parameters: { name: "a" } })).rejects.toMatchObject({
      detail: { kind: "not-found", resource: "package", name: "a" },
    });
  });

  test("reads the error of earlier peers", async () => {
    const { client } = serverThat({ status: 503, body: '{"error":"no clusters"}', headers: { "retry-after": "2" } });
    await expect(client.call("getTopology")).rejects.toMatchObject({
      message: "no clusters",
      detail: { kind: "unavailable", retryAfterMs: 2000 },
    });
  });

  test("rejects a response that does not match the contract", async () => {
    for (const body of ["[{}]", "{", ""]) {
      const { client } = serverThat({ status: 200, body, headers: { "x-correlation-id": "c-1" } });
      await expect(client.call("listPackages")).rejects.toThrow("does not match the API contract");
    }
  });

  test("throws unavailable without a response, and the signal's fault on abort", async () => {
    const failing = createRestClient({
      baseUrl: "http://pm:8080",
      clock: virtualAmbient(1).clock,
      fetch: () => Promise.reject(new TypeError("connect ECONNREFUSED")),
    });
    await expect(failing.call("listPackages")).rejects.toMatchObject({ kind: "unavailable" });
    const caller = new AbortController();
    caller.abort(unavailable("caller", "gone away"));
    await expect(failing.call("listPackages", { signal: caller.signal })).rejects.toThrow("gone away");
  });

  test("throws unavailable when the body is cut off", async () => {
    const client = createRestClient({
      baseUrl: "http://pm:8080",
      clock: virtualAmbient(1).clock,
      fetch: async () => ({
        status: 200,
        headers: { get: () => null },
        text: () => Promise.reject(new Error("socket hang up")),
      }),
    });
    const thrown: unknown = await client.call("listPackages").catch((fault: unknown) => fault);
    expect(thrown).toBeInstanceOf(Fault);
    expect(thrown).toMatchObject({ kind: "unavailable" });
  });
});
