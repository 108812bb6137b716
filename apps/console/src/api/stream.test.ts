import { expect, test } from "vitest";
import { isOutdated, outdatedBy } from "./stream.ts";

test("an event of a deployment refreshes its list, its page and the overview, and no other deployment", () => {
  const roots = new Set(outdatedBy({ topic: "deployment", key: "ledger", type: "changed" }));
  const keys = [
    ["deployments", {}],
    ["deployment", "ledger", "status"],
    ["deployment", "shop"],
    ["overview"],
    ["packages"],
  ];
  expect(keys.map((key) => isOutdated(key, roots))).toEqual([true, true, false, true, false]);
});

test("an operation refreshes every open deployment, because its key is the operation", () => {
  const roots = new Set(outdatedBy({ topic: "operation", key: "3f2c", type: "progress" }));
  expect(isOutdated(["deployment", "shop", "status"], roots)).toBe(true);
});

test("a resync refreshes all lists", () => {
  const roots = new Set(outdatedBy({ topic: "cluster", key: "", type: "resync" }));
  expect(["deployments", "packages", "clusters", "class-runtimes"].every((list) => isOutdated([list], roots))).toBe(
    true,
  );
});
