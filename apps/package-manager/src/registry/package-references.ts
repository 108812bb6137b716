import { failedPrecondition, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { Package, PackageName } from "@oaas/models";
import { Collection, unchanged, type KeyValueStore, type Stored, type Transaction } from "@oaas/storage";
import { checkDependencies } from "./dependencies.ts";
import { shortList } from "./package-checks.ts";
import { PACKAGE_REFERENCES, type PACKAGES, type PackageRecord, type PackageReference } from "./package-records.ts";

/** The dependencies of a package, and the violations in them. */
interface Dependencies {
  /** Those that are registered and not part of the same transaction. */
  readonly packages: readonly Stored<PackageRecord>[];
  /** Those that are written in the same transaction. */
  readonly pending: readonly PackageName[];
  readonly violations: readonly Violation[];
}

/** Packages that are written in the same transaction, by name. */
export type PendingPackages = ReadonlyMap<PackageName, Package>;

/** Transitive dependencies of a package; each is a condition of the transaction. */
const MAX_DEPENDENCIES = 50;

/**
 * The references to packages by other packages and by deployments.
 *
 * *Guarantees*: adding a reference and removing the package write the same record, so that one of the two fails and is
 * retried.
 */
export class PackageReferences {
  readonly #packages: Collection<PackageRecord, (typeof PACKAGES)["indexes"]>;
  readonly #references: Collection<PackageReference>;

  constructor(store: KeyValueStore, packages: Collection<PackageRecord, (typeof PACKAGES)["indexes"]>) {
    this.#packages = packages;
    this.#references = new Collection(store, PACKAGE_REFERENCES);
  }

  /**
   * The transitive dependencies of a package and the violations in them. Packages of the same transaction count as they will
   * be, the others are read from the store.
   */
  async dependenciesOf({ name, dependencies }: Package, beside: PendingPackages = new Map()): Promise<Dependencies> {
    const known = new Map<PackageName, Package | undefined>();
    const packages: Stored<PackageRecord>[] = [];
    const read = async (each: PackageName): Promise<Package | undefined> => {
      if (beside.has(each)) return beside.get(each);
      const stored = await this.#packages.get(each);
      if (stored !== undefined) packages.push(stored);
      return stored?.record.package;
    };
    let unread = [...new Set(dependencies)].filter((each) => each !== name);
    while (unread.length > 0 && known.size <= MAX_DEPENDENCIES) {
      const found = await Promise.all(unread.map(read));
      for (const [index, each] of unread.entries()) known.set(each, found[index]);
      const next = new Set(found.flatMap((each) => each?.dependencies ?? []));
      unread = [...next].filter((each) => each !== name && !known.has(each));
    }
    const pending = [...known.keys()].filter((each) => beside.has(each));
    if (known.size > MAX_DEPENDENCIES)
      return {
        packages,
        pending,
        violations: [
          {
            path: pathOf(ROOT_PATH, "dependencies"),
            message: `has more than ${MAX_DEPENDENCIES} dependencies, transitive ones included`,
            fix: "depend on fewer packages",
          },
        ],
      };
    return {
      packages,
      pending,
      violations: checkDependencies(name, dependencies, (each) => known.get(each)?.dependencies),
    };
  }

  async assertUnreferenced(name: PackageName): Promise<void> {
    const { records } = await this.#packages.listBy("dependency", name);
    if (records.length === 0) return;
    throw failedPrecondition(
      `package "${name}"`,
      `package "${name}" is a dependency of ${shortList(records.map(({ id }) => id))}. Remove the dependency there first`,
    );
  }

  /** Requires the package revision that was read, and makes a concurrent removal fail. */
  stageReference(stored: Stored<PackageRecord>, by: string): Transaction {
    return {
      conditions: [unchanged(stored.source.entry)],
      writes: this.#references.stageCreate(stored.id, { by }).writes,
    };
  }

  /** References a package that the same transaction writes, whose write is the condition. */
  stagePendingReference(name: PackageName, by: string): Transaction {
    return { writes: this.#references.stageCreate(name, { by }).writes };
  }

  /** Deletes the reference record; the transaction fails when a reference is added in the meantime. */
  async stageRelease(name: PackageName): Promise<Transaction> {
    const reference = await this.#references.get(name);
    if (reference !== undefined) return this.#references.stageDelete(reference);
    const { conditions = [] } = this.#references.stageCreate(name, { by: "" });
    return { conditions, writes: [] };
  }
}
