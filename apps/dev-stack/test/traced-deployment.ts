import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { eventually } from "@oaas/testkit";
import { expect } from "vitest";
import { startStack, stopStack } from "./stack-process.ts";

const COUNTER = path.resolve(import.meta.dirname, "..", "..", "..", "examples", "packages", "counter.yaml");
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const TIMEOUT = { timeoutMs: 60_000 };

interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly service: string;
}

export interface TraceReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  close(): void;
}

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: {
      readonly attributes: readonly { readonly key: string; readonly value: { readonly stringValue: string } }[];
    };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, "service">[] }[];
  }[];
}

/** An OTLP/HTTP receiver for JSON. */
export async function startReceiver(): Promise<TraceReceiver> {
  const spans: ReceivedSpan[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    const isTraces = request.url === "/v1/traces" && request.headers["content-type"] === "application/json";
    if (isTraces) {
      const { resourceSpans } = JSON.parse(body) as TraceRequest;
      for (const { resource, scopeSpans } of resourceSpans) {
        const service = resource.attributes.find(({ key }) => key === "service.name")?.value.stringValue ?? "";
        for (const scope of scopeSpans) spans.push(...scope.spans.map((span) => ({ ...span, service })));
      }
    }
    response.writeHead(isTraces ? 200 : 404, { "content-type": "application/json" }).end("{}");
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.writeHead(400).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, spans, close: () => void server.close() };
}

/**
 * Deploys a class in a local stack that exports to `endpoint`, and expects that all spans of the request arrive as one tree,
 * from the request to the Kubernetes requests of each cluster.
 */
export async function expectOneTree(endpoint: string, receiver: TraceReceiver): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-traces-"));
  const stack = await startStack(path.join(folder, "data"), ["--clusters=2"], {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  });
  try {
    const send = async (at: string, type: string, body: string, headers = {}): Promise<void> => {
      const answer = await fetch(`${stack.url}/api/v1${at}`, {
        method: "POST",
        headers: { "content-type": type, ...headers },
        body,
      });
      expect(answer.ok, await answer.text()).toBe(true);
    };
    await send("/packages", "application/yaml", readFileSync(COUNTER, "utf8"));
    const clusters = stack.clusters.map(({ name }) => name);
    const deployment = { key: "counter", package_name: "counter", class_key: "Counter", target_clusters: clusters };
    await send("/deployments", "application/json", JSON.stringify(deployment), {
      traceparent: `00-${TRACE}-${CALLER}-01`,
    });
    const ofTrace = () => receiver.spans.filter(({ traceId }) => traceId === TRACE);
    const named = (start: string) => ofTrace().filter(({ name }) => name.startsWith(start));
    // The managers export at their own times.
    await eventually(() => {
      expect(orphans(ofTrace())).toEqual([]);
      expect(named("POST /api/v1/deployments").map(({ parentSpanId }) => parentSpanId)).toEqual([CALLER]);
      expect(named("plan deployment")).toHaveLength(1);
      expect(named("saga deploy")).toHaveLength(1);
      expect(named("saga step send")).toHaveLength(2);
      const calls = ofTrace().filter(({ name }) => name.endsWith("DeploymentService/Deploy"));
      expect(calls.map(({ service }) => service).toSorted()).toEqual(["oprc-crm", "oprc-crm", "oprc-pm", "oprc-pm"]);
      const reconciles = named("reconcile class-runtime");
      const callIds = calls.filter(({ service }) => service === "oprc-crm").map(({ spanId }) => spanId);
      expect(new Set(reconciles.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set(callIds));
      const reconcileIds = new Set(reconciles.map(({ spanId }) => spanId));
      const writes = ofTrace().filter(({ name }) => name.endsWith(" Deployment"));
      expect(writes.length).toBeGreaterThanOrEqual(2);
      expect(writes.every(({ parentSpanId = "" }) => reconcileIds.has(parentSpanId))).toBe(true);
    }, TIMEOUT);
  } finally {
    await stopStack(stack, "SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The spans whose parent was not received, except for the parent in the request. */
function orphans(spans: readonly ReceivedSpan[]): readonly string[] {
  const known = new Set([CALLER, ...spans.map(({ spanId }) => spanId)]);
  return spans.filter(({ parentSpanId }) => !known.has(parentSpanId ?? "")).map(({ name }) => name);
}
