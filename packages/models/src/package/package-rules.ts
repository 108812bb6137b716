import { pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";

/**
 * The members of a package that the rules across fields need. It can be extracted from an invalid document too, so that
 * these violations are reported together with those of single fields.
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
 * Checks rules across the fields of a package: duplicate keys and references to missing items. Paths refer to the JSON
 * document. Single fields are validated when the document is parsed.
 */
export function checkPackage(outline: PackageOutline): readonly Violation[] {
  const found: Violation[] = [];
  const functionKeys = keysIn(outline.functions);
  addRepeated(found, outline.classes, keyOf, "classes", "key");
  addRepeated(found, outline.functions, keyOf, "functions", "key");
  addRepeated(found, outline.deployments, keyOf, "deployments", "key");
  addRepeated(found, outline.dependencies, itself, "dependencies");
  for (const [index, each] of outline.classes.entries())
    addUnder(found, ["classes", index], checkClass(each, functionKeys));
  for (const [index, each] of outline.deployments.entries())
    addUnder(found, ["deployments", index], checkEmbedded(each, outline, functionKeys));
  return found;
}

/** Path inside a package. */
type Place = readonly (string | number)[];

function addUnder(found: Violation[], place: Place, violations: readonly Violation[]): void {
  if (violations.length > 0) found.push(...violationsUnder(pathOf(ROOT_PATH, ...place), violations));
}

function keyOf({ key }: { readonly key?: string }): string | undefined {
  return key;
}

function itself(name: string | undefined): string | undefined {
  return name;
}

function keysIn(items: readonly { readonly key?: string }[]): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const { key } of items) if (key !== undefined) keys.add(key);
  return keys;
}

function checkClass({ bindings }: ClassOutline, functionKeys: ReadonlySet<string>): readonly Violation[] {
  const found: Violation[] = [];
  addRepeated(found, bindings, ({ name }) => name, "function_bindings", "name");
  for (const [index, { functionKey }] of bindings.entries())
    addUnlessKnown(found, "function", functionKey, functionKeys, ["function_bindings", index, "function_key"]);
  return found;
}

function checkEmbedded(
  { packageName, classKey, functions }: DeploymentOutline,
  { name, classes }: PackageOutline,
  functionKeys: ReadonlySet<string>,
): readonly Violation[] {
  const found: Violation[] = [];
  if (packageName !== undefined && name !== undefined && packageName !== name) {
    found.push({
      path: pathOf(ROOT_PATH, "package_name"),
      message: `refers to the package "${packageName}", but belongs to "${name}"`,
      fix: "omit it, or create the deployment separately",
    });
  }
  addUnlessKnown(found, "class", classKey, keysIn(classes), ["class_key"]);
  addRepeated(found, functions, ({ functionKey }) => functionKey, "functions", "function_key");
  for (const [index, { functionKey }] of functions.entries())
    addUnlessKnown(found, "function", functionKey, functionKeys, ["functions", index, "function_key"]);
  return found;
}

function addRepeated<T>(
  found: Violation[],
  items: readonly T[],
  nameOf: (item: T) => string | undefined,
  list: string,
  member?: string,
): void {
  if (items.length < 2) return;
  const firstAt = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const name = nameOf(item);
    if (name === undefined) continue;
    const first = firstAt.get(name);
    if (first === undefined) {
      firstAt.set(name, index);
      continue;
    }
    found.push({
      path: pathOf(ROOT_PATH, list, index, ...(member === undefined ? [] : [member])),
      message: `"${name}" is a duplicate of ${list}[${first}]`,
      fix: "remove one of the two, or rename it",
    });
  }
}

const MAX_LISTED = 8;

function addUnlessKnown(
  found: Violation[],
  what: string,
  key: string | undefined,
  known: ReadonlySet<string>,
  place: Place,
): void {
  if (key === undefined || known.has(key)) return;
  const some = [...known].slice(0, MAX_LISTED).map((each) => `"${each}"`);
  const rest = known.size > MAX_LISTED ? ` and ${known.size - MAX_LISTED} more` : "";
  found.push({
    path: pathOf(ROOT_PATH, ...place),
    message: `the package has no ${what} "${key}"`,
    fix: known.size === 0 ? `add the ${what} to the package` : `use ${some.join(", ")}${rest}, or add the ${what}`,
  });
}
