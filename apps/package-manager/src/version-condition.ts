import { conflict, Fault } from "@oaas/foundation";

/** What must be so of a thing's version before it is written. */
export interface VersionCondition {
  /** It is one of these; `any`: the thing is there. */
  readonly oneOf?: readonly number[] | "any";
  /** It is none of these; `any`: the thing is not there. */
  readonly noneOf?: readonly number[] | "any";
}

/** Refuses a write whose condition the thing does not meet; without a version there is no such thing. */
export function assertVersionOf(
  resource: string,
  name: string,
  version: number | undefined,
  { oneOf, noneOf }: VersionCondition,
): void {
  if (oneOf !== undefined && !isAmong(version, oneOf))
    throw version === undefined
      ? mismatch(resource, name, "does not exist")
      : conflict(resource, name, { code: "OAAS_VERSION_MISMATCH" });
  if (noneOf !== undefined && isAmong(version, noneOf))
    throw mismatch(resource, name, noneOf === "any" ? "exists already" : `has the version ${version}`);
}

function isAmong(version: number | undefined, versions: readonly number[] | "any"): boolean {
  return version !== undefined && (versions === "any" || versions.includes(version));
}

function mismatch(resource: string, name: string, how: string): Fault {
  return new Fault(
    { kind: "conflict", resource, name },
    `${resource} "${name}" ${how}, which the request has ruled out`,
    { code: "OAAS_VERSION_MISMATCH" },
  );
}
