import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { deadlineExceeded, invalidArgument } from "@oaas/foundation";
import { HEADERS } from "@oaas/contracts/rest";
import type { Served } from "./pipeline.ts";
import { headText } from "./plain/head-text.ts";
import { RefusedRequest } from "./read-request.ts";

/** What Node calls a request that took too long to come. */
export const REQUEST_TIMEOUT = "ERR_HTTP_REQUEST_TIMEOUT";

/** What the parser gave up on, as a refusal like any other. */
export function refusedByParser(code: string, requestTimeoutMs: number): RefusedRequest {
  if (code === REQUEST_TIMEOUT) return new RefusedRequest(deadlineExceeded(requestTimeoutMs), "request-timeout");
  const isTooLarge = code === "HPE_HEADER_OVERFLOW";
  const violation = isTooLarge
    ? { path: "$", message: "has more headers than this server takes", fix: "send less" }
    : { path: "$", message: "is not HTTP that can be read", fix: "send HTTP/1.1" };
  return new RefusedRequest(
    invalidArgument("the request", [violation]),
    isTooLarge ? "header-too-large" : "bad-request",
  );
}

/** A request of HTTP/1.1 says once which host it is for (RFC 9112, 3.2): of two, whoever stands before us may have gone by the other. */
export function refusedForHost({
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, "httpVersion" | "rawHeaders">): RefusedRequest | undefined {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  if (hosts === 1 || (hosts === 0 && httpVersion === "1.0")) return undefined;
  const violation = { path: "$", message: `has ${hosts} host headers`, fix: "send one" };
  return new RefusedRequest(invalidArgument("the request", [violation]), "bad-request");
}

/** Of what a client may expect of its request, only to be told to go on is known. */
export function refusedExpectation({ headers }: Pick<IncomingMessage, "headers">): RefusedRequest {
  const violation = { path: "$", message: `expects "${headers.expect ?? ""}"`, fix: "expect 100-continue, or nothing" };
  return new RefusedRequest(invalidArgument("the request", [violation]), "expectation-failed");
}

/** Answers a request that never became one, and ends the connection: what follows on it cannot be told apart. */
export function answerUnreadable(socket: Duplex, { reply, correlationId }: Served, date: string): void {
  if (!socket.writable) return void socket.destroy();
  const { type = "", text = "" } = reply.content ?? {};
  const bytes = String(Buffer.byteLength(text));
  const head = [HEADERS.correlationId, correlationId, "content-type", type, "content-length", bytes];
  socket.end(headText(reply.status, head, date, true) + text);
  return undefined;
}
