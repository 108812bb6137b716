import { stateEntryInput } from "@oaas/contracts/rest";
import fc from "fast-check";
import { expect, test } from "vitest";
import { entryFromWire, entryToWire } from "./state-entry.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const shown = (text: string): object => entryToWire({ data: bytes(text), isCrdt: false });

test.each([
  { why: "compact JSON", text: '{"a":[1,null,"x"]}', wire: { json: { a: [1, null, "x"] } } },
  { why: "a number", text: "3", wire: { json: 3 } },
  { why: "JSON with spaces", text: '{"a": 1}', wire: { text: '{"a": 1}' } },
  { why: "a number that JavaScript rounds", text: "12345678901234567890", wire: { text: "12345678901234567890" } },
  { why: "a repeated key", text: '{"a":1,"a":2}', wire: { text: '{"a":1,"a":2}' } },
  { why: "keys that JavaScript reorders", text: '{"b":1,"1":2}', wire: { text: '{"b":1,"1":2}' } },
  { why: "the reserved key", text: '{"__proto__":1}', wire: { text: '{"__proto__":1}' } },
  { why: "deep nesting", text: "[".repeat(40) + "]".repeat(40), wire: { text: "[".repeat(40) + "]".repeat(40) } },
  { why: "text", text: "paid in cash\n", wire: { text: "paid in cash\n" } },
  { why: "an empty value", text: "", wire: { text: "" } },
  { why: "a byte order mark", text: "\uFEFFa", wire: { text: "\uFEFFa" } },
  { why: "control characters", text: "a\u0000b", wire: { base64: "YQBi" } },
])("shows $why in its most readable form", ({ text, wire }) => {
  expect(shown(text)).toEqual(wire);
});

test("shows bytes that are not UTF-8 in base64, and the type of a CRDT map", () => {
  expect(entryToWire({ data: Uint8Array.of(0xff, 0), isCrdt: true })).toEqual({ base64: "/wA=", type: "crdt-map" });
});

test("stores the same bytes when a shown entry is sent back", () => {
  const json = fc.json().map((text) => bytes(JSON.stringify(JSON.parse(text))));
  const data = fc.oneof(fc.uint8Array(), fc.string({ unit: "grapheme" }).map(bytes), fc.json().map(bytes), json);
  fc.assert(
    fc.property(data, fc.boolean(), (value, isCrdt) => {
      const sent: unknown = JSON.parse(JSON.stringify(entryToWire({ data: value, isCrdt })));
      const read = stateEntryInput.safeParse(sent);
      expect(read.success).toBe(true);
      if (!read.success) return;
      const entry = entryFromWire(read.data);
      expect([...entry.data]).toEqual([...value]);
      expect(entry.isCrdt).toBe(isCrdt);
    }),
  );
});
