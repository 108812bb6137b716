import { parseImageReference, quantityNanos, RESOURCE_QUANTITY } from "@oaas/models";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { image, quantity, word } from "./scalars.ts";

/** Texts that are nearly right, which random texts hardly ever are. */
const nearly = (parts: readonly string[]) =>
  fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 9 }).map((chosen) => chosen.join(""));

describe("patterns agree with the rules of the domain", () => {
  test("images", () => {
    const parts = [
      "a",
      "b1",
      "A",
      "/",
      ":",
      "@",
      ".",
      "-",
      "_",
      "__",
      "localhost",
      ":80",
      "sha256:",
      "0".repeat(32),
      "[::1]",
    ];
    fc.assert(
      fc.property(nearly(parts), (text) => {
        expect(image.safeParse(text).success, text).toBe(parseImageReference(text) !== undefined);
      }),
      { numRuns: 5000 },
    );
  });

  test("quantities", () => {
    const parts = ["0", "1", "12", ".", "+", "-", "m", "Ki", "i", "M", "e", "E", "3", "-2", " "];
    fc.assert(
      fc.property(nearly(parts), (text) => {
        // The domain takes minus zero; a pattern cannot tell it from other negative numbers.
        fc.pre(!text.startsWith("-"));
        expect(quantity.safeParse(text).success, text).toBe(RESOURCE_QUANTITY.findProblem(text) === undefined);
      }),
      { numRuns: 5000 },
    );
  });

  test("quantities accepted by the schema can be compared", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9.eEkKiMm+-]{1,8}$/), (text) => {
        fc.pre(quantity.safeParse(text).success);
        expect(quantityNanos(text)).toBeTypeOf("bigint");
      }),
    );
  });
});

test("reads a word in three spellings and normalizes it", () => {
  const mode = word("read_write", "none");
  expect(["read_write", "ReadWrite", "READ_WRITE"].map((spelling) => mode.parse(spelling))).toEqual(
    Array(3).fill("read_write"),
  );
  expect(mode.safeParse("readWrite").success).toBe(false);
});
