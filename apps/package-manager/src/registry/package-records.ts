import { equalMembers } from "@oaas/foundation";
import { digestJson } from "@oaas/foundation/hash";
import { packageToWire } from "@oaas/contracts/rest";
import type { Package } from "@oaas/models";
import type { CollectionDefinition } from "@oaas/storage";
import type { RegisteredPackage, Revision } from "../use-cases.ts";

/** A package as it is kept: the current revision whole. Its digest is not kept with it: the content tells it to whoever asks. */
export interface PackageRecord extends Omit<Revision, "digest"> {
  readonly package: Package;
}

/** A registry of thousands of packages stays decoded; beyond that the least recently added is decoded again. */
const REMEMBERED = 4096;

export const PACKAGES = {
  name: "packages",
  codec: { version: 1, decode: packageRecord },
  indexes: { dependency: ({ package: { dependencies } }: PackageRecord) => dependencies },
  remember: REMEMBERED,
} satisfies CollectionDefinition<PackageRecord>;

/** Every revision, by `revisionId`. */
export const PACKAGE_REVISIONS = {
  name: "package-revisions",
  codec: { version: 1, decode: packageRecord },
} satisfies CollectionDefinition<PackageRecord>;

/** Who last came to need a package. Written with whatever needs it, so that a removal cannot overlook it. */
export const PACKAGE_TIES = {
  name: "package-ties",
  codec: { version: 1, decode: (json: unknown) => json as PackageTie },
} satisfies CollectionDefinition<PackageTie>;

export interface PackageTie {
  readonly by: string;
}

/** Revisions of a package sort by number. */
export function revisionId(name: string, revision: number): string {
  return `${name}/${String(revision).padStart(10, "0")}`;
}

/** The package in its JSON form, without the times, which differ in every revision and tell nothing. */
export function packageContent(definition: Package): object {
  return packageToWire({ ...definition, metadata: withoutTimes(definition.metadata) });
}

const TIMES: readonly (keyof Package["metadata"])[] = ["createdAt", "updatedAt"];
const METADATA: readonly (keyof Package)[] = ["metadata"];

/** Whether two packages are the same, whenever they were written. */
export function isSameContent(a: Package, b: Package): boolean {
  return equalMembers(a.metadata, b.metadata, TIMES) && equalMembers(a, b, METADATA);
}

/** A revision as its history tells it. The digest stands for the content: the same for the same package, whenever it was written. */
export function revisionOf({ package: definition, revision, author, reason, createdAt }: PackageRecord): Revision {
  return {
    revision,
    digest: digestJson(packageContent(definition)),
    createdAt,
    ...(author === undefined ? {} : { author }),
    ...(reason === undefined ? {} : { reason }),
  };
}

function withoutTimes(metadata: Package["metadata"]): Package["metadata"] {
  const { createdAt: _, updatedAt: __, ...rest } = metadata;
  return rest;
}

function packageRecord(json: unknown): PackageRecord {
  const record = json as Partial<PackageRecord> | null;
  if (typeof record?.package?.name !== "string" || typeof record.revision !== "number")
    throw new TypeError("it is no package");
  return record as PackageRecord;
}

const handedOut = new WeakMap<PackageRecord, RegisteredPackage>();

/** What the API hands out of a record; written in the JSON of the REST interface once per revision, when somebody first asks. */
export function registered(record: PackageRecord): RegisteredPackage {
  let known = handedOut.get(record);
  if (known === undefined) {
    const json = JSON.stringify(packageToWire(record.package));
    known = {
      package: record.package,
      revision: record.revision,
      json,
    };
    handedOut.set(record, known);
  }
  return known;
}
