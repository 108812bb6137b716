import { invalidArgument, notFound } from "@oaas/foundation";
import type { Package, PackageName, Revision } from "@oaas/models";
import { Collection, type KeyValueStore, type RecordText, type Transaction } from "@oaas/storage";
import { jsonChanges } from "../history/json-changes.ts";
import type { Diff, ListPage, PackagePreview, PageRequest } from "../use-cases.ts";
import { boundedPage } from "../paging.ts";
import { PACKAGE_REVISIONS, packageContent, revisionId, revisionOf, type PackageRecord } from "./package-records.ts";

/** The immutable revisions of packages, numbered from 1 without gaps. */
export class PackageHistory {
  readonly #revisions: Collection<PackageRecord>;

  constructor(store: KeyValueStore) {
    this.#revisions = new Collection(store, PACKAGE_REVISIONS);
  }

  /** No condition: the condition on the package is enough. */
  stage(record: PackageRecord, text: RecordText): Transaction {
    const id = revisionId(record.package.name, record.revision);
    return { writes: this.#revisions.stageCreate(id, record, undefined, text).writes };
  }

  /** One revision of the package whose current record is given. */
  async get(current: PackageRecord, revision: number): Promise<PackageRecord> {
    const { name } = current.package;
    const stored = revision > current.revision ? undefined : await this.#revisions.get(revisionId(name, revision));
    if (!stored) throw notFound("package revision", `${name} ${revision}`);
    return stored.record;
  }

  /** Newest first. */
  async page(current: PackageRecord, request: PageRequest): Promise<ListPage<Revision>> {
    const { limit, offset = 0, pageToken } = boundedPage(request);
    const newest =
      pageToken === undefined ? current.revision - offset : parseRevisionToken(pageToken, current.revision);
    const numbers = Array.from({ length: Math.min(limit, Math.max(0, newest)) }, (_, index) => newest - index);
    const found = await Promise.all(numbers.map((number) => this.get(current, number)));
    const last = numbers.at(-1) ?? 1;
    return {
      items: found.map(revisionOf),
      total: current.revision,
      ...(last > 1 ? { next: String(last - 1) } : {}),
    };
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

function parseRevisionToken(token: string, newest: number): number {
  const number = Number(token);
  if (Number.isSafeInteger(number) && number > 0 && number <= newest) return number;
  throw invalidArgument("the page token", [
    {
      path: "$.page_token",
      message: "is not a token of this list",
      fix: "pass the token of the previous page unchanged, or omit it to start at the first page",
    },
  ]);
}
