import { expect, test } from "vitest";
import { createColours } from "./colours.ts";
import { planObjectsText } from "./plan-objects-text.ts";
import { priceLines } from "./price-text.ts";

const PLAIN = createColours(false, {});
const counts = { create: 0, update: 1, delete: 0, unchanged: 3, blocked: 0 };
const cluster = (name: string, more: object = {}) => ({
  cluster: name,
  unit_id: `u-${name}`,
  state: "rendered" as const,
  message: null,
  namespace: "default",
  template: "dev",
  counts,
  objects: [],
  more_objects: 0,
  warnings: [],
  ...more,
});

test("shows each cluster, and a change that is the same in all of them once", () => {
  const text = planObjectsText(
    {
      clusters: [cluster("a"), cluster("b", { state: "unknown", message: "it did not answer within 5 s" })],
      changes: [
        {
          change: "update",
          kind: "Deployment",
          name: "{unit}",
          clusters: ["a"],
          fields: [{ path: ".spec.replicas", was: "1", now: "2" }],
          more_fields: 1,
          message: null,
        },
        {
          change: "blocked",
          kind: "Service",
          name: "s",
          clusters: ["a", "b"],
          fields: [],
          more_fields: 0,
          message: "taken",
        },
      ],
      more_changes: 2,
    },
    PLAIN,
  );
  expect(text).toMatch(/^b\s+\?\s+\?\s+\?\s+\?\s+dev\s+unknown: it did not answer within 5 s$/m);
  expect(text).toContain(
    "  ~ Deployment {unit} (a)\n      - .spec.replicas: 1\n      + .spec.replicas: 2\n      … and 1 more",
  );
  expect(text).toContain("  ! Service s (every cluster): taken");
  expect(text).toContain("… and 2 more");
});

test("shows the price by currency, and where it is unknown", () => {
  const clusters = [{ cluster: "a", per_month: 5, currency: "EUR", is_assumed: true }];
  expect(priceLines({ clusters, totals: { EUR: 5, USD: 7.5 }, unknown_in: ["b"] })).toEqual([
    "price: 5.00 EUR + 7.50 USD per month, unknown in b (unstated requests count with defaults)",
  ]);
  expect(priceLines({ clusters: [], totals: {}, unknown_in: ["b"] })).toEqual([
    "price: unknown, the clusters state none",
  ]);
  expect(priceLines(undefined)).toEqual([]);
});
