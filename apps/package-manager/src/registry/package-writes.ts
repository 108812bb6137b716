import { timestamp, type Ambient } from "@oaas/foundation";
import { checkPackage, type Package, type PackageName } from "@oaas/models";
import { combineTransactions, unchanged, type Collection, type Stored, type Transaction } from "@oaas/storage";
import { ALL_RETAINED, DEFAULT_REVISIONS_KEPT, pruneRevisions } from "../history/retention.ts";
import type { Call } from "../use-cases.ts";
import { assertFits, assertValid } from "./package-checks.ts";
import type { PackageHistory } from "./package-history.ts";
import { isSameContent, type PACKAGES, type PackageRecord } from "./package-records.ts";
import type { PackageReferences, PendingPackages } from "./package-references.ts";

/** A package that is ready to be committed, alone or with others. */
export interface StagedPackage {
  readonly name: PackageName;
  readonly status: "created" | "updated" | "unchanged";
  /** The package as it will be stored; for an unchanged one, as it is. */
  readonly record: PackageRecord;
  readonly previous: Stored<PackageRecord> | undefined;
  /** The package and its new revision; for an unchanged package the condition that it stays so. */
  readonly transaction: Transaction;
  /** References to its dependencies. Those of several packages may write the same keys. */
  readonly references: Transaction;
  /** The package after the commit at this store revision. */
  readonly stored: (revision: number) => Stored<PackageRecord>;
}

export interface PackageWritesDeps {
  readonly ambient: Ambient;
  readonly packages: Collection<PackageRecord, (typeof PACKAGES)["indexes"]>;
  readonly history: PackageHistory;
  readonly references: PackageReferences;
  /** The revisions of a package that its deployments run; they are kept. */
  readonly revisionsInUse: (name: PackageName) => ReadonlySet<number>;
  /** The number of newest revisions to keep. */
  readonly revisionsKept: () => number | undefined;
}

/** Stages the writes of packages. A dry run and a write stage the same, so that both accept the same packages. */
export class PackageWrites {
  readonly #deps: PackageWritesDeps;

  constructor(deps: PackageWritesDeps) {
    this.#deps = deps;
  }

  /** Validates a package and stages it as the next revision; the same content changes nothing. */
  async stage(
    input: Package,
    previous: Stored<PackageRecord> | undefined,
    call: Call,
    beside?: PendingPackages,
  ): Promise<StagedPackage> {
    const { packages, history } = this.#deps;
    const references = await this.#checkedReferences(input, beside);
    const { name } = input;
    if (previous && isSameContent(previous.record.package, input)) {
      const transaction = { conditions: [unchanged(previous.source.entry)], writes: [] };
      const { record } = previous;
      return { name, status: "unchanged", record, previous, transaction, references: NOTHING, stored: () => previous };
    }
    const next = this.#recordOf(input, previous?.record, call);
    const { retained, removed } = this.#pruneHistory(next, previous?.record);
    const record = retained.oldest === 1 ? next : { ...next, history: retained };
    const text = packages.textOf(record);
    assertFits(input, text);
    const put = previous
      ? packages.stageUpdate(previous, record, text)
      : packages.stageCreate(name, record, undefined, text);
    return {
      name,
      status: previous ? "updated" : "created",
      record,
      previous,
      transaction: combineTransactions(put, history.stage(record, text, removed)),
      references,
      stored: (revision) => packages.committed(put, revision, previous),
    };
  }

  async #checkedReferences(input: Package, beside: PendingPackages | undefined): Promise<Transaction> {
    const { references } = this.#deps;
    const { packages, pending, violations } = await references.dependenciesOf(input, beside);
    assertValid(input, [...checkPackage(input), ...violations]);
    return combineTransactions(
      ...packages.map((each) => references.stageReference(each, input.name)),
      ...pending.map((each) => references.stagePendingReference(each, input.name)),
    );
  }

  #pruneHistory({ package: { name }, revision }: PackageRecord, previous: PackageRecord | undefined) {
    const { revisionsInUse, revisionsKept } = this.#deps;
    const keep = revisionsKept() ?? DEFAULT_REVISIONS_KEPT;
    const before = previous?.history ?? ALL_RETAINED;
    if (revision - before.oldest < keep && before.pinned.length === 0) return { retained: before, removed: [] };
    const inUse = revisionsInUse(name);
    return pruneRevisions(before, revision, { keep, isPinned: (each) => inUse.has(each) });
  }

  #recordOf(input: Package, previous: PackageRecord | undefined, call: Call): PackageRecord {
    const now = timestamp(this.#deps.ambient.clock.now());
    const createdAt = previous?.package.metadata.createdAt ?? now;
    const record = {
      package: { ...input, metadata: { ...input.metadata, createdAt, updatedAt: now } },
      revision: (previous?.revision ?? 0) + 1,
      author: call.caller,
      createdAt: now,
    };
    return call.reason === undefined ? record : { ...record, reason: call.reason };
  }
}

const NOTHING: Transaction = { writes: [] };
