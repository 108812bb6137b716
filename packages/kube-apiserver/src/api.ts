/**
 * The server without sockets: a request comes in, an answer goes out. Node's HTTP server and the in-memory transport are
 * two thin ways to get here, so that whatever holds for one holds for the other.
 */
export interface Api {
  /** Never rejects: whatever comes in, the answer is a status and a body, as the real server would give it. */
  handle(request: ApiRequest): Promise<ApiResponse>;
}

export interface ApiRequest {
  readonly method: string;
  /** Path and query as sent, from the server's root. */
  readonly target: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Empty when there is none. Text, but for protobuf, of which each character is a byte. */
  readonly body: string;
  /** Aborts when the client has gone away. */
  readonly signal: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whole, or as it comes: a watch ends when the client leaves, its time is over, or the server closes. */
  readonly body: string | AsyncIterable<string>;
}
