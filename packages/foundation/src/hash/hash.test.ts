import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalJson, equalJson } from "../json/canonical-json.ts";
import { digestJson, hashJson, sha256Hex } from "./index.ts";

test.each([
  { text: "", digest: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
  { text: "abc", digest: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
  { text: "\u00e4\u20ac\ud83d\ude00", digest: "819fe77d1c7897c4c541e21c63d27154d46e12cc65074d8d9c874626a40a6074" },
])("hashes the UTF-8 bytes of $text", ({ text, digest }) => {
  expect(sha256Hex(text)).toBe(digest);
});

describe("hash of a JSON value", () => {
  test.each([
    { value: {}, hash: "44136fa355b3678a1146ad16f7e8649e94fb4fc2" },
    { value: { a: 1, b: [true, null, "x"] }, hash: "eca8cfb31ab74533e1eb2f4c74d2d55dfe3c79ac" },
  ])("stays $hash for $value", ({ value, hash }) => {
    expect(hashJson(value)).toBe(hash);
    expect(digestJson(value)).toBe(`sha256:${sha256Hex(canonicalJson(value))}`);
    expect(digestJson(value).slice("sha256:".length, "sha256:".length + 40)).toBe(hash);
  });

  test("is equal for equal values only", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        expect(hashJson(a) === hashJson(b)).toBe(equalJson(a, b));
      }),
    );
  });
});
