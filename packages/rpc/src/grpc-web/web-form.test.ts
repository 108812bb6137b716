import { describe, expect, test } from "vitest";
import fc from "fast-check";
import { encodeStatusMessage, messageFrame, onlyMessage, trailersFrame } from "./frames.ts";
import { bodyLimit, fromForm, inForm, webFormOf } from "./web-form.ts";

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
])("content type %s is %s", (type, form) => expect(webFormOf(type)).toBe(form));

const bytes = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array));

test("what was framed and written in either form is read again, also in pieces, within the limit", () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom("binary", "text"), (message, form) => {
      const body = Buffer.concat([inForm(form, messageFrame(message)), inForm(form, trailersFrame([["a", "b"]]))]);
      const frames = fromForm(form, body);
      expect(onlyMessage(frames!, message.length)).toEqual({ ok: true, value: message });
      expect(inForm(form, messageFrame(message)).length).toBeLessThanOrEqual(bodyLimit(form, message.length + 5));
    }),
  );
});

test("any bytes are a message or a fault, never a crash", () => {
  fc.assert(
    fc.property(bytes, fc.constantFrom("binary", "text"), (body, form) => {
      const frames = fromForm(form, body);
      if (frames) expect(["invalid-argument", "resource-exhausted", undefined]).toContain(kindOf(frames));
    }),
  );
});

function kindOf(frames: Buffer): string | undefined {
  const read = onlyMessage(frames, 100);
  return read.ok ? undefined : read.error.kind;
}

describe("what is not one message", () => {
  const one = messageFrame(Buffer.from("abc"));
  test.each([
    { why: "nothing at all", body: Buffer.alloc(0), kind: "invalid-argument" },
    { why: "half a header", body: one.subarray(0, 3), kind: "invalid-argument" },
    { why: "half a message", body: one.subarray(0, 6), kind: "invalid-argument" },
    { why: "two messages", body: Buffer.concat([one, one]), kind: "invalid-argument" },
    { why: "a compressed one", body: Buffer.concat([Buffer.from([1]), one.subarray(1)]), kind: "invalid-argument" },
    { why: "trailers only", body: trailersFrame([]), kind: "invalid-argument" },
    { why: "one above the limit", body: messageFrame(Buffer.alloc(101)), kind: "resource-exhausted" },
    { why: "a length that lies", body: Buffer.from([0, 255, 255, 255, 255]), kind: "resource-exhausted" },
  ])("$why", ({ body, kind }) => expect(kindOf(body)).toBe(kind));
  test("text with letters that are not base64", () => expect(fromForm("text", Buffer.from("A%%="))).toBeUndefined());
});

test("a status message is one line of ASCII, and nothing is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (message) => {
      const encoded = encodeStatusMessage(message);
      expect(encoded).toMatch(/^[\x20-\x7e]*$/);
      expect(decodeURIComponent(encoded)).toBe(message.toWellFormed());
    }),
  );
});
