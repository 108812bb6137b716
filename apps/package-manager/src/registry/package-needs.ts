import { failedPrecondition, pathOf, ROOT_PATH, type Violation } from "@oaas/foundation";
import type { Package, PackageName } from "@oaas/models";
import { Collection, unchanged, type KeyValueStore, type Stored, type Transaction } from "@oaas/storage";
import { checkDependencies } from "./dependencies.ts";
import { shortList } from "./package-checks.ts";
import { PACKAGE_TIES, type PACKAGES, type PackageRecord, type PackageTie } from "./package-records.ts";

/** What a package needs, as it is in the store, and what is wrong with that. */
interface Needed {
  readonly packages: readonly Stored<PackageRecord>[];
  readonly violations: readonly Violation[];
}

/** With all that they need in turn; each is a condition of the transaction. */
const MAX_DEPENDENCIES = 50;

/**
 * Which package needs which, and what else needs one.
 *
 * *Guarantees*: whoever comes to need a package and whoever removes it write over the same tie, so that one of the two fails and decides again.
 */
export class PackageNeeds {
  readonly #packages: Collection<PackageRecord, (typeof PACKAGES)["indexes"]>;
  readonly #ties: Collection<PackageTie>;

  constructor(store: KeyValueStore, packages: Collection<PackageRecord, (typeof PACKAGES)["indexes"]>) {
    this.#packages = packages;
    this.#ties = new Collection(store, PACKAGE_TIES);
  }

  /** Everything a package needs, and what that needs, as it is in the store now; and what is wrong with it. */
  async of({ name, dependencies }: Package): Promise<Needed> {
    const known = new Map<PackageName, Stored<PackageRecord> | undefined>();
    let ask = [...new Set(dependencies)].filter((each) => each !== name);
    while (ask.length > 0 && known.size <= MAX_DEPENDENCIES) {
      const found = await Promise.all(ask.map((each) => this.#packages.get(each)));
      for (const [index, each] of ask.entries()) known.set(each, found[index]);
      const next = new Set(found.flatMap((stored) => stored?.record.package.dependencies ?? []));
      ask = [...next].filter((each) => each !== name && !known.has(each));
    }
    const packages = [...known.values()].filter((stored) => stored !== undefined);
    if (known.size > MAX_DEPENDENCIES)
      return {
        packages,
        violations: [
          {
            path: pathOf(ROOT_PATH, "dependencies"),
            message: `needs more than ${MAX_DEPENDENCIES} packages, with all that they need in turn`,
            fix: "depend on fewer packages",
          },
        ],
      };
    return {
      packages,
      violations: checkDependencies(name, dependencies, (each) => known.get(each)?.record.package.dependencies),
    };
  }

  async refuseWhileNeeded(name: PackageName): Promise<void> {
    const { records } = await this.#packages.listBy("dependency", name);
    if (records.length === 0) return;
    throw failedPrecondition(
      `package "${name}"`,
      `package "${name}" is needed by ${shortList(records.map(({ id }) => id))}. Remove the dependency there first`,
    );
  }

  /** The package must be as it was read, and whoever removes it must see that it came into use. */
  stage(stored: Stored<PackageRecord>, by: string): Transaction {
    return { conditions: [unchanged(stored.source.entry)], writes: this.#ties.stageCreate(stored.id, { by }).writes };
  }

  /** Forgets who came to need it; fails when somebody does meanwhile. */
  async stageEnd(name: PackageName): Promise<Transaction> {
    const tie = await this.#ties.get(name);
    if (tie !== undefined) return this.#ties.stageDelete(tie);
    const { conditions = [] } = this.#ties.stageCreate(name, { by: "" });
    return { conditions, writes: [] };
  }
}
