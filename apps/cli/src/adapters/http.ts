import type { ClientRequest, IncomingMessage } from "node:http";
import type { FetchAnswer, FetchInit } from "@oaas/contracts/rest";

/** A host that takes no connection is given up after this; one that does not say a word, after that. */
const CONNECT_MS = 10_000;
const SILENCE_MS = 300_000;

/**
 * One exchange over HTTP. By Node's own client and not by `fetch`, whose making alone costs twice a start of Node. A place that sends
 * elsewhere is not followed, because a token would be: the answer says where the package manager is.
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

/** The text of an answer that goes on, as it comes. */
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
  // Not imported: that would make the module's every member, and one of them is all of `fetch`.
  const { request } = process.getBuiltinModule(target.protocol === "https:" ? "node:https" : "node:http");
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // What is near is not worth packing.
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
      socket.setTimeout(isEndless ? 0 : SILENCE_MS, giveUp(`no word for ${SILENCE_MS / 1000} s`));
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

/** The refusal that it stands for, in the form in which the package manager refuses. */
async function elsewhere(answer: IncomingMessage, url: string, location: string): Promise<string> {
  answer.resume();
  const { origin } = new URL(location, url);
  const error = `${new URL(url).origin} is not the package manager: it sends to ${location}`;
  return JSON.stringify({ kind: "failed-precondition", error, details: { subject: origin } });
}

function headerText(value: string | string[] | undefined): string | null {
  return value === undefined ? null : [value].flat().join(", ");
}
