import { virtualAmbient } from "@oaas/foundation/virtual";
import { beforeEach, describe, expect, it } from "vitest";
import { embeddedServer, type EmbeddedServer } from "../embedded.ts";
import type { TrafficOptions } from "./containers.ts";

const ambient = virtualAmbient(1);
const signal = new AbortController().signal;
let embedded: EmbeddedServer;

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

async function send(method: string, target: string, sent: Sent = {}) {
  const { headers = {}, body } = sent;
  const bytes = body === undefined ? {} : { bytes: body };
  return embedded.server.handle({ method, target, headers, body: "", ...bytes, signal: sent.signal ?? signal });
}

async function call(method: string, target: string, sent: Sent = {}) {
  const { status, headers, body } = await send(method, target, sent);
  let text = "";
  if (typeof body === "string") text = body;
  else for await (const chunk of body) text += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
  return { status, headers, text };
}

interface Echo {
  readonly pod: string;
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function echo(method: string, path: string, sent: Sent = {}): Promise<Echo> {
  const { text } = await call(method, `/api/v1/namespaces/default/services/web:http/proxy${path}`, sent);
  return JSON.parse(text) as Echo;
}

async function create(path: string, object: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const { status, text } = await embedded.server
    .handle({ method: "POST", target: path, headers, body: JSON.stringify(object), signal })
    .then(({ status: code, body }) => ({ status: code, text: body as string }));
  if (status !== 201) throw new Error(text);
}

async function pass(seconds: number): Promise<void> {
  for (let step = 0; step < seconds * 4; step += 1) {
    await ambient.time.advance(250);
    for (let turn = 0; turn < 200; turn += 1) await Promise.resolve();
  }
}

async function start(traffic: TrafficOptions = {}): Promise<void> {
  embedded = embeddedServer({
    clock: ambient.time,
    timers: ambient.time,
    ids: ambient.ids,
    simulation: { nodes: 1, traffic },
  });
  await embedded.server.start();
}

async function createPod(
  name: string,
  rest: { readonly image?: string; readonly failure?: string } = {},
): Promise<void> {
  const { image = "example.test/web:1", failure } = rest;
  const annotations = failure === undefined ? {} : { "simulation.kube.local/failure": failure };
  await create("/api/v1/namespaces/default/pods", {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, labels: { app: "web" }, annotations },
    spec: { containers: [{ name: "main", image, ports: [{ containerPort: 8080 }] }] },
  });
}

async function createService(): Promise<void> {
  await create("/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "web" },
    spec: { selector: { app: "web" }, ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  });
}

const log = (pod: string, query = "") => call("GET", `/api/v1/namespaces/default/pods/${pod}/log${query}`);

beforeEach(async () => {
  await start();
});

describe("the proxy of a Service", () => {
  it("echoes method, path, query, headers and body of each request", async () => {
    await createService();
    await createPod("web-1");
    await pass(2);
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const sent = { headers: { "x-own": "1" }, body: new TextEncoder().encode("hello") };
      expect(await echo(method, "/a/b/?c=d&e=%20", sent)).toMatchObject({
        method,
        path: "/a/b/?c=d&e=%20",
        body: "hello",
        pod: "web-1",
        namespace: "default",
        container: "main",
        headers: { "x-own": "1" },
      });
    }
  });

  it("takes turns over ready pods and answers 503 without one", async () => {
    await createService();
    await pass(1);
    const none = await call("GET", "/api/v1/namespaces/default/services/web:http/proxy/");
    expect(none).toMatchObject({ status: 503 });
    expect(none.text).toContain(String.raw`no endpoints available for service \"web\"`);
    await createPod("web-0", { failure: "never-ready" });
    await pass(2);
    expect((await call("GET", "/api/v1/namespaces/default/services/web:80/proxy/")).text).toContain(
      "no endpoints available",
    );
    await createPod("web-1");
    await createPod("web-2");
    await pass(2);
    const pods = [await echo("GET", "/"), await echo("GET", "/"), await echo("GET", "/"), await echo("GET", "/")];
    expect(pods.map(({ pod }) => pod).toSorted()).toEqual(["web-1", "web-1", "web-2", "web-2"]);
  });

  it("never sends a path above the root of the target", async () => {
    await createService();
    await createPod("web-1");
    await pass(2);
    const paths = ["/../../../secrets", "/a/%2e%2e/%2E%2e/secrets", "/..%2f..%2fsecrets", "//x/./../secrets"];
    for (const path of paths) expect((await echo("GET", path)).path).toBe("/secrets");
    expect((await echo("GET", "/a%0d%0aHost:%20x")).path).toBe("/a%0D%0AHost:%20x");
    expect(await call("GET", "/api/v1/namespaces/default/services/web:http/proxy/%zz")).toMatchObject({ status: 404 });
  });

  it("drops credentials, impersonation, and headers of the connection", async () => {
    await createService();
    await createPod("web-1");
    await pass(2);
    const { headers } = await echo("POST", "/", {
      headers: {
        authorization: "Bearer secret",
        "impersonate-user": "root",
        connection: "keep-alive, x-named",
        "x-named": "1",
        "transfer-encoding": "chunked",
        "content-length": "99",
        te: "trailers",
        upgrade: "h2c",
        "x-forwarded-host": "forged",
        host: "127.0.0.1:1",
        "x-kept": "1",
      },
    });
    expect(headers).toEqual({
      "x-kept": "1",
      "x-forwarded-uri": "/api/v1/namespaces/default/services/web:http/proxy/",
      "x-forwarded-host": "127.0.0.1:1",
      host: expect.stringMatching(/^10\.[\d.]+:8080$/) as string,
    });
  });

  it("echoes a body that is not text in base64", async () => {
    await createService();
    await createPod("web-1");
    await pass(2);
    expect(await echo("PUT", "/", { body: Uint8Array.of(0, 255, 254) })).toMatchObject({ body_base64: "AP/+" });
  });

  it("redirects a GET without a path to the root", async () => {
    await createService();
    await createPod("web-1");
    await pass(2);
    expect(await call("GET", "/api/v1/namespaces/default/services/web:http/proxy?a=b")).toMatchObject({
      status: 301,
      headers: { location: "/api/v1/namespaces/default/services/web:http/proxy/?a=b" },
    });
  });

  it("adds described facts, and reports each request", async () => {
    const served: (readonly [string, number])[] = [];
    await start({
      describe: () => ({ cluster: "edge" }),
      onServed: ({ pod }, status) => served.push([pod.metadata.name, status]),
    });
    await createService();
    await createPod("web-1");
    await pass(2);
    expect(await echo("GET", "/")).toMatchObject({ cluster: "edge" });
    expect(served).toEqual([["web-1", 200]]);
  });
});

