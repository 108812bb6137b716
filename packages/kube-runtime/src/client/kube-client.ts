import type { KubeObject } from "@oaas/kube-core";
import { Discovery } from "./discovery.ts";
import { Requester, type CallOptions, type RequesterOptions } from "./requester.ts";
import { ResourceClient } from "./resource-client.ts";
import type { ResourceType } from "./resource-type.ts";

/** A client of one Kubernetes API server. Starts nothing; `close` ends its connections. */
export class KubeClient {
  readonly #requester: Requester;
  readonly #options: RequesterOptions;
  readonly discovery: Discovery;

  constructor(options: RequesterOptions) {
    this.#options = options;
    this.#requester = new Requester(options);
    this.discovery = new Discovery(this.#requester, options.ambient.clock);
  }

  /** The client of one kind. */
  resource<T extends KubeObject>(type: ResourceType<T>): ResourceClient<T> {
    return new ResourceClient(this.#requester, type);
  }

  /** Whether the server says that it is ready; false also when it cannot be reached. */
  async isReady(options: CallOptions = {}): Promise<boolean> {
    const call = { verb: "get", subject: "readyz", method: "GET", path: "/readyz", accept: "*/*" } as const;
    return this.#requester.text(call, options).then(
      () => true,
      () => false,
    );
  }

  close(): Promise<void> {
    return this.#options.transport.close();
  }
}
