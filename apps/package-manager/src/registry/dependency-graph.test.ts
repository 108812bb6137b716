import type { PackageName } from "@oaas/models";
import { expect, test } from "vitest";
import { buildDependencyGraph } from "./dependency-graph.ts";

type Packages = Readonly<Record<string, readonly string[]>>;

function graphOf(start: string, packages: Packages, disabled: readonly string[] = []) {
  return buildDependencyGraph(start as PackageName, {
    find: (name) => {
      const dependencies = packages[name];
      return dependencies && { dependencies: dependencies as PackageName[], disabled: disabled.includes(name) };
    },
    dependentsOf: (name) =>
      Object.entries(packages).flatMap(([from, to]) => (to.includes(name) ? [from as PackageName] : [])),
  });
}

const spelled = ({ packages, dependencies }: ReturnType<typeof graphOf>): string =>
  [
    ...packages.map(({ name, state }) => `${name} ${state}`),
    ...dependencies.map(({ from, to }) => `${from}>${to}`),
  ].join(", ");

test.each<{ why: string; packages: Packages; disabled?: string[]; graph: string }>([
  { why: "alone", packages: { m: [], other: ["x"], x: [] }, graph: "m available" },
  {
    why: "both directions, the nearest first",
    packages: { top: ["user"], user: ["m"], m: ["base"], base: ["deep"], deep: [], other: [] },
    graph:
      "m available, base available, user available, deep available, top available, m>base, base>deep, user>m, top>user",
  },
  {
    why: "not the other dependencies of a dependent",
    packages: { user: ["m", "aside"], m: [], aside: [] },
    graph: "m available, user available, user>m",
  },
  {
    why: "states, also of a package that an older store lost",
    packages: { m: ["off", "gone"], off: [] },
    disabled: ["off"],
    graph: "m available, gone missing, off disabled, m>off, m>gone",
  },
  { why: "a cycle of an older store", packages: { m: ["a"], a: ["m"] }, graph: "m available, a available, m>a, a>m" },
  {
    why: "a dependency over two paths, once",
    packages: { m: ["a", "b"], a: ["base"], b: ["base"], base: [] },
    graph: "m available, a available, b available, base available, m>a, m>b, a>base, b>base",
  },
])("shows $why", ({ packages, disabled, graph }) => {
  const built = graphOf("m", packages, disabled);
  expect(spelled(built)).toBe(graph);
  expect(built.totalPackages).toBe(built.packages.length);
  expect(built.totalDependencies).toBe(built.dependencies.length);
});

test("is bounded, and counts what is left out", () => {
  const names = Array.from({ length: 1_000 }, (_, at) => `user-${String(at).padStart(3, "0")}`);
  const dense = Object.fromEntries(names.map((name, at) => [name, ["m", ...names.slice(Math.max(0, at - 20), at)]]));
  const { packages, dependencies, totalPackages, totalDependencies } = graphOf("m", { m: [], ...dense });
  expect(packages).toHaveLength(200);
  expect(packages[0]?.name).toBe("m");
  expect(dependencies).toHaveLength(500);
  expect(totalPackages).toBe(1_001);
  expect(totalDependencies).toBe(Object.values(dense).flat().length);
  const included = new Set<string>(packages.map(({ name }) => name));
  expect(dependencies.every(({ from, to }) => included.has(from) && included.has(to))).toBe(true);
});
