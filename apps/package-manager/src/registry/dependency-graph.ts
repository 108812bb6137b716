import type { PackageName } from "@oaas/models";
import type { DependencyGraph } from "../use-cases.ts";

/** Enough for a picture; a reader, and the layout in a browser, cannot follow more. */
const MAX_PACKAGES = 200;
const MAX_DEPENDENCIES = 500;

/** What the graph is made of. */
export interface DependencySource {
  /** Undefined when the package is not registered. */
  find(name: PackageName): { readonly dependencies: readonly PackageName[]; readonly disabled: boolean } | undefined;
  dependentsOf(name: PackageName): readonly PackageName[];
}

/** The packages that `start` needs, directly or not, and those that need it: the nearest first, and not more than a page can show. */
export function buildDependencyGraph(start: PackageName, source: DependencySource): DependencyGraph {
  const dependenciesOf = (name: PackageName): readonly PackageName[] => source.find(name)?.dependencies ?? [];
  const distances = distancesFrom(start, dependenciesOf);
  for (const [name, distance] of distancesFrom(start, (name) => source.dependentsOf(name)))
    distances.set(name, Math.min(distance, distances.get(name) ?? distance));
  const nearest = [...distances].sort(([a, near], [b, far]) => near - far || (a < b ? -1 : 1)).map(([name]) => name);
  const names = nearest.slice(0, MAX_PACKAGES);
  const included = new Set(names);
  const edges = nearest.flatMap((from) =>
    dependenciesOf(from)
      .filter((to) => distances.has(to))
      .map((to) => ({ from, to })),
  );
  const shown = edges.filter(({ from, to }) => included.has(from) && included.has(to));
  return {
    packages: names.map((name) => ({ name, state: stateOf(source.find(name)) })),
    dependencies: shown.slice(0, MAX_DEPENDENCIES),
    totalPackages: nearest.length,
    totalDependencies: edges.length,
  };
}

function stateOf(found: { readonly disabled: boolean } | undefined): DependencyGraph["packages"][number]["state"] {
  if (found === undefined) return "missing";
  return found.disabled ? "disabled" : "available";
}

/** The number of steps to each package that is reached. */
function distancesFrom(
  start: PackageName,
  next: (name: PackageName) => readonly PackageName[],
): Map<PackageName, number> {
  const distances = new Map([[start, 0]]);
  for (const [name, distance] of distances)
    for (const each of next(name)) if (!distances.has(each)) distances.set(each, distance + 1);
  return distances;
}
