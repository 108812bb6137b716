import { expect, test } from "vitest";
import { dependencyGraph } from "./dependencies.ts";

const pkg = (name: string, ...dependencies: string[]) => ({ name, dependencies, disabled: false });

test("shows what a package needs and what needs it, also in a cycle", () => {
  const { nodes, edges } = dependencyGraph("b", [pkg("a", "b"), pkg("b", "c", "gone"), pkg("c", "b"), pkg("other")]);
  expect(nodes.map(({ id }) => id).toSorted()).toEqual(["a", "b", "c", "gone"]);
  expect(nodes.find(({ id }) => id === "gone")?.state).toBe("missing");
  expect(edges).toHaveLength(4);
});
