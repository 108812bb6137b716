import { Fault } from "@oaas/foundation";
import type { VersionCondition } from "../use-cases.ts";

/** The ETag of a version. */
export function etagOf(version: number): string {
  return `"${version}"`;
}

/** The ETag of the same version in an encoding, which are other bytes (RFC 9110, 8.8.3.3). */
export function encodedEtag(etag: string, encoding: string): string {
  return `${etag.slice(0, -1)}-${encoding}"`;
}

/** A version, in whatever encoding its bytes were read. */
const OUR_TAG = /^(W\/)?"(\d{1,15})(?:-[a-z]+)?"$/;
/** What stands between quotes may have commas. */
const ENTITY_TAG = /(?:W\/)?"[^"]*"/g;

/** The tags of a list; `any` for an asterisk, undefined when it is no list of ETags. */
function tagsIn(list: string): readonly string[] | "any" | undefined {
  if (list.trim() === "*") return "any";
  const tags = list.match(ENTITY_TAG);
  return tags !== null && /^[\s,]*$/.test(list.replaceAll(ENTITY_TAG, "")) ? tags : undefined;
}

/** The versions of our own tags; what is weak counts only where bytes do not matter. */
function versionsOf(tags: readonly string[] | "any", weak: boolean): readonly number[] | "any" {
  if (tags === "any") return "any";
  return tags.flatMap((tag) => {
    const [, isWeak, version] = OUR_TAG.exec(tag) ?? [];
    return version === undefined || (isWeak !== undefined && !weak) ? [] : [Number(version)];
  });
}

/** The condition of a write in If-Match and If-None-Match; undefined when there is none. One that cannot be read is refused, and nothing written. */
export function conditionIn(
  ifMatch: string | undefined,
  ifNoneMatch: string | undefined,
): VersionCondition | undefined {
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  const wanted = ifMatch === undefined ? undefined : versionsOf(tagsIn(ifMatch) ?? [], false);
  if (ifMatch !== undefined && wanted?.length === 0) throw unknownTag("If-Match", ifMatch);
  const had = ifNoneMatch === undefined ? undefined : tagsIn(ifNoneMatch);
  if (ifNoneMatch !== undefined && had === undefined) throw unknownTag("If-None-Match", ifNoneMatch);
  return {
    ...(wanted === undefined ? {} : { oneOf: wanted }),
    ...(had === undefined ? {} : { noneOf: versionsOf(had, true) }),
  };
}

function unknownTag(header: string, value: string): Fault {
  return mismatch(
    value,
    `${header} is ${value}, which no ETag of this service is; send the ETag of the last answer, in quotes`,
  );
}

function mismatch(value: string, message: string): Fault {
  return new Fault({ kind: "conflict", resource: "version", name: value }, message, { code: "OAAS_VERSION_MISMATCH" });
}

/** The tag, without its weakness, by which If-None-Match knows the version of this ETag; undefined when it does not. */
export function knownTag(ifNoneMatch: string, etag: string): string | undefined {
  const tags = tagsIn(ifNoneMatch);
  if (tags === "any") return etag;
  const version = OUR_TAG.exec(etag)?.[2];
  return tags?.find((tag) => OUR_TAG.exec(tag)?.[2] === version)?.replace(/^W\//, "");
}

/** Why a thing of this ETag is not what If-Match wants; undefined when it is. */
export function unwanted(ifMatch: string, etag: string): Fault | undefined {
  const versions = versionsOf(tagsIn(ifMatch) ?? [], false);
  if (versions === "any" || versions.includes(Number(OUR_TAG.exec(etag)?.[2]))) return undefined;
  return mismatch(ifMatch, `The ETag is ${etag}, and If-Match is ${ifMatch}; leave it out to get what there is`);
}
