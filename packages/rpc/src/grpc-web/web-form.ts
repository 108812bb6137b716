/** How a gRPC-Web body is written: bytes, or the same bytes in base64 for clients that can only read text. */
export type WebForm = "binary" | "text";

const CONTENT_TYPE = /^application\/grpc-web(-text)?(?:\+proto)?(?:\s*;.*)?$/i;

/** The form that a content type asks for; undefined when it is not gRPC-Web, or carries something else than protobuf. */
export function webFormOf(contentType: string | undefined): WebForm | undefined {
  const match = CONTENT_TYPE.exec(contentType ?? "");
  if (!match) return undefined;
  return match[1] === undefined ? "binary" : "text";
}

/** The content type of an answer in that form. */
export function contentTypeOf(form: WebForm): string {
  return form === "text" ? "application/grpc-web-text+proto" : "application/grpc-web+proto";
}

/** Frames as they go into the body; text is padded per frame, so that a reader can decode each as it arrives. */
export function inForm(form: WebForm, frame: Buffer): Buffer {
  return form === "text" ? Buffer.from(frame.toString("base64"), "latin1") : frame;
}

const SEGMENTS = /[A-Za-z0-9+/]+={0,2}/g;
const BASE64 = /^(?:[A-Za-z0-9+/]+={0,2})*$/;

/** The frames of a body, or undefined when it is not written in that form. Several padded texts in a row are one body. */
export function fromForm(form: WebForm, body: Buffer): Buffer | undefined {
  if (form === "binary") return body;
  const text = body.toString("latin1").replaceAll(/\s/g, "");
  if (!BASE64.test(text)) return undefined;
  return Buffer.concat((text.match(SEGMENTS) ?? []).map((segment) => Buffer.from(segment, "base64")));
}

/** The most bytes that a body in that form may have to hold frames of so many bytes. */
export function bodyLimit(form: WebForm, frameBytes: number): number {
  return form === "text" ? Math.ceil(frameBytes / 3) * 4 + 4 : frameBytes;
}
