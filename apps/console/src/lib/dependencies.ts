import type { Package } from "../api/contract.ts";
import type { Graph } from "./graph.ts";

/** The packages that a package needs, directly or not, and those that need it. */
export function dependencyGraph(
  name: string,
  packages: readonly Pick<Package, "name" | "dependencies" | "disabled">[],
): Graph {
  const known = new Map(packages.map((each) => [each.name, each]));
  const needs = (from: string): readonly string[] => known.get(from)?.dependencies ?? [];
  const neededBy = (to: string): readonly string[] =>
    packages.filter((each) => each.dependencies.includes(to)).map((each) => each.name);
  const reached = new Set([...reach(name, needs), ...reach(name, neededBy)]);
  return {
    nodes: [...reached].map((each) => {
      const found = known.get(each);
      return {
        id: each,
        label: each,
        kind: "package",
        state: found === undefined ? "missing" : found.disabled ? "disabled" : "available",
        detail: "",
        href: `/packages/${encodeURIComponent(each)}`,
        count: 1,
      };
    }),
    edges: [...reached].flatMap((from) =>
      needs(from)
        .filter((to) => reached.has(to))
        .map((to) => ({ from, to, label: undefined })),
    ),
  };
}

function reach(start: string, next: (name: string) => readonly string[]): ReadonlySet<string> {
  const seen = new Set([start]);
  for (const name of seen) for (const each of next(name)) seen.add(each);
  return seen;
}
