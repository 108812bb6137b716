import { isFault } from "@oaas/foundation";
import type { KubeObject } from "@oaas/kube-core";
import { Discovery } from "./discovery.ts";
import { Requester, type CallOptions, type RequesterOptions } from "./requester.ts";
import {
  openPodLog,
  proxyService,
  type PodLogOptions,
  type ProxiedRequest,
  type ProxiedResponse,
} from "./pod-access.ts";
import { ResourceClient } from "./resource-client.ts";
import type { ResourceType } from "./resource-type.ts";

/** A client of one Kubernetes API server. Starts nothing; `close` ends its connections. */
export class KubeClient {
  readonly #requester: Requester;
  readonly #options: RequesterOptions;
  /** The kinds that the server serves. */
  readonly discovery: Discovery;

  constructor(options: RequesterOptions) {
    this.#options = options;
    this.#requester = new Requester(options, { onUnserved: () => this.discovery.invalidate() });
    this.discovery = new Discovery(this.#requester, options.ambient.clock);
  }

  /** Returns the client of one kind. */
  resource<T extends KubeObject>(type: ResourceType<T>): ResourceClient<T> {
    return new ResourceClient(this.#requester, type);
  }

  /** Opens the log of a container. The signal ends it. */
  podLog(options: PodLogOptions, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return openPodLog(this.#requester, options, signal);
  }

  /** Sends an HTTP request to a Service through the proxy of the API server, once. */
  proxyService(request: ProxiedRequest, signal: AbortSignal): Promise<ProxiedResponse> {
    return proxyService(this.#requester, request, signal);
  }

  /**
   * Whether the server reports ready; false also when it is unreachable. A server that denies the request is up. Sends
   * one request.
   */
  async isReady(options: CallOptions = {}): Promise<boolean> {
    const call = { verb: "get", subject: "readyz", method: "GET", path: "/readyz", accept: "*/*", once: true } as const;
    return this.#requester.text(call, options).then(
      () => true,
      (thrown: unknown) => isFault(thrown, "permission-denied"),
    );
  }

  /** Closes its connections; running requests fail. Idempotent. */
  close(): Promise<void> {
    return this.#options.transport.close();
  }
}
