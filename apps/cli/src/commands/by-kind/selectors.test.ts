import { expect, it } from "vitest";
import { parseFieldSelector, parseLabelSelector, sortByPath } from "./selectors.ts";

const EDGE = { env: "edge", zone: "a" };

it.each([
  ["env=edge", true],
  ["env==edge,zone=a", true],
  ["env=cloud", false],
  ["env!=cloud", true],
  ["tier!=gold", true],
  ["env in (cloud, edge)", true],
  ["env notin (cloud, edge)", false],
  ["tier notin (gold)", true],
  ["zone", true],
  ["!zone", false],
  ["!tier,env in (edge),zone=a", true],
  ["", true],
])("the label selector %s matches env=edge, zone=a: %s", (text, isMatch) => {
  expect(parseLabelSelector(text)(EDGE)).toBe(isMatch);
});

it.each(["env>3", "env in edge", "a b"])("rejects the label selector %s", (text) => {
  expect(() => parseLabelSelector(text)).toThrow(/is not a requirement/);
});

it.each([
  ["condition=Running", true],
  ["condition!=Running", false],
  [".status.replication_factor=3", true],
  ["package_name=shop,condition=RUNNING", true],
  ["package_name=other", false],
  ["missing=x", false],
  ["missing!=x", true],
])("the field selector %s matches: %s", (text, isMatch) => {
  const item = { condition: "RUNNING", package_name: "shop", status: { replication_factor: 3 } };
  expect(parseFieldSelector(text)(item)).toBe(isMatch);
});

it("rejects a field selector without a value", () => {
  expect(() => parseFieldSelector("condition")).toThrow(/--field-selector: "condition"/);
});

it("sorts numbers as numbers, and items without the field last", () => {
  const items = [{ n: 10 }, {}, { n: 9 }];
  expect(sortByPath(items, ".n", "things")).toEqual([{ n: 9 }, { n: 10 }, {}]);
  expect(sortByPath([], ".n", "things")).toEqual([]);
  expect(() => sortByPath(items, "{.x}", "things")).toThrow(/no things have the field "\{\.x\}"/);
});
