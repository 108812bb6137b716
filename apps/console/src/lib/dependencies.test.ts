import { expect, test } from "vitest";
import { graphOfDependencies } from "./dependencies.ts";

test("leads to each package of the graph but those that are missing", () => {
  const { nodes, edges } = graphOfDependencies({
    packages: [
      { name: "shop", state: "available" },
      { name: "a b", state: "disabled" },
      { name: "gone", state: "missing" },
    ],
    dependencies: [{ from: "shop", to: "gone" }],
    total_packages: 3,
    total_dependencies: 1,
  });
  expect(nodes.map(({ href, state }) => [href, state])).toEqual([
    ["/packages/shop", "available"],
    ["/packages/a%20b", "disabled"],
    [undefined, "missing"],
  ]);
  expect(edges).toEqual([{ from: "shop", to: "gone", label: undefined }]);
});
