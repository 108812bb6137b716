import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { findCrossSiteProblem, sentRequest, type CrossSiteRules } from "@oaas/foundation";
import type { Api, ApiResponse } from "../api.ts";
import { PROTOBUF } from "../request/body/body.ts";
import { statusResponse } from "../request/response/responses.ts";
import { foreignRequest, tooLarge } from "../request/response/status-errors.ts";

type Incoming = IncomingMessage | Http2ServerRequest;
/** Node's HTTP/2 responses are compatible with HTTP/1.1 ones, but not in their types. */
type Outgoing = ServerResponse;

/** The real server's limit; larger bodies are rejected. */
const BODY_LIMIT = 3 * 1024 * 1024;

export interface RequestRules {
  /** Set without authentication: exceptions from the rejection of requests of web pages. */
  readonly crossSite: CrossSiteRules | undefined;
  readonly bodyTimeoutMs: number;
}

/** Reads one request, calls the API, and writes the response. */
export async function serveRequest(
  api: Api,
  request: Incoming,
  nodeResponse: ServerResponse | Http2ServerResponse,
  { crossSite, bodyTimeoutMs }: RequestRules,
): Promise<void> {
  const response = nodeResponse as Outgoing;
  const leaving = new AbortController();
  response.on("close", () => leaving.abort());
  // Writing to a disconnected client is not an error.
  response.on("error", () => leaving.abort());
  const { method = "GET", url = "/" } = request;
  try {
    const problem = crossSite && findCrossSiteProblem(sentRequest(request), crossSite);
    if (problem) {
      await send(statusResponse(foreignRequest(problem)), method, response);
      return;
    }
    const timer = setTimeout(() => abortConnection(nodeResponse), bodyTimeoutMs);
    const body = await readBody(request).finally(() => clearTimeout(timer));
    const apiResponse =
      body === undefined
        ? statusResponse(tooLarge(BODY_LIMIT))
        : await api.handle({ method, target: url, headers: readHeaders(request), ...body, signal: leaving.signal });
    await send(apiResponse, method, response);
  } catch {
    // The client disconnected, or fault injection breaks the connection.
    abortConnection(nodeResponse);
  }
}

function abortConnection(response: ServerResponse | Http2ServerResponse): void {
  if ("stream" in response) response.stream.destroy();
  else response.destroy();
}

/** The body as text and as bytes; undefined when it is too large. */
async function readBody(request: Incoming): Promise<{ readonly body: string; readonly bytes: Buffer } | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    // Reads to the end anyway: a client that is still writing does not read the response.
    if (size <= BODY_LIMIT) chunks.push(chunk);
  }
  if (size > BODY_LIMIT) return undefined;
  const isBinary = request.headers["content-type"]?.startsWith(PROTOBUF) ?? false;
  const bytes = Buffer.concat(chunks);
  return { body: bytes.toString(isBinary ? "latin1" : "utf8"), bytes };
}

function readHeaders(request: Incoming): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    if (!name.startsWith(":")) headers[name] = Array.isArray(value) ? value.join(", ") : (value ?? "");
  }
  return headers;
}

async function send({ status, headers, body }: ApiResponse, method: string, response: Outgoing): Promise<void> {
  if (typeof body === "string") {
    const bytes = Buffer.from(body);
    response.writeHead(status, { ...headers, "content-length": bytes.length });
    if (method === "HEAD") response.end();
    else response.end(bytes);
    return;
  }
  response.writeHead(status, { ...headers });
  response.flushHeaders();
  for await (const chunk of body) {
    if (response.destroyed) break;
    // Waits for a slow client. Each watcher has its own position in the history.
    if (!response.write(chunk)) await waitForDrain(response);
    // Changes in one turn of the event loop are sent in one chunk: a busy server with many watchers writes far less
    // often.
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.end();
}

async function waitForDrain(response: Outgoing): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done);
      response.off("close", done);
      resolve();
    };
    response.on("drain", done);
    response.on("close", done);
  });
}
