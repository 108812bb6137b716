import { hashJson } from "@oaas/foundation/hash";
import type { DeploymentPlan } from "./plan-types.ts";
import { planContent, type UnitContent } from "./plan-units.ts";

/** The parts of a plan that are told apart when one of two is not at hand, in the words of the API and in their order in the digest. */
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

/** Digits of each part: enough to tell what moved, while the hash of the whole tells that something did. */
const PART_DIGITS = 4;
const DIGEST_PATTERN = new RegExp(`^[0-9a-f]{40}-([0-9a-f]{${PARTS.length * PART_DIGITS}})$`);

/**
 * Equal for plans that do the same, different for others: a hash of the whole, and behind it some digits of the hash of each part. So whoever
 * holds nothing but the digest of a plan, as a process after a restart, can tell which parts of it another plan has otherwise.
 */
export function planDigest(plan: Omit<DeploymentPlan, "digest">): string {
  const parts = partsOf(plan);
  const hashes = PARTS.map((part) => hashJson(parts[part] ?? null));
  return `${hashJson(hashes)}-${hashes.map((hash) => hash.slice(0, PART_DIGITS)).join("")}`;
}

/** The parts in which the plans of two digests differ; none where one of them is no digest of ours. */
export function changedParts(before: string, after: string): readonly string[] {
  const [, marks] = DIGEST_PATTERN.exec(before) ?? [];
  const [, present] = DIGEST_PATTERN.exec(after) ?? [];
  if (marks === undefined || present === undefined) return [];
  const markOf = (all: string, index: number): string => all.slice(index * PART_DIGITS, (index + 1) * PART_DIGITS);
  return PARTS.filter((_, index) => markOf(marks, index) !== markOf(present, index));
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

/** Each scale once, and its number for each unit: most clusters have the same, and hashing costs by the byte. */
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
