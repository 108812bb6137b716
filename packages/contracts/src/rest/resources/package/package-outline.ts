import type { PackageOutline } from "@oaas/models";
import { asWritten } from "../../reading/wire-scalar.ts";

/** The keys and references of a possibly invalid package document, for the rules across its fields. */
export function packageOutline(document: unknown): PackageOutline {
  const { name, classes, functions, dependencies, deployments } = membersOf(document);
  return {
    ...named("name", name),
    classes: itemsOf(classes).map((each) => ({
      ...named("key", each["key"]),
      bindings: itemsOf(each["function_bindings"]).map((binding) => ({
        ...named("name", binding["name"]),
        ...named("functionKey", binding["function_key"]),
      })),
    })),
    functions: itemsOf(functions).map(({ key }) => named("key", key)),
    dependencies: listOf(dependencies).map(wordIn),
    deployments: itemsOf(deployments).map((each) => ({
      ...named("key", each["key"]),
      ...named("packageName", each["package_name"]),
      ...named("classKey", each["class_key"]),
      functions: itemsOf(each["functions"]).map((one) => named("functionKey", one["function_key"])),
    })),
  };
}

type Members = Readonly<Record<string, unknown>>;

function membersOf(value: unknown): Members {
  return typeof value === "object" && value !== null ? (value as Members) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

function itemsOf(value: unknown): readonly Members[] {
  return listOf(value).map(membersOf);
}

/** Empty strings are reported by the field's own rule. */
function wordIn(value: unknown): string | undefined {
  const word = asWritten(value);
  return typeof word === "string" && word !== "" ? word : undefined;
}

function named<Name extends string>(name: Name, value: unknown): { readonly [Key in Name]?: string } {
  const word = wordIn(value);
  return word === undefined ? {} : ({ [name]: word } as { readonly [Key in Name]?: string });
}
