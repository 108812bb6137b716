import { expect, test } from "vitest";
import { resolvedChangesText } from "./changes-text.ts";

const as = (text: string): string => text;
const PLAIN = { good: as, bad: as, warn: as, dim: as, bold: as };

test("lists the changes of the state store first, with what restarts and which data moves", () => {
  const changes = [
    { path: "$.package_revision", text: "package_revision changed from 1 to 2" },
    { path: "$.odgmlike", text: "odgmlike was added: 1" },
    { path: "$.odgm.log", text: 'odgm.log changed from "info" to "debug"', effect: "the state store restarts" },
  ];
  expect(resolvedChangesText(changes, PLAIN)).toBe(
    [
      "State store:",
      '  odgm.log changed from "info" to "debug" (the state store restarts)',
      "Running units:",
      "  package_revision changed from 1 to 2",
      "  odgmlike was added: 1",
      "",
    ].join("\n"),
  );
  expect(resolvedChangesText([], PLAIN)).toBe("");
});
