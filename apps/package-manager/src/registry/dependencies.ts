import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { PackageName } from "@oaas/models";

/** What a package needs; undefined when there is no such package. */
export type DependenciesOf = (name: PackageName) => readonly PackageName[] | undefined;

/**
 * Whether a package may have these dependencies: each must exist, and none may lead back to it. A circle is told with the
 * whole way round.
 */
export function checkDependencies(
  name: PackageName,
  dependencies: readonly PackageName[],
  dependenciesOf: DependenciesOf,
): readonly Violation[] {
  return dependencies.flatMap((dependency, index): Violation[] => {
    const path = pathOf(ROOT_PATH, "dependencies", index);
    if (dependency !== name && dependenciesOf(dependency) === undefined)
      return [
        { path, message: `there is no package "${dependency}"`, fix: "register it first, or remove the dependency" },
      ];
    const back = wayBack(name, dependency, dependenciesOf);
    if (back === undefined) return [];
    return [
      {
        path,
        message: `leads back to the package itself: ${[name, ...back].join(" → ")}`,
        fix: "remove one of these dependencies",
      },
    ];
  });
}

/** The way from a dependency back to the package, both ends included; undefined when there is none. */
function wayBack(name: PackageName, from: PackageName, dependenciesOf: DependenciesOf): PackageName[] | undefined {
  const cameFrom = new Map<PackageName, PackageName | undefined>([[from, undefined]]);
  for (const at of cameFrom.keys()) {
    if (at === name) {
      const way: PackageName[] = [];
      for (let step: PackageName | undefined = at; step !== undefined; step = cameFrom.get(step)) way.unshift(step);
      return way;
    }
    for (const next of dependenciesOf(at) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, at);
  }
  return undefined;
}
