import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A span as OTLP's JSON has it; the fields that the tests look at. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

interface OtlpBody {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: OtlpSpan["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

/** A collector on a free loopback port that keeps what it is sent; it may be told to answer badly or not at all. */
export interface OtlpReceiver extends AsyncDisposable {
  readonly endpoint: string;
  readonly paths: readonly string[];
  readonly spans: readonly OtlpSpan[];
  readonly resources: readonly OtlpSpan["attributes"][];
  behave(as: "well" | "badly" | "not at all"): void;
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const paths: string[] = [];
  const spans: OtlpSpan[] = [];
  const resources: OtlpSpan["attributes"][] = [];
  let behaviour: "well" | "badly" | "not at all" = "well";
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (behaviour === "not at all") return;
      if (behaviour === "badly") {
        response.writeHead(400).end();
        return;
      }
      paths.push(request.url ?? "");
      const body = JSON.parse(Buffer.concat(chunks).toString()) as OtlpBody;
      for (const { resource, scopeSpans } of body.resourceSpans) {
        resources.push(resource.attributes);
        spans.push(...scopeSpans.flatMap((scope) => scope.spans));
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    spans,
    resources,
    behave: (as) => {
      behaviour = as;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
