import { pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";

/**
 * As much of a package as the rules across its fields look at. A package is one; of a document that cannot be read as a package it has
 * what could be made out, so that these rules are heard together with those of single fields.
 */
export interface PackageOutline {
  readonly name?: string;
  readonly classes: readonly ClassOutline[];
  readonly functions: readonly { readonly key?: string }[];
  readonly dependencies: readonly (string | undefined)[];
  readonly deployments: readonly DeploymentOutline[];
}

interface ClassOutline {
  readonly key?: string;
  readonly bindings: readonly { readonly name?: string; readonly functionKey?: string }[];
}

interface DeploymentOutline {
  readonly key?: string;
  readonly packageName?: string;
  readonly classKey?: string;
  readonly functions: readonly { readonly functionKey?: string }[];
}

/**
 * What no single field of a package can say: keys that occur twice, names that lead nowhere. Paths are those of the JSON
 * form. Single fields are checked where the document is read.
 */
export function checkPackage(outline: PackageOutline): readonly Violation[] {
  const functionKeys = keysIn(outline.functions);
  return [
    ...repeated(outline.classes, "classes", "key", ({ key }) => key),
    ...repeated(outline.functions, "functions", "key", ({ key }) => key),
    ...repeated(outline.deployments, "deployments", "key", ({ key }) => key),
    ...repeated(outline.dependencies, "dependencies", undefined, (name) => name),
    ...within(outline.classes, "classes", (each) => checkClass(each, functionKeys)),
    ...within(outline.deployments, "deployments", (each) => checkEmbedded(each, outline, functionKeys)),
  ];
}

/** What is wrong with the items of a list, each at its place. */
function within<T>(items: readonly T[], list: string, check: (item: T) => readonly Violation[]): readonly Violation[] {
  return items.flatMap<Violation>((item, index) => {
    const found = check(item);
    return found.length === 0 ? NONE : violationsUnder(pathOf(ROOT_PATH, list, index), found);
  });
}

const NONE: readonly never[] = [];

function keysIn(items: readonly { readonly key?: string }[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { key } of items) if (key !== undefined) keys.add(key);
  return keys;
}

function checkClass({ bindings }: ClassOutline, functionKeys: ReadonlySet<string>): readonly Violation[] {
  return [
    ...repeated(bindings, "function_bindings", "name", ({ name }) => name),
    ...bindings.flatMap(({ functionKey }, index) =>
      unlessKnown("function", functionKey, functionKeys, "function_bindings", index, "function_key"),
    ),
  ];
}

function checkEmbedded(
  { packageName, classKey, functions }: DeploymentOutline,
  { name, classes }: PackageOutline,
  functionKeys: ReadonlySet<string>,
): readonly Violation[] {
  return [
    ...(packageName === undefined || name === undefined || packageName === name
      ? []
      : [
          {
            path: pathOf(ROOT_PATH, "package_name"),
            message: `names the package "${packageName}", but is a part of "${name}"`,
            fix: "leave it out, or register the deployment by itself",
          },
        ]),
    ...unlessKnown("class", classKey, keysIn(classes), "class_key"),
    ...repeated(functions, "functions", "function_key", ({ functionKey }) => functionKey),
    ...functions.flatMap(({ functionKey }, index) =>
      unlessKnown("function", functionKey, functionKeys, "functions", index, "function_key"),
    ),
  ];
}

function repeated<T>(
  items: readonly T[],
  list: string,
  member: string | undefined,
  keyOf: (item: T) => string | undefined,
): readonly Violation[] {
  if (items.length < 2) return NONE;
  const firstAt = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = keyOf(item);
    const first = key === undefined ? undefined : firstAt.get(key);
    if (key === undefined || first === undefined) {
      if (key !== undefined) firstAt.set(key, index);
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

function unlessKnown(
  what: string,
  key: string | undefined,
  known: ReadonlySet<string>,
  ...place: readonly (string | number)[]
): readonly Violation[] {
  if (key === undefined || known.has(key)) return NONE;
  const some = [...known].slice(0, SHOWN).map((each) => `"${each}"`);
  const rest = known.size > SHOWN ? ` and ${known.size - SHOWN} more` : "";
  return [
    {
      path: pathOf(ROOT_PATH, ...place),
      message: `the package has no ${what} "${key}"`,
      fix: known.size === 0 ? `add the ${what} to the package` : `use ${some.join(", ")}${rest}, or add the ${what}`,
    },
  ];
}
