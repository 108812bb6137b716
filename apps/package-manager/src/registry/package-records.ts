import { equalMembers } from "@oaas/foundation";
import { digestJson } from "@oaas/foundation/hash";
import { packageToWire } from "@oaas/contracts/rest";
import type { Package, Revision } from "@oaas/models";
import type { CollectionDefinition } from "@oaas/storage";
import type { RetainedRevisions } from "../history/retention.ts";
import { maskPackage } from "../masking/mask-settings.ts";
import type { RegisteredPackage } from "../use-cases.ts";

/** A stored package revision. The digest is computed from the content when it is needed. */
export interface PackageRecord extends Omit<Revision, "digest"> {
  readonly package: Package;
  /** The revisions that are stored, in the current record; all when absent. */
  readonly history?: RetainedRevisions;
}

/** Decoded records to keep; beyond that the oldest are decoded again. */
const REMEMBERED = 4096;

export const PACKAGES = {
  name: "packages",
  codec: { version: 1, decode: packageRecord },
  indexes: { dependency: ({ package: { dependencies } }: PackageRecord) => dependencies },
  cacheSize: REMEMBERED,
} satisfies CollectionDefinition<PackageRecord>;

/** Every revision, by `revisionId`. */
export const PACKAGE_REVISIONS = {
  name: "package-revisions",
  codec: { version: 1, decode: packageRecord },
} satisfies CollectionDefinition<PackageRecord>;

/** The last user of a package. Written with each new reference, so that a removal conflicts with it. */
export const PACKAGE_REFERENCES = {
  name: "package-ties",
  codec: { version: 1, decode: (json: unknown) => json as PackageReference },
} satisfies CollectionDefinition<PackageReference>;

export interface PackageReference {
  readonly by: string;
}

/** Revisions of a package sort by number. */
export function revisionId(name: string, revision: number): string {
  return `${name}/${String(revision).padStart(10, "0")}`;
}

/** The package in its JSON form without timestamps, which differ in every revision. */
export function packageContent(definition: Package): object {
  return packageToWire({ ...definition, metadata: withoutTimes(definition.metadata) });
}

const TIMES: readonly (keyof Package["metadata"])[] = ["createdAt", "updatedAt"];
const METADATA: readonly (keyof Package)[] = ["metadata"];

/** Whether two packages are equal apart from their timestamps. */
export function isSameContent(a: Package, b: Package): boolean {
  return equalMembers(a.metadata, b.metadata, TIMES) && equalMembers(a, b, METADATA);
}

/** A revision in the form of the API. Its digest covers the content without timestamps. */
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
    throw new TypeError("not a package record");
  return record as PackageRecord;
}

const registeredPackages = new WeakMap<PackageRecord, RegisteredPackage>();

/** The record in the form of the API; its JSON text is built once per revision, on the first read. */
export function registeredPackage(record: PackageRecord): RegisteredPackage {
  let known = registeredPackages.get(record);
  if (known === undefined) {
    const json = JSON.stringify(packageToWire(record.package));
    const masked = maskPackage(record.package);
    known = {
      package: record.package,
      revision: record.revision,
      json,
      masked: masked === record.package ? undefined : { package: masked, json: JSON.stringify(packageToWire(masked)) },
    };
    registeredPackages.set(record, known);
  }
  return known;
}
