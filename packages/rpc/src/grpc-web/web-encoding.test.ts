import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { encodeStatusMessage, messageFrame, onlyMessage, trailersFrame } from "./frames.ts";
import { bodyLimit, decodeBody, encodeFrame, webEncodingOf } from "./web-encoding.ts";

test.each([
  ["application/grpc-web", "binary"],
  ["application/grpc-web+proto", "binary"],
  ["application/grpc-web-text", "text"],
  ["Application/gRPC-Web-Text+proto; charset=utf-8", "text"],
  ["application/grpc-web+json", undefined],
  ["application/grpc-web-thrift", undefined],
  ["application/grpc", undefined],
  ["application/json", undefined],
  [undefined, undefined],
])("content type %s is %s", (type, encoding) => expect(webEncodingOf(type)).toBe(encoding));

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));

test("decodes encoded frames within the body limit", () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom("binary", "text"), (message, encoding) => {
      const body = Buffer.concat([
        encodeFrame(encoding, messageFrame(message)),
        encodeFrame(encoding, trailersFrame([["a", "b"]])),
      ]);
      const frames = decodeBody(encoding, body);
      expect(onlyMessage(frames!, message.length)).toEqual({ ok: true, value: message });
      expect(encodeFrame(encoding, messageFrame(message)).length).toBeLessThanOrEqual(
        bodyLimit(encoding, message.length + 5),
      );
    }),
  );
});

test("returns a message or a fault for any bytes", () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom("binary", "text"), (body, encoding) => {
      const frames = decodeBody(encoding, body);
      if (frames) expect(["invalid-argument", "resource-exhausted", undefined]).toContain(kindOf(frames));
    }),
  );
});

function kindOf(frames: Buffer): string | undefined {
  const read = onlyMessage(frames, 100);
  return read.ok ? undefined : read.error.kind;
}

describe("invalid bodies", () => {
  const one = messageFrame(Buffer.from("abc"));
  test.each([
    { case: "an empty body", body: Buffer.alloc(0), kind: "invalid-argument" },
    { case: "a truncated header", body: one.subarray(0, 3), kind: "invalid-argument" },
    { case: "a truncated message", body: one.subarray(0, 6), kind: "invalid-argument" },
    { case: "two messages", body: Buffer.concat([one, one]), kind: "invalid-argument" },
    {
      case: "a compressed message",
      body: Buffer.concat([Buffer.from([1]), one.subarray(1)]),
      kind: "invalid-argument",
    },
    { case: "trailers only", body: trailersFrame([]), kind: "invalid-argument" },
    { case: "a message above the limit", body: messageFrame(Buffer.alloc(101)), kind: "resource-exhausted" },
    { case: "a length above the limit", body: Buffer.from([0, 255, 255, 255, 255]), kind: "resource-exhausted" },
  ])("$case", ({ body, kind }) => expect(kindOf(body)).toBe(kind));
  test("text that is not base64", () => expect(decodeBody("text", Buffer.from("A%%="))).toBeUndefined());
});

test("encodes a status message as one line of ASCII without loss", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (message) => {
      const encoded = encodeStatusMessage(message);
      expect(encoded).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeURIComponent(encoded)).toBe(message.toWellFormed());
    }),
  );
});

test("rejects a text that is padded every few bytes", () => {
  expect(decodeBody("text", Buffer.from("AA==".repeat(100)))).toHaveLength(100);
  expect(decodeBody("text", Buffer.from("AA==".repeat(20_000)))).toBeUndefined();
});
