import { invalidArgument, resourceExhausted, ROOT_PATH, type Fault, type Result, err, ok } from "@oaas/foundation";

/** Flag and length. */
export const FRAME_HEADER_BYTES = 5;

const COMPRESSED = 0x01;
const TRAILERS = 0x80;

/** A message as a frame. */
export function messageFrame(message: Buffer): Buffer {
  return frame(0, message);
}

/** The last frame of an answer: what HTTP/2 has as trailers, for readers that cannot see those. */
export function trailersFrame(trailers: readonly (readonly [string, string])[]): Buffer {
  return frame(TRAILERS, Buffer.from(trailers.map(([name, value]) => `${name}: ${value}\r\n`).join(""), "latin1"));
}

function frame(flag: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt8(flag, 0);
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
}

/** The one message of a request, or what is wrong with its frames. */
export function onlyMessage(frames: Buffer, maxBytes: number): Result<Buffer, Fault> {
  if (frames.length < FRAME_HEADER_BYTES) return err(notOneMessage("is cut short"));
  const flag = frames.readUInt8(0);
  if (flag === COMPRESSED) return err(notOneMessage("is compressed", "send it as it is"));
  if (flag !== 0) return err(notOneMessage("begins with no message"));
  const length = frames.readUInt32BE(1);
  if (length > maxBytes) return err(tooLarge(maxBytes));
  const end = FRAME_HEADER_BYTES + length;
  if (frames.length < end) return err(notOneMessage("is cut short"));
  // A client may end its own side with a frame of trailers; they say nothing to us.
  if (frames.length > end && frames.readUInt8(end) !== TRAILERS) {
    return err(notOneMessage("holds more than one message"));
  }
  return ok(frames.subarray(FRAME_HEADER_BYTES, end));
}

/** The fault of a request above the limit. */
export function tooLarge(maxBytes: number): Fault {
  return resourceExhausted("request", `the request is larger than the ${maxBytes} bytes that are read here`);
}

/** The fault of a body that is not one framed message. */
export function notOneMessage(message: string, fix = "send one message in one gRPC-Web frame"): Fault {
  return invalidArgument("the body", [{ path: ROOT_PATH, message, fix }]);
}

/** `grpc-message` as the wire has it: printable ASCII, the rest of its UTF-8 in percent-encoding. */
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
