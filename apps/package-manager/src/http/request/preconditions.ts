import { HEADERS, omitUndefined } from "@oaas/contracts/rest";
import { Fault } from "@oaas/foundation";
import type { VersionCondition } from "../../use-cases.ts";

/** The ETag of a version; a representation with masked secrets has its own. */
export function etagOf(version: number, isMasked = false): string {
  return isMasked ? `"${version}.masked"` : `"${version}"`;
}

/** The ETag of the same version in an encoding: its bytes differ (RFC 9110, 8.8.3.3). */
export function encodedEtag(etag: string, encoding: string): string {
  return `${etag.slice(0, -1)}-${encoding}"`;
}

/** One of our tags: a version, whether its secrets are masked, and the encoding of its bytes. */
const OUR_TAG = /^(W\/)?"((\d{1,15})(?:\.masked)?)(?:-[a-z]+)?"$/;
/** The quoted part may contain commas. */
const ENTITY_TAG = /(?:W\/)?"[^"]*"/g;

/** The tags of a list; `any` for an asterisk, undefined when it is not a list of ETags. */
function tagsIn(list: string): readonly string[] | "any" | undefined {
  if (list.trim() === "*") return "any";
  const tags = list.match(ENTITY_TAG);
  return tags !== null && /^[\s,]*$/.test(list.replaceAll(ENTITY_TAG, "")) ? tags : undefined;
}

/** The versions of our own tags; weak tags count only in weak comparisons. */
function versionsOf(tags: readonly string[] | "any", weak: boolean): readonly number[] | "any" {
  if (tags === "any") return "any";
  return tags.flatMap((tag) => {
    const [, isWeak, , version] = OUR_TAG.exec(tag) ?? [];
    return version === undefined || (isWeak !== undefined && !weak) ? [] : [Number(version)];
  });
}

/** The condition of a write from If-Match and If-None-Match; throws when a header is not a list of ETags. */
export function conditionOf(request: { list(name: string): string | undefined }): VersionCondition | undefined {
  const [ifMatch, ifNoneMatch] = [request.list(HEADERS.ifMatch), request.list(HEADERS.ifNoneMatch)];
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  const oneOf = ifMatch === undefined ? undefined : versionsOf(tagsIn(ifMatch) ?? [], false);
  if (ifMatch !== undefined && oneOf?.length === 0) throw unknownTag("If-Match", ifMatch);
  const tags = ifNoneMatch === undefined ? undefined : tagsIn(ifNoneMatch);
  if (ifNoneMatch !== undefined && tags === undefined) throw unknownTag("If-None-Match", ifNoneMatch);
  return omitUndefined({ oneOf, noneOf: tags && versionsOf(tags, true) });
}

function unknownTag(header: string, value: string): Fault {
  return mismatch(
    value,
    `${header} is ${value}, which is not an ETag of this service; send the ETag of the last response, in quotes`,
  );
}

function mismatch(value: string, message: string): Fault {
  return new Fault({ kind: "conflict", resource: "version", name: value }, message, { code: "OAAS_VERSION_MISMATCH" });
}

/** The tag of If-None-Match, without its weakness, of the same version and masking as this ETag; undefined when there is none. */
export function matchingTag(ifNoneMatch: string, etag: string): string | undefined {
  const tags = tagsIn(ifNoneMatch);
  if (tags === "any") return etag;
  const representation = OUR_TAG.exec(etag)?.[2];
  return tags?.find((tag) => OUR_TAG.exec(tag)?.[2] === representation)?.replace(/^W\//, "");
}

/** Why If-Match rejects a resource of this ETag; undefined when it accepts it. */
export function versionMismatch(ifMatch: string, etag: string): Fault | undefined {
  const versions = versionsOf(tagsIn(ifMatch) ?? [], false);
  if (versions === "any" || versions.includes(Number(OUR_TAG.exec(etag)?.[3]))) return undefined;
  return mismatch(ifMatch, `The ETag is ${etag}, and If-Match is ${ifMatch}; omit it to get the current version`);
}
