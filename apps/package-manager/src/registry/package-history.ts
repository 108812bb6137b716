import type { Package, PackageName, Revision } from "@oaas/models";
import { Collection, combineTransactions, type KeyValueStore, type RecordText, type Transaction } from "@oaas/storage";
import { jsonChanges } from "../history/json-changes.ts";
import { ALL_RETAINED, missingRevision, retainedNumbers } from "../history/retention.ts";
import type { Diff, ListPage, PackagePreview, PageRequest } from "../use-cases.ts";
import { boundedPage, pageOfRevisions } from "../paging.ts";
import { PACKAGE_REVISIONS, packageContent, revisionId, revisionOf, type PackageRecord } from "./package-records.ts";

/** The immutable revisions of packages, numbered from 1. The oldest are removed, see `pruneRevisions`. */
export class PackageHistory {
  readonly #revisions: Collection<PackageRecord>;

  constructor(store: KeyValueStore) {
    this.#revisions = new Collection(store, PACKAGE_REVISIONS);
  }

  /** Adds a revision and removes old ones. No condition: the condition on the package is enough. */
  stage(record: PackageRecord, text: RecordText, removed: readonly number[]): Transaction {
    const { name } = record.package;
    const { writes } = this.#revisions.stageCreate(revisionId(name, record.revision), record, undefined, text);
    const deletions = removed.map((revision) => this.#revisions.stageDeleteUnread(revisionId(name, revision)));
    return combineTransactions({ writes }, ...deletions);
  }

  /** One revision of the package whose current record is given. */
  async get(current: PackageRecord, revision: number): Promise<PackageRecord> {
    const stored = await this.#find(current, revision);
    if (stored !== undefined) return stored.record;
    const subject = { resource: "package", name: current.package.name, setting: "PACKAGE_REVISIONS_KEEP" } as const;
    throw missingRevision(subject, revision, current.history ?? ALL_RETAINED);
  }

  /** Newest first. */
  page(current: PackageRecord, request: PageRequest): Promise<ListPage<Revision>> {
    const numbers = retainedNumbers(current.history ?? ALL_RETAINED, current.revision);
    return pageOfRevisions(numbers, boundedPage(request), async (revision) => {
      const stored = await this.#find(current, revision);
      return stored && { item: revisionOf(stored.record), bytes: stored.source.entry.value.length };
    });
  }

  /** The changes between two revisions; by default between the last two. */
  async diff(current: PackageRecord, from?: number, to = current.revision): Promise<Diff> {
    const since = from ?? Math.max(1, to - 1);
    const [before, after] = await Promise.all([this.get(current, since), this.get(current, to)]);
    return {
      from: since,
      to,
      changes: jsonChanges(packageContent(before.package), packageContent(after.package)),
    };
  }

  async #find({ package: { name }, revision: newest }: PackageRecord, revision: number) {
    return revision > newest ? undefined : this.#revisions.get(revisionId(name, revision));
  }

  /** Deletes all revisions in the transaction that deletes the package, so that a new package of the name starts at 1. */
  stageRemoval(name: PackageName): Transaction {
    return this.#revisions.stageDeletePrefix(`${name}/`);
  }
}

/** The revision that a write would add to the history. */
export function previewOf(current: PackageRecord | undefined, next: Package): PackagePreview {
  const changes = jsonChanges(current && packageContent(current.package), packageContent(next));
  const status = current === undefined ? "created" : changes.length === 0 ? "unchanged" : "updated";
  const added = status === "unchanged" ? 0 : 1;
  return { id: next.name, status, revision: (current?.revision ?? 0) + added, changes };
}
