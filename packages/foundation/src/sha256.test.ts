import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { sha256, sha256Hex } from "./sha256.ts";

/** Where there is no platform of Node's kind, the digits are written from the bytes. */
async function inBrowser(): Promise<typeof sha256Hex> {
  vi.stubGlobal("process", undefined);
  vi.resetModules();
  try {
    const { sha256Hex: portable } = await import("./sha256.ts");
    return portable;
  } finally {
    vi.unstubAllGlobals();
  }
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

test.each([
  { text: "", digest: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", why: "no block of its own" },
  {
    text: "abc",
    digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    why: "the standard's example",
  },
  {
    text: "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    digest: "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    why: "the standard's two-block example",
  },
])("$why", ({ text, digest }) => {
  expect(hex(sha256(text))).toBe(digest);
});

test("agrees with the platform's for every length around the block borders", () => {
  for (let length = 0; length <= 200; length += 1) {
    const text = "x".repeat(length);
    expect(hex(sha256(text))).toBe(createHash("sha256").update(text).digest("hex"));
  }
});

test("agrees with the platform's for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
      expect(hex(sha256(text))).toBe(createHash("sha256").update(text).digest("hex"));
    }),
  );
});

test("the digits are the same with and without the platform's own", async () => {
  const portable = await inBrowser();
  for (const text of ["", "abc", "\u00e4\u20ac\ud83d\ude00", "\ud800 is half a pair", "x".repeat(5_000)]) {
    expect(portable(text)).toBe(hex(sha256(text)));
    expect(sha256Hex(text)).toBe(hex(sha256(text)));
  }
});
