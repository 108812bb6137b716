import type { IncomingMessage } from "node:http";
import { deadlineExceeded, Fault, invalidArgument, type Violation } from "@oaas/foundation";
import { HttpError, type HttpErrorName } from "@oaas/contracts/rest";
import { unsupportedMediaType } from "../request/read-request.ts";
import { firstHeader } from "./incoming.ts";

/** For requests after which the connection cannot be trusted, or is not worth reading. */
const CLOSE = { connection: "close" };

/** An error of Fastify, or of anything else, as a fault or an HTTP error. */
export function toHttpError(thrown: unknown, request: IncomingMessage): unknown {
  switch ((thrown as { readonly code?: unknown } | undefined)?.code) {
    case "FST_ERR_BAD_URL":
      return invalidArgument("the path", [{ path: "$", message: "is not a valid URL path", fix: "encode it" }]);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unsupportedMediaType(request.headers["content-type"] ?? "");
    case "ECONNRESET":
      return new Fault({ kind: "cancelled" }, "The client disconnected before it had sent its request.");
    default:
      return thrown;
  }
}

/** What the HTTP parser rejected. */
export function parserError(code: string | undefined, requestTimeoutMs: number): HttpError {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return new HttpError(deadlineExceeded(requestTimeoutMs), "request-timeout");
  if (code === "HPE_HEADER_OVERFLOW")
    return httpError("header-too-large", { message: "has more headers than this server accepts", fix: "send less" });
  return httpError("bad-request", { message: "is not valid HTTP", fix: "send HTTP/1.1" });
}

/**
 * Why the head of a request is rejected. HTTP/1.1 requires exactly one host (RFC 9112, 3.2): a proxy may have routed by another. The only
 * expectation that HTTP defines is 100-continue.
 */
export function invalidHead(request: IncomingMessage): HttpError | undefined {
  const hosts = countHosts(request.rawHeaders);
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== "1.0"))
    return httpError("bad-request", { message: `has ${hosts} host headers`, fix: "send one" });
  const expectation = firstHeader(request, "expect") ?? "100-continue";
  if (expectation.toLowerCase() === "100-continue") return undefined;
  return httpError("expectation-failed", {
    message: `expects "${expectation}"`,
    fix: "expect 100-continue, or nothing",
  });
}

/** The number of host headers; names and values alternate. */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === "host") count += 1;
  return count;
}

export function tooLarge(maxBytes: number): HttpError {
  const message = `is larger than this server accepts (${maxBytes} bytes)`;
  const violation = { path: "$", message, fix: "send less, or raise SERVER_MAX_BODY_BYTES" };
  return new HttpError(invalidArgument("the body", [violation]), "payload-too-large", CLOSE);
}

function httpError(name: HttpErrorName, violation: Omit<Violation, "path">): HttpError {
  return new HttpError(invalidArgument("the request", [{ path: "$", ...violation }]), name, CLOSE);
}
