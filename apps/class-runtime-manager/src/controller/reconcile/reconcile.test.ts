import { expect, test } from "vitest";
import { mayDeferStatus } from "./reconcile.ts";

test("defers the status of each version once", () => {
  const deferred = new WeakSet<object>();
  const [first, second] = [{}, {}];
  expect([first, first, second, first].map((version) => mayDeferStatus(version, deferred))).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
