import { expect, test } from "vitest";
import { percentText } from "./table.ts";

test.each([
  [0.9995, "99.95 %"],
  [0.999_999_999_9, "99.99999999 %"],
  [0.999_999_987_65, "99.9999988 %"],
  [1, "100 %"],
  [0, "0 %"],
  [undefined, "-"],
])("formats %s as %s without rounding to 100 %%", (share, text) => {
  expect(percentText(share)).toBe(text);
});
