import type { IncomingMessage } from "node:http";
import { invalidArgument } from "@oaas/foundation";
import { RefusedRequest } from "./read-request.ts";
import { headerOf } from "./exchange.ts";

/**
 * Reads the whole body of a request, and hands it on or says why not. One that is too long is refused as soon as that is known, and the
 * rest of it is not waited for. A client that goes before the end is told nothing, for nobody is there.
 */
export function takeBody(
  request: IncomingMessage,
  maxBytes: number,
  taken: (body: Buffer | RefusedRequest) => void,
): void {
  if (isTooLong(request, maxBytes)) {
    taken(tooLarge(maxBytes));
    return;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes <= maxBytes) {
      chunks.push(chunk);
      return;
    }
    request.off("data", onData).off("end", onEnd).pause();
    taken(tooLarge(maxBytes));
  };
  const onEnd = (): void => taken(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
  request.on("data", onData).once("end", onEnd);
}

/** Whether a request says that its body is longer than is taken. */
export function isTooLong(request: IncomingMessage, maxBytes: number): boolean {
  return Number(headerOf(request, "content-length") ?? 0) > maxBytes;
}

function tooLarge(maxBytes: number): RefusedRequest {
  return new RefusedRequest(
    invalidArgument("the body", [
      {
        path: "$",
        message: `is larger than this server takes (${maxBytes} bytes)`,
        fix: "send less, or raise SERVER_MAX_BODY_BYTES",
      },
    ]),
    "payload-too-large",
  );
}
