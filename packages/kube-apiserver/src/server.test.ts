import { virtualAmbient } from "@oaas/foundation/virtual";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "@oaas/kube-core";
import type { ApiResponse } from "./api.ts";
import { builtInKinds } from "./kinds/built-in/built-in-kinds.ts";
import { ApiServer } from "./server.ts";

const MIXES = "/apis/probe.test/v1/namespaces/default/mixes";

const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "mixes.probe.test" },
  spec: {
    group: "probe.test",
    scope: "Namespaced",
    names: { plural: "mixes", kind: "Mix" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                properties: { a: { type: "string", default: "x" }, n: { type: "integer", minimum: 1 } },
              },
              status: { type: "object", properties: { ready: { type: "boolean" } } },
            },
          },
        },
      },
    ],
  },
};

function mix(name: string, spec: object = {}): object {
  return { apiVersion: "probe.test/v1", kind: "Mix", metadata: { name }, spec };
}

interface TestResponse {
  readonly status: number;
  readonly body: JsonObject;
  readonly response: ApiResponse;
}

async function started(seed = 1) {
  const ambient = virtualAmbient(seed);
  const server = new ApiServer({ ...ambient, kinds: builtInKinds() });
  await server.start();
  const send = async (
    method: string,
    target: string,
    body?: object,
    contentType = "application/json",
  ): Promise<TestResponse> => {
    const response = await server.handle({
      method,
      target,
      headers: { "content-type": contentType },
      body: body === undefined ? "" : JSON.stringify(body),
      signal: new AbortController().signal,
    });
    const text = typeof response.body === "string" ? response.body : "{}";
    return { status: response.status, body: JSON.parse(text) as JsonObject, response };
  };
  const settle = (): Promise<void> => ambient.time.advance(0);
  return { server, send, settle, time: ambient.time };
}

async function withMixes(seed?: number) {
  const fixture = await started(seed);
  expect(
    await fixture.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION),
  ).toMatchObject({
    status: 201,
  });
  await fixture.settle();
  return fixture;
}

describe("custom objects", () => {
  test("are created with defaults, read, listed, updated, patched, applied and deleted", async () => {
    const { send } = await withMixes();
    const created = await send("POST", MIXES, mix("a"));
    expect(created).toMatchObject({ status: 201, body: { metadata: { name: "a", generation: 1 }, spec: { a: "x" } } });
    expect(await send("POST", MIXES, mix("a"))).toMatchObject({ status: 409, body: { reason: "AlreadyExists" } });

    const stale = await send("PUT", `${MIXES}/a`, { ...mix("a"), metadata: { name: "a", resourceVersion: "1" } });
    expect(stale).toMatchObject({ status: 409, body: { reason: "Conflict" } });
    const { resourceVersion } = created.body["metadata"] as JsonObject;
    const next = { ...mix("a", { a: "y", n: 2 }), metadata: { name: "a", resourceVersion } };
    expect(await send("PUT", `${MIXES}/a`, next)).toMatchObject({ status: 200, body: { metadata: { generation: 2 } } });

    const merge = "application/merge-patch+json";
    expect(await send("PATCH", `${MIXES}/a`, { spec: { n: 0 } }, merge)).toMatchObject({ status: 422 });
    expect(await send("PATCH", `${MIXES}/a`, { spec: { n: 3 } }, merge)).toMatchObject({
      status: 200,
      body: { spec: { n: 3 } },
    });

    const applied = await send(
      "PATCH",
      `${MIXES}/b?fieldManager=me`,
      mix("b", { n: 1 }),
      "application/apply-patch+yaml",
    );
    expect(applied).toMatchObject({ status: 201, body: { spec: { a: "x", n: 1 } } });
    const conflict = await send(
      "PATCH",
      `${MIXES}/b?fieldManager=you`,
      mix("b", { n: 2 }),
      "application/apply-patch+yaml",
    );
    expect(conflict).toMatchObject({
      status: 409,
      body: { message: 'Apply failed with 1 conflict: conflict with "me": .spec.n' },
    });

    const status = { ...mix("b"), status: { ready: true } };
    const statusPatch = await send("PATCH", `${MIXES}/b/status`, { status: status.status }, merge);
    expect(statusPatch).toMatchObject({ status: 200, body: { status: { ready: true }, metadata: { generation: 1 } } });

    const listed = await send("GET", `${MIXES}?limit=1`);
    expect(listed.body).toMatchObject({
      kind: "MixList",
      items: [{ metadata: { name: "a" } }],
      metadata: { remainingItemCount: 1 },
    });
    const token = (listed.body["metadata"] as { continue: string }).continue;
    await send("POST", MIXES, mix("aa"));
    const rest = await send("GET", `${MIXES}?limit=1&continue=${token}`);
    expect(rest.body, "a page of the first snapshot").toMatchObject({ items: [{ metadata: { name: "b" } }] });

    expect(await send("DELETE", `${MIXES}/a`)).toMatchObject({ status: 200, body: { status: "Success" } });
    expect(await send("GET", `${MIXES}/a`)).toMatchObject({ status: 404 });
  });

  test("are deleted with their definition", async () => {
    const { send, settle } = await withMixes();
    await send("POST", MIXES, mix("a"));
    const deleted = await send("DELETE", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mixes.probe.test");
    expect(deleted.body).toMatchObject({ metadata: { finalizers: ["customresourcecleanup.apiextensions.k8s.io"] } });
    await settle();
    const gone = await send("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/mixes.probe.test");
    expect(gone.status).toBe(404);
  });
});

describe("watches", () => {
  test("send existing objects, then changes, then end at the timeout", async () => {
    const { send, server, time } = await withMixes();
    await send("POST", MIXES, mix("a"));
    const { response } = await send("GET", `${MIXES}?watch=true&timeoutSeconds=10&allowWatchBookmarks=true`);
    const lines: string[] = [];
    const reading = (async () => {
      for await (const chunk of response.body as AsyncIterable<string>) lines.push(...chunk.trim().split("\n"));
    })();
    await time.advance(1);
    await send("POST", MIXES, mix("b"));
    await send("DELETE", `${MIXES}/a`);
    await time.advance(10_000);
    await reading;
    const events = lines.map((line) => JSON.parse(line) as { type: string; object: { metadata: { name?: string } } });
    expect(events.map(({ type, object }) => `${type} ${object.metadata.name ?? ""}`)).toEqual([
      "ADDED a",
      "ADDED b",
      "DELETED a",
      "BOOKMARK ",
    ]);
    await server.close();
  });
});
