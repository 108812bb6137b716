import { abortFault, Fault, unavailable } from "@oaas/foundation";
import type { Api, ApiResponse } from "./api.ts";

/** A request as our clients send it. */
export interface MemoryRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** A response whose body can be read once. */
export interface MemoryResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  text(): Promise<string>;
  chunks(): AsyncIterable<Uint8Array>;
}

/** A dropped connection, like a broken socket. */
export class ConnectionLost extends Error {}

/**
 * A transport from a client directly into a server of the same process, without sockets: a request is served in the
 * next turn, in order.
 *
 * Rejects like a network transport: unavailable when the connection is lost or closed, the signal's own fault when it
 * aborts.
 */
export class MemoryTransport {
  readonly #api: Api;
  #isClosed = false;

  constructor(api: Api) {
    this.#api = api;
  }

  async send(request: MemoryRequest): Promise<MemoryResponse> {
    const { signal, method, path, headers, body = "" } = request;
    if (this.#isClosed) throw unavailable("the API server", "the transport is closed");
    if (signal.aborted) throw abortFault(signal);
    const leaving = new AbortController();
    const leave = (): void => leaving.abort();
    signal.addEventListener("abort", leave, { once: true });
    const response = await this.#api
      .handle({ method, target: path, headers: lowerCaseHeaders(headers), ...readBody(body), signal: leaving.signal })
      .catch((error: unknown) => {
        throw createLostConnection(error);
      });
    if (signal.aborted) throw abortFault(signal);
    const chunks = (): AsyncIterable<string | Uint8Array> => streamBody(response.body, signal, leave);
    return {
      status: response.status,
      headers: response.headers,
      text: async () => {
        let text = "";
        const decoder = new TextDecoder();
        for await (const chunk of chunks())
          text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
        return text + decoder.decode();
      },
      chunks: () => encodeChunks(chunks()),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}

async function* streamBody(
  body: ApiResponse["body"],
  signal: AbortSignal,
  leave: () => void,
): AsyncGenerator<string | Uint8Array> {
  try {
    if (typeof body === "string") yield body;
    else for await (const chunk of body) yield chunk;
    if (signal.aborted) throw abortFault(signal);
  } catch (error) {
    throw signal.aborted ? abortFault(signal) : createLostConnection(error);
  } finally {
    leave();
    signal.removeEventListener("abort", leave);
  }
}

async function* encodeChunks(chunks: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const chunk of chunks) yield typeof chunk === "string" ? encoder.encode(chunk) : chunk;
}

function readBody(body: string | Uint8Array): { readonly body: string; readonly bytes?: Uint8Array } {
  return typeof body === "string" ? { body } : { body: new TextDecoder().decode(body), bytes: body };
}

function createLostConnection(error: unknown): Fault {
  if (error instanceof Fault) return error;
  return unavailable("the API server", "the connection was lost", { cause: error });
}

function lowerCaseHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
