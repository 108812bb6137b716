import type { ClientRequest, IncomingMessage } from "node:http";
import type { FetchResponse, FetchInit } from "@oaas/contracts/rest";

const CONNECT_MS = 10_000;
const IDLE_MS = 300_000;

/**
 * Sends one HTTP request with `node:http`: loading `fetch` costs more CPU time than starting Node. Redirects are
 * not followed, because that would send the token to another host; the response body becomes an error that names the
 * target.
 */
export async function sendHttp(url: string, init: FetchInit): Promise<FetchResponse> {
  const response = await openRequest(url, init);
  const { statusCode: status = 0, headers } = response;
  const location = status >= 300 && status < 400 ? headers.location : undefined;
  return {
    status,
    headers: { get: (name) => headerText(headers[name]) },
    text: () => (location === undefined ? readText(response) : redirectError(response, url, location)),
  };
}

/** Yields the text of a streaming response; returns status and body if the status is not 200. */
export async function* streamHttp(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): AsyncGenerator<string, { readonly status: number; readonly body: string } | undefined> {
  const response = await openRequest(url, { method: "GET", headers, signal }, { isStream: true });
  const { statusCode: status = 0 } = response;
  if (status !== 200) return { status, body: await readText(response) };
  response.setEncoding("utf8");
  for await (const text of response) yield text as string;
  return undefined;
}

function openRequest(
  url: string,
  { method, headers, body, signal }: FetchInit,
  { isStream = false } = {},
): Promise<IncomingMessage> {
  const target = new URL(url);
  // Not imported: an import evaluates every export of the module, including `fetch`.
  const { request: open } = process.getBuiltinModule(target.protocol === "https:" ? "node:https" : "node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Compression does not pay off on loopback.
  const compression = isStream || isLoopback(target.hostname) ? {} : { "accept-encoding": "gzip" };
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const request = open(target, {
    method,
    headers: { ...headers, ...compression, ...length },
    ...(signal === undefined ? {} : { signal }),
  });
  request.once("response", resolve).once("error", reject);
  setTimeouts(request, isStream);
  request.end(body);
  return promise;
}

function setTimeouts(request: ClientRequest, isStream: boolean): void {
  const abort = (message: string) => () => request.destroy(new Error(message));
  request.once("socket", (socket) => {
    const connected = (): void => {
      socket.removeAllListeners("timeout");
      socket.setTimeout(isStream ? 0 : IDLE_MS, abort(`no response for ${IDLE_MS / 1000} s`));
    };
    if (!socket.connecting) return connected();
    socket.setTimeout(CONNECT_MS, abort(`no connection after ${CONNECT_MS / 1000} s`));
    socket.once("connect", connected);
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}

async function readText(response: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  if (response.headers["content-encoding"] !== "gzip") return bytes.toString("utf8");
  const { gunzipSync } = await import("node:zlib");
  return gunzipSync(bytes).toString("utf8");
}

/** Turns a redirect into an error document of the package manager. */
async function redirectError(response: IncomingMessage, url: string, location: string): Promise<string> {
  response.resume();
  const { origin } = new URL(location, url);
  const error = `${new URL(url).origin} is not the package manager: it redirects to ${location}`;
  return JSON.stringify({ kind: "failed-precondition", error, details: { subject: origin } });
}

function headerText(value: string | string[] | undefined): string | null {
  return value === undefined ? null : [value].flat().join(", ");
}
