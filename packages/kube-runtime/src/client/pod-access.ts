import { resourceExhausted } from "@oaas/foundation";
import { faultFromStatus } from "@oaas/kube-core";
import type { ApiCall, Requester } from "./requester.ts";
import type { HttpRequest, HttpResponse } from "./transport.ts";

/** The log of one container. */
export interface PodLogOptions {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly follow?: boolean;
  readonly previous?: boolean;
  readonly timestamps?: boolean;
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
}

/** A request to a Service. */
export interface ProxiedRequest {
  readonly namespace: string;
  readonly service: string;
  /** Name or number. */
  readonly port: string;
  readonly method: HttpRequest["method"];
  /** Path and query, with a leading slash. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Of the response. */
  readonly maxBytes: number;
}

/** The response of the Service with any status. */
export interface ProxiedResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export async function openPodLog(
  requester: Requester,
  { namespace, pod, ...query }: PodLogOptions,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(pod)}/log`;
  const call: ApiCall = { verb: "get", subject: "pods/log", method: "GET", path, query, accept: "*/*" };
  return (await requester.stream(call, signal)).chunks();
}

/**
 * Rejects with the fault of the API server when the request did not reach the Service. Errors of the Service itself are
 * responses.
 */
export async function proxyService(
  requester: Requester,
  { namespace, service, port, method, path, headers, body, maxBytes }: ProxiedRequest,
  signal: AbortSignal,
): Promise<ProxiedResponse> {
  const { accept = "*/*", "content-type": contentType = "application/octet-stream", ...others } = headers;
  const target = `/api/v1/namespaces/${encodeURIComponent(namespace)}/services/${encodeURIComponent(service)}:${encodeURIComponent(port)}/proxy`;
  const call: ApiCall = {
    verb: VERBS[method],
    subject: "services/proxy",
    method,
    path: target + path,
    accept,
    headers: others,
    contentType,
    ...(body.length === 0 ? {} : { body }),
  };
  const response = await requester.exchange(call, signal);
  const content = await readBytes(response, maxBytes);
  if (response.status >= 300 && isServerError(response, content)) {
    const text = new TextDecoder().decode(content);
    throw faultFromStatus(text, { httpStatus: response.status, what: `${call.verb} services/proxy` });
  }
  return { status: response.status, headers: response.headers, body: content };
}

const VERBS: Readonly<Record<HttpRequest["method"], string>> = {
  GET: "get",
  POST: "create",
  PUT: "update",
  PATCH: "patch",
  DELETE: "delete",
};

/** Whether the API server answered itself, with a Status. */
function isServerError({ headers }: HttpResponse, content: Uint8Array): boolean {
  if (headers["content-type"]?.startsWith("application/json") !== true) return false;
  try {
    const value = JSON.parse(new TextDecoder().decode(content)) as { kind?: unknown; apiVersion?: unknown } | null;
    return value?.kind === "Status" && value.apiVersion === "v1";
  } catch {
    return false;
  }
}

async function readBytes(response: HttpResponse, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.chunks()) {
    size += chunk.length;
    if (size > maxBytes) {
      throw resourceExhausted("response", `the response has more than ${maxBytes} bytes, the limit of this path`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
