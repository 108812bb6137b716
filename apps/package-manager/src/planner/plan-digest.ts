import { hashJson } from "@oaas/foundation/hash";
import type { DeploymentPlan } from "./plan-types.ts";
import { planContent, type UnitContent } from "./plan-units.ts";

/** The parts of a plan that a digest distinguishes, by their API names and in digest order. */
const PARTS = [
  "target_availability",
  "replicas",
  "best_effort",
  "package_revision",
  "functions, configuration or requirements",
  "clusters",
  "scales",
  "odgm",
  "rollout",
] as const;

/** Hash digits per part: enough to name the changed part; the hash of the whole plan detects the change. */
const PART_DIGITS = 4;
const DIGEST_PATTERN = new RegExp(`^[0-9a-f]{40}-([0-9a-f]{${PARTS.length * PART_DIGITS}})$`);

/**
 * Equal exactly for plans with the same content: a hash of the whole plan, followed by some digits of the hash of each
 * part. A client that has only the digest can learn which parts changed, also after a restart of the package manager.
 */
export function planDigest(plan: Omit<DeploymentPlan, "digest">): string {
  const parts = partsOf(plan);
  const hashes = PARTS.map((part) => hashJson(parts[part] ?? null));
  return `${hashJson(hashes)}-${hashes.map((hash) => hash.slice(0, PART_DIGITS)).join("")}`;
}

/** The parts in which the plans of two digests differ; none if one of them is not a digest. */
export function changedParts(before: string, after: string): readonly string[] {
  const [, beforeParts] = DIGEST_PATTERN.exec(before) ?? [];
  const [, afterParts] = DIGEST_PATTERN.exec(after) ?? [];
  if (beforeParts === undefined || afterParts === undefined) return [];
  const digitsOf = (all: string, index: number): string => all.slice(index * PART_DIGITS, (index + 1) * PART_DIGITS);
  return PARTS.filter((_, index) => digitsOf(beforeParts, index) !== digitsOf(afterParts, index));
}

function partsOf(plan: Omit<DeploymentPlan, "digest">): Readonly<Record<(typeof PARTS)[number], unknown>> {
  const { target, replicas, bestEffort, shared, units, odgm, rollout } = planContent(plan);
  const { packageRevision, ...definition } = shared;
  return {
    target_availability: target,
    replicas,
    best_effort: bestEffort,
    package_revision: packageRevision,
    "functions, configuration or requirements": definition,
    clusters: units.map(({ functions: _functions, ...unit }) => unit),
    scales: scalesOf(units),
    odgm,
    rollout,
  };
}

/** Each distinct scale once, and its index per unit: most clusters share a scale, and hashing cost grows by the byte. */
function scalesOf(units: readonly UnitContent[]): object {
  const numbers = new Map<string, number>();
  const ofUnits = units.map(({ functions }) => {
    const scales = JSON.stringify(
      functions.map(({ functionKey, minScale, maxScale }) => [functionKey, minScale, maxScale]),
    );
    const number = numbers.get(scales) ?? numbers.size;
    numbers.set(scales, number);
    return number;
  });
  return { ofUnits, scales: [...numbers.keys()] };
}
