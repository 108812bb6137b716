import { pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";
import { quoteText } from "../fields/text-rule.ts";

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
  const classKeys = knownKeys("class", outline.classes);
  const functionKeys = knownKeys("function", outline.functions);
  addRepeated(found, outline.classes, keyOf, "classes", "key");
  addRepeated(found, outline.functions, keyOf, "functions", "key");
  addRepeated(found, outline.deployments, keyOf, "deployments", "key");
  addRepeated(found, outline.dependencies, itself, "dependencies");
  for (const [index, each] of outline.classes.entries())
    addUnder(found, ["classes", index], checkClass(each, functionKeys));
  for (const [index, each] of outline.deployments.entries())
    addUnder(found, ["deployments", index], checkEmbedded(each, outline.name, classKeys, functionKeys));
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

/** The keys that a reference may name, with the fix for any other. */
interface KnownKeys {
  readonly what: string;
  readonly keys: ReadonlySet<string>;
  readonly fix: string;
}

const MAX_LISTED = 8;

function knownKeys(what: string, items: readonly { readonly key?: string }[]): KnownKeys {
  const keys = new Set<string>();
  for (const { key } of items) if (key !== undefined) keys.add(key);
  const some = [...keys].slice(0, MAX_LISTED).map(quoteText);
  const rest = keys.size > MAX_LISTED ? ` and ${keys.size - MAX_LISTED} more` : "";
  const fix = keys.size === 0 ? `add the ${what} to the package` : `use ${some.join(", ")}${rest}, or add the ${what}`;
  return { what, keys, fix };
}

function checkClass({ bindings }: ClassOutline, functionKeys: KnownKeys): readonly Violation[] {
  const found: Violation[] = [];
  addRepeated(found, bindings, ({ name }) => name, "function_bindings", "name");
  for (const [index, { functionKey }] of bindings.entries())
    addUnlessKnown(found, functionKey, functionKeys, ["function_bindings", index, "function_key"]);
  return found;
}

function checkEmbedded(
  { packageName, classKey, functions }: DeploymentOutline,
  name: string | undefined,
  classKeys: KnownKeys,
  functionKeys: KnownKeys,
): readonly Violation[] {
  const found: Violation[] = [];
  if (packageName !== undefined && name !== undefined && packageName !== name) {
    found.push({
      path: pathOf(ROOT_PATH, "package_name"),
      message: `refers to the package ${quoteText(packageName)}, but belongs to ${quoteText(name)}`,
      fix: "omit it, or create the deployment separately",
    });
  }
  addUnlessKnown(found, classKey, classKeys, ["class_key"]);
  addRepeated(found, functions, ({ functionKey }) => functionKey, "functions", "function_key");
  for (const [index, { functionKey }] of functions.entries())
    addUnlessKnown(found, functionKey, functionKeys, ["functions", index, "function_key"]);
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
      message: `${quoteText(name)} is a duplicate of ${list}[${first}]`,
      fix: "remove one of the two, or rename it",
    });
  }
}

function addUnlessKnown(found: Violation[], key: string | undefined, known: KnownKeys, place: Place): void {
  if (key === undefined || known.keys.has(key)) return;
  found.push({
    path: pathOf(ROOT_PATH, ...place),
    message: `the package has no ${known.what} ${quoteText(key)}`,
    fix: known.fix,
  });
}
