import { expect, test } from "vitest";
import { keysOfPath, placeOfPath, syntaxProblems } from "./yaml-places.ts";

const TEXT = "name: hello\nfunctions:\n  - key: a b\n    config:\n      x.y: 1\n";
const at = (path: string) => {
  const { from, to } = placeOfPath(TEXT, path);
  return TEXT.slice(from, to);
};

test("reads the keys of a JSONPath", () => {
  expect(keysOfPath("$.functions[0].config['x.y']")).toEqual(["functions", 0, "config", "x.y"]);
  expect(keysOfPath("$")).toEqual([]);
});

test("finds values, also below quoted keys", () => {
  expect([at("$.name"), at("$.functions[0].key"), at("$.functions[0].config['x.y']")]).toEqual(["hello", "a b", "1"]);
});

test("a missing field is at its parent", () => {
  expect(at("$.functions[0].provision_config.port")).toContain("key: a b");
});

test("reports syntax errors with their place, and none for a valid text", () => {
  expect(syntaxProblems(TEXT)).toEqual([]);
  expect(syntaxProblems("a: [1\nb: 2")[0]?.message).toMatch(/./);
});
