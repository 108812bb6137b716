import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { deadlineExceeded, invalidArgument } from "@oaas/foundation";
import { HEADERS } from "@oaas/contracts/rest";
import type { Served } from "./pipeline.ts";
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

/** Answers a request that never became one, and ends the connection: what follows on it cannot be told apart. */
export function answerUnreadable(socket: Duplex, { reply, correlationId }: Served): void {
  if (!socket.writable) return void socket.destroy();
  const { status, content } = reply;
  const text = content?.text ?? "";
  const headers = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `content-type: ${content?.type ?? ""}`,
    `content-length: ${Buffer.byteLength(text)}`,
    `${HEADERS.correlationId}: ${correlationId}`,
    "connection: close",
  ];
  socket.end(`${headers.join("\r\n")}\r\n\r\n${text}`);
  return undefined;
}
