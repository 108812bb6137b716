import { expect, it } from "vitest";
import { listSelectors } from "./list-selectors.ts";
import { parseQuery } from "./parse-query.ts";

it.each([
  ["1 + 2", []],
  ["a", ["a"]],
  ["-a", ["a"]],
  ["rate(a[5m]) / b", ["a", "b"]],
  ["topk(scalar(n), sum by (x) (a or b unless c))", ["n", "a", "b", "c"]],
  ["max_over_time(rate(a[1m])[5m:1m])", ["a"]],
  ['label_replace(a, "x", "$1", "y", "(.*)") * on (z) group_left () b', ["a", "b"]],
])("lists the selectors of %s", (query, names) => {
  const found = listSelectors(parseQuery(query)).map(({ matchers }) => matchers[0]?.value);
  expect(found).toEqual(names);
});
