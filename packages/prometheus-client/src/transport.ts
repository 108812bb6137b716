/** How requests reach the server: undici over sockets (`@oaas/prometheus-client/node`), or a function in tests. */
export interface PrometheusTransport {
  /**
   * Sends a request; resolves as soon as the status line has arrived. Redirects are not followed, because that would
   * send the credentials to another host.
   *
   * Rejects with a Fault: unavailable when the server cannot be reached or the connection broke, the signal's own fault
   * when it aborted. Any status is a response and does not reject.
   */
  send(request: PrometheusRequest): Promise<PrometheusResponse>;
  /** Closes all connections. Idempotent. */
  close(): Promise<void>;
}

export interface PrometheusRequest {
  readonly method: "GET" | "POST";
  /** Absolute URL with query. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Form parameters. */
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** A response whose body can be read once. */
export interface PrometheusResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body as it arrives. Leaving the loop early closes the connection. */
  chunks(): AsyncIterable<Uint8Array>;
}
