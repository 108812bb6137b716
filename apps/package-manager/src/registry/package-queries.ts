import {
  qualifyClassKey,
  type ClassDefinition,
  type ClassKey,
  type FunctionDefinition,
  type PackageName,
} from "@oaas/models";
import { pageOf, type CollectionView, type Ordered, type Stored, type ViewQuery } from "@oaas/storage";
import { boundedPage, patternMatcher, sortOrder } from "../paging.ts";
import type { ListPage, PackageQuery, PageRequest, RegisteredPackage } from "../use-cases.ts";
import { registeredPackage, type PackageRecord } from "./package-records.ts";

/** Sort orders of packages besides the name. */
export const PACKAGE_ORDERS = {
  created_at: ({ record }: Stored<PackageRecord>) => record.package.metadata.createdAt ?? "",
  updated_at: ({ record }: Stored<PackageRecord>) => record.package.metadata.updatedAt ?? "",
};

/** One page of the packages that match. */
export function listPackages(view: CollectionView<PackageRecord>, query: PackageQuery): ListPage<RegisteredPackage> {
  const { records, ...rest } = view.page({
    ...filterOf(query),
    ...sortOrder(query.sort, "name"),
    ...boundedPage(query),
  });
  return { items: records.map(({ record }) => registeredPackage(record)), ...rest };
}

function filterOf({
  namePattern,
  disabled,
  tags = [],
}: PackageQuery): Pick<ViewQuery<PackageRecord>, "filter" | "filterKey"> {
  if (namePattern === undefined && disabled === undefined && tags.length === 0) return {};
  const nameFits = namePattern === undefined ? () => true : patternMatcher(namePattern);
  return {
    filterKey: JSON.stringify([namePattern, disabled, tags]),
    filter: ({ id, record }) =>
      nameFits(id) &&
      (disabled === undefined || record.package.disabled === disabled) &&
      tags.every((tag) => record.package.metadata.tags.includes(tag)),
  };
}

/** The classes, functions and dependents of all packages, collected once per change of the registry. */
export class Catalogue {
  readonly #view: CollectionView<PackageRecord>;
  #classes: Ordered<ClassDefinition> | undefined;
  #functions: Ordered<FunctionDefinition> | undefined;
  #dependents: ReadonlyMap<PackageName, readonly PackageName[]> | undefined;

  constructor(view: CollectionView<PackageRecord>) {
    this.#view = view;
  }

  /** Drops what was collected after a change of a package. */
  invalidate(): void {
    this.#classes = undefined;
    this.#functions = undefined;
    this.#dependents = undefined;
  }

  /** The packages that state a dependency on this one. */
  dependentsOf(name: PackageName): readonly PackageName[] {
    this.#dependents ??= dependentsIn(this.#view);
    return this.#dependents.get(name) ?? [];
  }

  /** Every class, with the key `package.Class`. */
  allClasses(): readonly ClassDefinition[] {
    return this.#orderedClasses().items;
  }

  classes(query: PageRequest & { readonly filter?: string }): ListPage<ClassDefinition> {
    return pageOf(filtered(this.#orderedClasses(), query.filter), {
      order: "class",
      bytesOf: jsonLength,
      ...boundedPage(query),
    });
  }

  #orderedClasses(): Ordered<ClassDefinition> {
    this.#classes ??= ordered(this.#view, ({ name, classes }) =>
      classes.map((each) => {
        const key = qualifyClassKey(name, each.key) as unknown as ClassKey;
        return [key, { ...each, key }];
      }),
    );
    return this.#classes;
  }

  functions(query: PageRequest & { readonly filter?: string }): ListPage<FunctionDefinition> {
    this.#functions ??= ordered(this.#view, ({ name, functions }) =>
      functions.map((each) => [`${each.key}\u0000${name}`, each]),
    );
    return pageOf(filtered(this.#functions, query.filter), {
      order: "function",
      bytesOf: jsonLength,
      ...boundedPage(query),
    });
  }
}

function dependentsIn(view: CollectionView<PackageRecord>): ReadonlyMap<PackageName, readonly PackageName[]> {
  const dependents = new Map<PackageName, PackageName[]>();
  for (const { record } of view.all())
    for (const dependency of record.package.dependencies) {
      const known = dependents.get(dependency);
      if (known === undefined) dependents.set(dependency, [record.package.name]);
      else known.push(record.package.name);
    }
  return dependents;
}

const jsonLengths = new WeakMap<object, number>();

/** The size of a definition, computed once. */
function jsonLength(definition: object): number {
  let length = jsonLengths.get(definition);
  if (length === undefined) {
    ({ length } = JSON.stringify(definition));
    jsonLengths.set(definition, length);
  }
  return length;
}

function ordered<T>(
  view: CollectionView<PackageRecord>,
  entriesOf: (definition: PackageRecord["package"]) => readonly (readonly [string, T])[],
): Ordered<T> {
  const entries = [...view.all()]
    .flatMap(({ record }) => entriesOf(record.package))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return { keys: entries.map(([key]) => key), items: entries.map(([, item]) => item) };
}

function filtered<T extends { readonly key: string }>(list: Ordered<T>, filter: string | undefined): Ordered<T> {
  if (filter === undefined) return list;
  const fits = patternMatcher(filter);
  const places = list.items.flatMap((item, index) => (fits(item.key) ? [index] : []));
  return {
    keys: places.map((index) => list.keys[index] as string),
    items: places.map((index) => list.items[index] as T),
  };
}
