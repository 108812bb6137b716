import { describe, expect, test } from "vitest";
import { plainText, tableRows } from "./screen-table.ts";

const SCREEN = `counter  ‹green›Running‹/›  revision 1

CLUSTER   CONDITION   UP TO DATE   UNIT
cloud     ‹green›Running‹/›     2            counter-cloud-1
edge                  1            counter-edge-1

Requirements:
`;

describe("a table on a screen", () => {
  test("has one row per line until the first blank line, by column title", () => {
    expect(tableRows(SCREEN, "CLUSTER")).toEqual([
      { CLUSTER: "cloud", CONDITION: "Running", "UP TO DATE": "2", UNIT: "counter-cloud-1" },
      { CLUSTER: "edge", CONDITION: "", "UP TO DATE": "1", UNIT: "counter-edge-1" },
    ]);
  });

  test("is empty when no header starts with the title", () => {
    expect(tableRows(SCREEN, "FUNCTION")).toEqual([]);
  });
});

test("removes colour marks only", () => {
  expect(plainText("‹dim›a‹/› <b> ‹red›c‹/›")).toBe("a <b> c");
});
