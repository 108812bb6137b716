import { pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { PackageName } from "@oaas/models";

/** The dependencies of a package; undefined when it does not exist. */
export type DependenciesOf = (name: PackageName) => readonly PackageName[] | undefined;

/**
 * Validates dependencies: each must exist, and none may lead back to the package. A cycle is reported with all its
 * packages.
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
        { path, message: `package "${dependency}" does not exist`, fix: "register it first, or remove the dependency" },
      ];
    const cycle = pathBack(name, dependency, dependenciesOf);
    if (cycle === undefined) return [];
    return [
      {
        path,
        message: `is a dependency cycle: ${[name, ...cycle].join(" → ")}`,
        fix: "remove one of these dependencies",
      },
    ];
  });
}

/** The path from a dependency back to the package, both ends included; undefined when there is none. */
function pathBack(name: PackageName, from: PackageName, dependenciesOf: DependenciesOf): PackageName[] | undefined {
  const previous = new Map<PackageName, PackageName | undefined>([[from, undefined]]);
  for (const at of previous.keys()) {
    if (at === name) {
      const path: PackageName[] = [];
      for (let step: PackageName | undefined = at; step !== undefined; step = previous.get(step)) path.unshift(step);
      return path;
    }
    for (const next of dependenciesOf(at) ?? []) if (!previous.has(next)) previous.set(next, at);
  }
  return undefined;
}
