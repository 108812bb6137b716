/**
 * The server without sockets: request in, response out. Node's HTTP server and the in-memory transport are thin
 * adapters over it, so that both behave the same.
 */
export interface Api {
  /** Never rejects: every request gets a status and a body, as from the real server. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

export interface ApiRequest {
  readonly method: string;
  /** Path and query as sent, relative to the server root. */
  readonly target: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when there is none. Text, or for protobuf one character per byte. */
  readonly body: string;
  /** The body as sent, for proxied requests; by default `body` in UTF-8. */
  readonly bytes?: Uint8Array;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Complete, or streamed: a watch ends when the client leaves, its time is over, or the server closes. */
  readonly body: string | AsyncIterable<string | Uint8Array>;
}
