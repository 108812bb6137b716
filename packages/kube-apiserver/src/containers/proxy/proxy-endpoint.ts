import type { Timers } from "@oaas/foundation";
import type { Status, Stored } from "@oaas/kube-core";
import type { ApiRequest, ApiResponse } from "../../api.ts";
import type { ClusterView } from "../../controllers/objects/cluster-view.ts";
import type { Pod } from "../../controllers/objects/typed.ts";
import { statusResponse } from "../../request/response/responses.ts";
import { badRequest, serviceUnavailable, tooManyRequests } from "../../request/response/status-errors.ts";
import type { ContainerRequest, ContainerResponse } from "../container-server.ts";
import { cleanProxiedPath, parseProxiedName } from "./proxied-name.ts";
import { forwardedHeaders, returnedHeaders } from "./proxy-headers.ts";
import { findListener, resolvePod, resolveService, type ProxyTarget } from "./resolve-target.ts";

/** A request to the proxy subresource of a pod or a Service. */
export interface ProxyRequest {
  readonly request: ApiRequest;
  readonly resource: "pods" | "services";
  readonly namespace: string;
  /** With scheme and port, as in the path. */
  readonly id: string;
  /** The request path behind `proxy`, as sent; empty without a slash. */
  readonly rest: string;
}

export interface ProxyPorts {
  readonly view: () => ClusterView;
  readonly timers: Timers;
  /** Answers a request; may reject. */
  readonly serve: (request: ContainerRequest) => Promise<ContainerResponse>;
  /** Called after each response. */
  readonly onServed: (request: ContainerRequest, status: number) => void;
}

/** Requests in flight; more are rejected with 429. */
export const MAX_IN_FLIGHT = 500;
/** How long a container may take until its response is complete. */
const TIMEOUT_MS = 60_000;
const MAX_COUNTED_SERVICES = 1000;

/** Forwards requests to containers of simulated pods, as the proxies of the real API server do to real ones. */
export class ProxyEndpoint {
  readonly #ports: ProxyPorts;
  /** Requests per Service so far: its endpoints take turns. */
  readonly #turns = new Map<string, number>();
  #inFlight = 0;

  constructor(ports: ProxyPorts) {
    this.#ports = ports;
  }

  async handle(proxied: ProxyRequest): Promise<ApiResponse> {
    const { request, rest } = proxied;
    const target = this.#resolve(proxied);
    if ("status" in target) return statusResponse(target);
    if (rest === "" && (request.method === "GET" || request.method === "HEAD")) return redirectToRoot(request);
    const path = cleanProxiedPath(rest);
    if (path === undefined) return statusResponse(badRequest(`invalid path ${JSON.stringify(rest)}`));
    const { pod, address, port } = target;
    const listener = pod && findListener(pod, port);
    if (!pod || !listener) return unreachable(`dial tcp ${address}:${port}: connect: connection refused`);
    if (target.scheme === "https") return unreachable("http: server gave HTTP response to HTTPS client");
    if (this.#inFlight >= MAX_IN_FLIGHT) return statusResponse(tooManyRequests());
    return this.#forward(request, { pod, container: listener.name, port, address, path });
  }

  #resolve({ resource, namespace, id }: ProxyRequest): ProxyTarget | Status {
    const name = parseProxiedName(id);
    if (!name) return badRequest(`invalid ${resource === "pods" ? "pod" : "service"} request ${JSON.stringify(id)}`);
    const view = this.#ports.view();
    const resolved =
      resource === "pods"
        ? resolvePod(view, namespace, name)
        : resolveService(view, namespace, { ...name, id }, (count) =>
            this.#nextTurn(`${namespace}/${name.name}`, count),
          );
    return resolved.ok ? resolved.value : resolved.error;
  }

  /** Counts a request until the returned function is called, the client leaves, or the time is over. */
  #occupy(signal: AbortSignal, ending: AbortController): () => void {
    this.#inFlight += 1;
    let isOver = false;
    const finish = (): void => {
      if (isOver) return;
      isOver = true;
      this.#inFlight -= 1;
      timer.cancel();
      signal.removeEventListener("abort", finish);
    };
    const timer = this.#ports.timers.after(TIMEOUT_MS, () => {
      ending.abort(new Error(`no complete response within ${TIMEOUT_MS / 1000} s`));
      finish();
    });
    signal.addEventListener("abort", finish);
    return finish;
  }

  #nextTurn(service: string, count: number): number {
    const turn = this.#turns.get(service) ?? 0;
    if (this.#turns.size >= MAX_COUNTED_SERVICES) this.#turns.clear();
    this.#turns.set(service, turn + 1);
    return count === 0 ? 0 : turn % count;
  }

  async #forward(request: ApiRequest, to: ForwardTarget): Promise<ApiResponse> {
    const query = request.target.indexOf("?");
    const ending = new AbortController();
    const containerRequest: ContainerRequest = {
      pod: to.pod,
      container: to.container,
      port: to.port,
      method: request.method,
      target: query < 0 ? to.path : to.path + request.target.slice(query),
      headers: forwardedHeaders(request.headers, {
        uri: query < 0 ? request.target : request.target.slice(0, query),
        host: `${to.address}:${to.port}`,
      }),
      body: request.bytes ?? new TextEncoder().encode(request.body),
      signal: AbortSignal.any([request.signal, ending.signal]),
    };
    const finish = this.#occupy(request.signal, ending);
    try {
      const { status, headers, body } = await this.#ports.serve(containerRequest);
      this.#ports.onServed(containerRequest, status);
      return { status, headers: returnedHeaders(headers), body: finishing(body, finish) };
    } catch (error) {
      finish();
      this.#ports.onServed(containerRequest, 503);
      return unreachable(error instanceof Error ? error.message : String(error));
    }
  }
}

interface ForwardTarget {
  readonly pod: Stored<Pod>;
  readonly container: string;
  readonly port: number;
  readonly address: string;
  readonly path: string;
}

async function* finishing(body: AsyncIterable<Uint8Array>, finish: () => void): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } finally {
    finish();
  }
}

/** Relative links of a page need the slash. */
function redirectToRoot({ target }: ApiRequest): ApiResponse {
  const query = target.indexOf("?");
  const location = query < 0 ? `${target}/` : `${target.slice(0, query)}/${target.slice(query)}`;
  return { status: 301, headers: { location }, body: "" };
}

function unreachable(reason: string): ApiResponse {
  return statusResponse(serviceUnavailable(`error trying to reach service: ${reason}`));
}
