import type { Api, ApiRequest, ApiResponse } from "@oaas/kube-apiserver";
import type { RestartableProcess } from "./restartable-process.ts";

/** An API that can hang, with open connections and no responses, or lose its store. */
export class StoppableApi implements Api {
  readonly #api: Api;
  #thawed: Promise<void> = Promise.resolve();
  #thaw: (() => void) | undefined;
  #isStoreGone = false;

  constructor(api: Api) {
    this.#api = api;
  }

  /** The store of the API: requests fail while it is killed and hang while it is frozen. */
  readonly store: RestartableProcess = {
    kill: async () => void (this.#isStoreGone = true),
    start: async () => void (this.#isStoreGone = false),
    freeze: () => this.freeze(),
    thaw: () => this.thaw(),
  };

  freeze(): void {
    if (this.#thaw !== undefined) return;
    this.#thawed = new Promise((resolve) => (this.#thaw = resolve));
  }

  thaw(): void {
    this.#thaw?.();
    this.#thaw = undefined;
  }

  async handle(request: ApiRequest): Promise<ApiResponse> {
    await this.#thawed;
    if (this.#isStoreGone) return storeTimeout();
    const response = await this.#api.handle(request);
    if (typeof response.body === "string") return response;
    return { ...response, body: this.#flowing(response.body) };
  }

  async *#flowing(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
    for await (const chunk of chunks) {
      await this.#thawed;
      yield chunk;
    }
  }
}

function storeTimeout(): ApiResponse {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: "etcdserver: request timed out",
    code: 500,
  };
  return { status: 500, headers: { "content-type": "application/json" }, body: JSON.stringify(status) };
}
