import type { ClientRequest, IncomingMessage } from "node:http";
import type { FetchAnswer, FetchInit } from "@oaas/contracts/rest";

const CONNECT_MS = 10_000;
const SILENCE_MS = 300_000;

/**
 * Sends one HTTP request with Node's own client: loading `fetch` takes twice as long as starting Node. Redirects are not
 * followed, because that would send the token to another host; the response body becomes an error that names the target.
 */
export async function exchangeByHttp(url: string, init: FetchInit): Promise<FetchAnswer> {
  const answer = await requested(url, init);
  const { statusCode: status = 0, headers } = answer;
  const location = status >= 300 && status < 400 ? headers.location : undefined;
  return {
    status,
    headers: { get: (name) => headerText(headers[name]) },
    text: () => (location === undefined ? textOf(answer) : elsewhere(answer, url, location)),
  };
}

/** Yields the text of a streaming response; returns status and body if the status is not 200. */
export async function* streamByHttp(
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): AsyncGenerator<string, { readonly status: number; readonly body: string } | undefined> {
  const answer = await requested(url, { method: "GET", headers, signal }, { isEndless: true });
  const { statusCode: status = 0 } = answer;
  if (status !== 200) return { status, body: await textOf(answer) };
  answer.setEncoding("utf8");
  for await (const text of answer) yield text as string;
  return undefined;
}

function requested(
  url: string,
  { method, headers, body, signal }: FetchInit,
  { isEndless = false } = {},
): Promise<IncomingMessage> {
  const target = new URL(url);
  // Not imported: an import evaluates every export of the module, including `fetch`.
  const { request } = process.getBuiltinModule(target.protocol === "https:" ? "node:https" : "node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // Compression does not pay off on loopback.
  const packing = isEndless || isLoopback(target.hostname) ? {} : { "accept-encoding": "gzip" };
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const sent = request(target, {
    method,
    headers: { ...headers, ...packing, ...length },
    ...(signal === undefined ? {} : { signal }),
  });
  sent.once("response", resolve).once("error", reject);
  limit(sent, isEndless);
  sent.end(body);
  return promise;
}

function limit(sent: ClientRequest, isEndless: boolean): void {
  const giveUp = (why: string) => () => sent.destroy(new Error(why));
  sent.once("socket", (socket) => {
    const connected = (): void => {
      socket.removeAllListeners("timeout");
      socket.setTimeout(isEndless ? 0 : SILENCE_MS, giveUp(`no response for ${SILENCE_MS / 1000} s`));
    };
    if (!socket.connecting) return connected();
    socket.setTimeout(CONNECT_MS, giveUp(`no connection after ${CONNECT_MS / 1000} s`));
    socket.once("connect", connected);
  });
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || host.startsWith("127.");
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of answer) parts.push(part as Buffer);
  const bytes = Buffer.concat(parts);
  if (answer.headers["content-encoding"] !== "gzip") return bytes.toString("utf8");
  const { gunzipSync } = await import("node:zlib");
  return gunzipSync(bytes).toString("utf8");
}

/** Turns a redirect into an error document of the package manager. */
async function elsewhere(answer: IncomingMessage, url: string, location: string): Promise<string> {
  answer.resume();
  const { origin } = new URL(location, url);
  const error = `${new URL(url).origin} is not the package manager: it redirects to ${location}`;
  return JSON.stringify({ kind: "failed-precondition", error, details: { subject: origin } });
}

function headerText(value: string | string[] | undefined): string | null {
  return value === undefined ? null : [value].flat().join(", ");
}
