/**
 * How requests reach a Kubernetes API server: undici over sockets (`@oaas/kube-runtime/node`), or in memory straight into an
 * embedded server, so that a whole run can be deterministic.
 */
export interface Transport {
  /**
   * Sends a request and answers as soon as the status line is there.
   *
   * Rejects with a Fault: unavailable when the server cannot be reached or the connection broke, the signal's own fault when it
   * aborted. Any status, also 500, is an answer and does not reject.
   */
  send(request: HttpRequest): Promise<HttpResponse>;
  /** Ends idle connections and refuses new requests. Repeatable. */
  close(): Promise<void>;
}

/** A request to the API server. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path and query, from the server's root. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Streams have connections of their own: slow watches must not starve writes. */
  readonly purpose: "call" | "stream";
}

/** An answer whose body is still to be read, once. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body. Rejects with unavailable when the connection breaks off. */
  text(): Promise<string>;
  /** The body as it comes. Leaving the loop early closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
}
