/**
 * How requests reach a Kubernetes API server: undici over sockets (`@oaas/kube-runtime/node`), or in memory directly
 * into an embedded server for deterministic runs.
 */
export interface Transport {
  /**
   * Sends a request; resolves as soon as the status line has arrived.
   *
   * Rejects with a Fault: unavailable when the server cannot be reached or the connection broke, the signal's own fault
   * when it aborted. Any status, including 500, is a response and does not reject.
   */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Closes idle connections and rejects new requests. Idempotent. */
  close(): Promise<void>;
}

/** A request to the API server. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, relative to the server root. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
  /** Streams use their own connections: slow watches must not starve writes. */
  readonly purpose: "call" | "stream";
}

/** A response whose body can be read once. */
export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Reads the whole body. Rejects with unavailable when the connection breaks. */
  text(): Promise<string>;
  /** The body as it arrives. Leaving the loop early closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
}
