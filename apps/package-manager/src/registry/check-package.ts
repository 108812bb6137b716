import { pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";
import type { ClassDefinition, ClassDeployment, Package } from "@oaas/models";

/**
 * What no single field of a package can say: keys that occur twice, names that lead nowhere. Paths are those of the JSON
 * form. Single fields are checked where the document is read.
 */
export function checkPackage(definition: Package): readonly Violation[] {
  const functionKeys = new Set<string>(definition.functions.map(({ key }) => key));
  return [
    ...repeated(definition.classes, "classes", "key", ({ key }) => key),
    ...repeated(definition.functions, "functions", "key", ({ key }) => key),
    ...repeated(definition.deployments, "deployments", "key", ({ key }) => key),
    ...repeated(definition.dependencies, "dependencies", undefined, (name) => name),
    ...definition.classes.flatMap((each, index) =>
      violationsUnder(pathOf(ROOT_PATH, "classes", index), checkClass(each, functionKeys)),
    ),
    ...definition.deployments.flatMap((each, index) =>
      violationsUnder(pathOf(ROOT_PATH, "deployments", index), checkEmbedded(each, definition, functionKeys)),
    ),
  ];
}

function checkClass(definition: ClassDefinition, functionKeys: ReadonlySet<string>): Violation[] {
  return [
    ...repeated(definition.bindings, "function_bindings", "name", ({ name }) => name),
    ...definition.bindings.flatMap(({ functionKey }, index) =>
      functionKeys.has(functionKey)
        ? []
        : [
            unknown(
              pathOf(ROOT_PATH, "function_bindings", index, "function_key"),
              "function",
              functionKey,
              functionKeys,
            ),
          ],
    ),
  ];
}

function checkEmbedded(
  deployment: ClassDeployment,
  { name, classes }: Package,
  functionKeys: ReadonlySet<string>,
): Violation[] {
  const classKeys = new Set<string>(classes.map(({ key }) => key));
  return [
    ...(deployment.packageName === undefined || deployment.packageName === name
      ? []
      : [
          {
            path: pathOf(ROOT_PATH, "package_name"),
            message: `names the package "${deployment.packageName}", but is a part of "${name}"`,
            fix: "leave it out, or register the deployment by itself",
          },
        ]),
    ...(classKeys.has(deployment.classKey)
      ? []
      : [unknown(pathOf(ROOT_PATH, "class_key"), "class", deployment.classKey, classKeys)]),
    ...repeated(deployment.functions, "functions", "function_key", ({ functionKey }) => functionKey),
    ...deployment.functions.flatMap(({ functionKey }, index) =>
      functionKeys.has(functionKey)
        ? []
        : [unknown(pathOf(ROOT_PATH, "functions", index, "function_key"), "function", functionKey, functionKeys)],
    ),
  ];
}

function repeated<T>(
  items: readonly T[],
  list: string,
  member: string | undefined,
  keyOf: (item: T) => string,
): Violation[] {
  if (items.length < 2) return [];
  const firstAt = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    const first = firstAt.get(key);
    if (first === undefined) {
      firstAt.set(key, index);
      return [];
    }
    const place = member === undefined ? [list, index] : [list, index, member];
    return [
      {
        path: pathOf(ROOT_PATH, ...place),
        message: `"${key}" is already at ${list}[${first}]`,
        fix: "remove one of the two or give it another name",
      },
    ];
  });
}

const SHOWN = 8;

function unknown(path: string, what: string, key: string, known: ReadonlySet<string>): Violation {
  const some = [...known].slice(0, SHOWN).map((each) => `"${each}"`);
  const rest = known.size > SHOWN ? ` and ${known.size - SHOWN} more` : "";
  return {
    path,
    message: `the package has no ${what} "${key}"`,
    fix: known.size === 0 ? `add the ${what} to the package` : `use ${some.join(", ")}${rest}, or add the ${what}`,
  };
}
