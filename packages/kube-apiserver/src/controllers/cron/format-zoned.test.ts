import { expect, test } from "vitest";
import { formatZoned } from "./format-zoned.ts";

const at = (text: string): number => Date.parse(text);

test.each([
  [undefined, "2026-11-15T15:18:00Z"],
  ["Etc/UTC", "2026-11-15T15:18:00Z"],
  ["Europe/Berlin", "2026-11-15T16:18:00+01:00"],
  ["America/St_Johns", "2026-11-15T11:48:00-03:30"],
])("formats a time in zone %s", (zone, expected) => {
  expect(formatZoned(at("2026-11-15T15:18:00Z"), zone)).toBe(expected);
});
