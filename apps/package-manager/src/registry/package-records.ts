import { hashJson } from "@oaas/foundation";
import { packageToWire } from "@oaas/contracts/rest";
import type { Package } from "@oaas/models";
import type { CollectionDefinition } from "@oaas/storage";
import type { Revision } from "../use-cases.ts";

/** A package as it is kept: the current revision whole. */
export interface PackageRecord extends Revision {
  readonly package: Package;
}

/** A registry of thousands of packages stays decoded; beyond that the least recently added is decoded again. */
const REMEMBERED = 4096;

export const PACKAGES = {
  name: "packages",
  codec: { version: 1, decode: packageRecord },
  indexes: { dependency: ({ package: { dependencies } }: PackageRecord) => dependencies },
  remember: REMEMBERED,
  keepWritten: true,
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
  const { createdAt: _, updatedAt: __, ...metadata } = definition.metadata;
  return packageToWire({ ...definition, metadata });
}

/** What stands for the content: the same for the same package, whenever it was written. */
export function packageDigest(definition: Package): string {
  return `sha256:${hashJson(packageContent(definition))}`;
}

function packageRecord(json: unknown): PackageRecord {
  const record = json as Partial<PackageRecord> | null;
  if (typeof record?.package?.name !== "string" || typeof record.revision !== "number" || !record.digest)
    throw new TypeError("it is no package");
  return record as PackageRecord;
}

const texts = new WeakMap<PackageRecord, string>();

/** The package in the JSON of the REST interface; written once per revision. */
export function packageJson(record: PackageRecord): string {
  let text = texts.get(record);
  if (text === undefined) {
    text = JSON.stringify(packageToWire(record.package));
    texts.set(record, text);
  }
  return text;
}
