import { expect, test } from "vitest";
import { loadExamples } from "../adapters/examples.ts";
import { selectExamples } from "./examples.ts";

const placesIn = (clusters: readonly string[]): unknown[] =>
  selectExamples(loadExamples(), clusters).map(({ package: { name }, deployment }) => [
    name,
    deployment["key"],
    deployment["target_clusters"],
  ]);

test.each([
  {
    clusters: ["edge", "cloud", "far-edge"],
    places: [
      ["hello", "hello", ["edge"]],
      ["ledger", "ledger", ["edge", "cloud", "far-edge"]],
      ["tickets", "tickets", ["cloud"]],
      ["shop", "shop-order", ["edge", "cloud", "far-edge"]],
    ],
  },
  {
    clusters: ["edge"],
    places: [
      ["hello", "hello", ["edge"]],
      ["shop", "shop-order", ["edge"]],
    ],
  },
])("selects the examples for $clusters", ({ clusters, places }) => {
  expect(placesIn(clusters)).toEqual(places);
});