describe("the proxy of a pod", () => {
  it("uses the declared port, and refuses others and pods that do not run", async () => {
    await createPod("web-1");
    await createPod("loop", { image: "example.test/web:crashing" });
    await pass(2);
    const path = (name: string) => `/api/v1/namespaces/default/pods/${name}/proxy/x`;
    expect(JSON.parse((await call("GET", path("web-1"))).text)).toMatchObject({ pod: "web-1", path: "/x" });
    for (const name of ["web-1:9", "loop", "https:web-1:8080"]) {
      const refused = await call("GET", path(name));
      expect(refused.status).toBe(503);
      expect(refused.text).toContain("error trying to reach service: ");
    }
  });
});

describe("the log of a pod", () => {
  it("has a line for the start and one for each request", async () => {
    await createService();
    await createPod("web-1");
    await pass(2);
    await echo("GET", "/a");
    await echo("POST", "/b?c=d");
    const started = "simulated container started: image example.test/web:1, port 8080\n";
    expect(await log("web-1")).toMatchObject({ status: 200, headers: { "content-type": "text/plain" } });
    expect((await log("web-1")).text).toBe(`${started}GET /a 200\nPOST /b?c=d 200\n`);
    expect((await log("web-1", "?tailLines=1")).text).toBe("POST /b?c=d 200\n");
    expect((await log("web-1", "?tailLines=0")).text).toBe("");
    expect((await log("web-1", "?limitBytes=9")).text).toBe("simulated");
    expect((await log("web-1", "?tailLines=1&timestamps=true")).text).toMatch(/^\d{4}-[\dT:.-]+Z POST /);
    await pass(10);
    await echo("GET", "/late");
    expect((await log("web-1", "?sinceSeconds=5")).text).toBe("GET /late 200\n");
  });

  it("shows the last run of a crashing container, and the one before with previous", async () => {
    await createPod("loop", { image: "example.test/web:crashing" });
    await createPod("once", { failure: "crash-loop" });
    await pass(2);
    const crashed =
      "simulated container started: image example.test/web:crashing, port 8080\ncontainer exited with code 1\n";
    expect((await log("loop")).text).toBe(crashed);
    expect((await log("loop", "?previous=true")).text).toBe(crashed);
    expect((await log("once", "?previous=true")).text).toContain("container exited with code 1");
  });

  it("explains why there is none", async () => {
    await createPod("web-1");
    await createPod("broken", { image: "example.test/web:missing" });
    await pass(2);
    expect((await log("web-1", "?previous=true")).text).toContain(
      String.raw`previous terminated container \"main\" in pod \"web-1\" not found`,
    );
    expect(await log("broken")).toMatchObject({ status: 400 });
    expect((await log("broken")).text).toContain("is waiting to start: image can't be pulled");
  });

  it("follows until the pod is deleted", async () => {
    await createService();
    await createPod("web-1");
    await pass(2);
    const following = log("web-1", "?follow=true&tailLines=0");
    await pass(1);
    await echo("GET", "/one");
    await echo("GET", "/two");
    await call("DELETE", "/api/v1/namespaces/default/pods/web-1");
    await pass(2);
    expect((await following).text).toBe("GET /one 200\nGET /two 200\n");
  });

  it("follows until the client leaves", async () => {
    await createPod("web-1");
    await pass(2);
    const leaving = new AbortController();
    const following = call("GET", "/api/v1/namespaces/default/pods/web-1/log?follow=true", { signal: leaving.signal });
    await pass(1);
    leaving.abort();
    expect((await following).text).toContain("started");
  });
});
