import { invalidArgument, resourceExhausted, ROOT_PATH, type Fault, type Result, err, ok } from "@oaas/foundation";

/** Size of a frame header: flag and length. */
export const FRAME_HEADER_BYTES = 5;

const COMPRESSED = 0x01;
const TRAILERS = 0x80;

/** Encodes a message frame. */
export function messageFrame(message: Buffer): Buffer {
  return frame(0, message);
}

/** Encodes the last frame of a response: trailers, for clients that cannot read HTTP/2 trailers. */
export function trailersFrame(trailers: readonly (readonly [string, string])[]): Buffer {
  return frame(TRAILERS, Buffer.from(trailers.map(([name, value]) => `${name}: ${value}\r\n`).join(""), "latin1"));
}

function frame(flag: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt8(flag, 0);
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
}

/** Returns the only message of a request, or the fault of its frames. */
export function onlyMessage(frames: Buffer, maxBytes: number): Result<Buffer, Fault> {
  if (frames.length < FRAME_HEADER_BYTES) return err(notOneMessage("is truncated"));
  const flag = frames.readUInt8(0);
  if (flag === COMPRESSED) return err(notOneMessage("is compressed", "send it without compression"));
  if (flag !== 0) return err(notOneMessage("does not start with a message frame"));
  const length = frames.readUInt32BE(1);
  if (length > maxBytes) return err(tooLarge(maxBytes));
  const end = FRAME_HEADER_BYTES + length;
  if (frames.length < end) return err(notOneMessage("is truncated"));
  // A client may end its request with a trailers frame, which is ignored.
  if (frames.length > end && frames.readUInt8(end) !== TRAILERS) {
    return err(notOneMessage("has more than one message"));
  }
  return ok(frames.subarray(FRAME_HEADER_BYTES, end));
}

/** Fault of a request above the limit. */
export function tooLarge(maxBytes: number): Fault {
  return resourceExhausted("request", `the request is larger than the limit of ${maxBytes} bytes`);
}

/** Fault of a body that is not one framed message. */
export function notOneMessage(message: string, fix = "send one message in one gRPC-Web frame"): Fault {
  return invalidArgument("the body", [{ path: ROOT_PATH, message, fix }]);
}

/** Encodes `grpc-message`: printable ASCII, other UTF-8 bytes percent-encoded. */
export function encodeStatusMessage(message: string): string {
  let text = "";
  for (const byte of Buffer.from(message, "utf8")) {
    text +=
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return text;
}
