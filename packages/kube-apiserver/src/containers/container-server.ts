import type { JsonObject, Stored } from "@oaas/kube-core";
import type { Pod } from "../controllers/objects/typed.ts";

/** A request that arrived at a container of a simulated pod. */
export interface ContainerRequest {
  readonly pod: Stored<Pod>;
  readonly container: string;
  readonly port: number;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Lower-case names; no hop-by-hop headers and no credentials of the API server. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Aborts when the client disconnects or the time is over. */
  readonly signal: AbortSignal;
}

export interface ContainerResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Facts about a pod that the echo adds to its response. */
export type DescribePod = (pod: Stored<Pod>) => JsonObject;

/** How a simulated container answers: with the request it received, and where it arrived. */
export function echoRequest(request: ContainerRequest, describe: DescribePod = () => ({})): ContainerResponse {
  const { pod, container, method, target, headers, body } = request;
  const { name, namespace = "" } = pod.metadata;
  const echo = {
    method,
    path: target,
    headers,
    ...readBody(body),
    ...describe(pod),
    pod: name,
    namespace,
    container,
    node: pod.spec?.nodeName ?? "",
    simulated: true,
  };
  const bytes = new TextEncoder().encode(`${JSON.stringify(echo, undefined, 2)}\n`);
  return {
    status: 200,
    headers: { "content-type": "application/json", "content-length": String(bytes.length) },
    body: inOneChunk(bytes),
  };
}

async function* inOneChunk(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The body as text where it is text, else in base64. */
function readBody(bytes: Uint8Array): JsonObject {
  if (bytes.length === 0) return { body: "" };
  try {
    return { body: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { body_base64: Buffer.from(bytes).toString("base64") };
  }
}
