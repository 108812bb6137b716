import type { IncomingMessage } from "node:http";
import { deadlineExceeded, Fault, invalidArgument, type Violation } from "@oaas/foundation";
import { RefusedRequest, type HttpRefusal } from "@oaas/contracts/rest";
import { unsupportedMediaType } from "../request/read-request.ts";

/** An error of Fastify, or of anything else, as a fault or a refused request. */
export function refusalOf(thrown: unknown, request: IncomingMessage, maxBodyBytes: number): unknown {
  switch ((thrown as { readonly code?: unknown } | undefined)?.code) {
    case "FST_ERR_BAD_URL":
      return invalidArgument("the path", [{ path: "$", message: "is not a valid URL path", fix: "encode it" }]);
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return unsupportedMediaType(request.headers["content-type"] ?? "");
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return tooLarge(maxBodyBytes);
    case "ECONNRESET":
      return new Fault({ kind: "cancelled" }, "The client disconnected before it had sent its request.");
    default:
      return thrown;
  }
}

/** What the HTTP parser rejected. */
export function parserRefusal(code: string | undefined, requestTimeoutMs: number): RefusedRequest {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return new RefusedRequest(deadlineExceeded(requestTimeoutMs), "request-timeout");
  if (code === "HPE_HEADER_OVERFLOW")
    return refused("header-too-large", { message: "has more headers than this server accepts", fix: "send less" });
  return refused("bad-request", { message: "is not valid HTTP", fix: "send HTTP/1.1" });
}

/** Rejects a request of HTTP/1.1 without exactly one host (RFC 9112, 3.2): a proxy may have routed it by another. */
export function assertHost({ httpVersion, headersDistinct }: IncomingMessage): void {
  const hosts = headersDistinct["host"]?.length ?? 0;
  if (hosts === 1 || (hosts === 0 && httpVersion === "1.0")) return;
  throw refused("bad-request", { message: `has ${hosts} host headers`, fix: "send one" });
}

/** Rejects every expectation except 100-continue, the only one that HTTP defines. */
export function assertExpectation({ headers: { expect } }: IncomingMessage): void {
  if (expect === undefined || expect.toLowerCase() === "100-continue") return;
  throw refused("expectation-failed", { message: `expects "${expect}"`, fix: "expect 100-continue, or nothing" });
}

const CLOSING: ReadonlySet<HttpRefusal> = new Set(["bad-request", "expectation-failed", "payload-too-large"]);

/** Whether the rest of the connection cannot be trusted, or is not worth reading. */
export function closesConnection(thrown: unknown): boolean {
  return thrown instanceof RefusedRequest && CLOSING.has(thrown.refusal);
}

function tooLarge(maxBytes: number): RefusedRequest {
  const message = `is larger than this server accepts (${maxBytes} bytes)`;
  const violation = { path: "$", message, fix: "send less, or raise SERVER_MAX_BODY_BYTES" };
  return new RefusedRequest(invalidArgument("the body", [violation]), "payload-too-large");
}

function refused(refusal: HttpRefusal, violation: Omit<Violation, "path">): RefusedRequest {
  return new RefusedRequest(invalidArgument("the request", [{ path: "$", ...violation }]), refusal);
}
