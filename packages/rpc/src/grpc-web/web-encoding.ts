/** Encoding of a gRPC-Web body: bytes, or base64 for clients that can only read text. */
export type WebEncoding = "binary" | "text";

const CONTENT_TYPE = /^application\/grpc-web(-text)?(?:\+proto)?(?:\s*;.*)?$/i;

/** Returns the encoding of a content type; undefined if it is not gRPC-Web with protobuf. */
export function webEncodingOf(contentType: string | undefined): WebEncoding | undefined {
  const match = CONTENT_TYPE.exec(contentType ?? "");
  if (!match) return undefined;
  return match[1] === undefined ? "binary" : "text";
}

/** Returns the content type of a response. */
export function contentTypeOf(encoding: WebEncoding): string {
  return encoding === "text" ? "application/grpc-web-text+proto" : "application/grpc-web+proto";
}

/** Encodes a frame. Text is padded per frame, so that a client can decode each frame when it arrives. */
export function encodeFrame(encoding: WebEncoding, frame: Buffer): Buffer {
  return encoding === "text" ? Buffer.from(frame.toString("base64"), "latin1") : frame;
}

const SEGMENTS = /[A-Za-z0-9+/]+={0,2}/g;
const BASE64 = /^(?:[A-Za-z0-9+/]+={1,2})*[A-Za-z0-9+/]*$/;

/** Clients pad each frame or each chunk; padding every few bytes costs a buffer each. */
const MAX_SEGMENTS = 10_000;

/** Decodes a body, which may be several padded base64 texts; undefined if it is invalid. */
export function decodeBody(encoding: WebEncoding, body: Buffer): Buffer | undefined {
  if (encoding === "binary") return body;
  const text = body.toString("latin1").replaceAll(/\s/g, "");
  if (!BASE64.test(text)) return undefined;
  const segments: Buffer[] = [];
  for (const [segment] of text.matchAll(SEGMENTS)) {
    if (segments.push(Buffer.from(segment, "base64")) > MAX_SEGMENTS) return undefined;
  }
  return Buffer.concat(segments);
}

/** Returns the maximum size of a body with frames of `frameBytes` bytes. */
export function bodyLimit(encoding: WebEncoding, frameBytes: number): number {
  return encoding === "text" ? Math.ceil(frameBytes / 3) * 4 + 4 : frameBytes;
}
