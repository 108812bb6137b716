import { compareFindings, finding } from "./finding.ts";
import type { WorkloadHealth } from "./assess.ts";
import type { MissingReference, Observation } from "../observation/observation.ts";

/** Objects that a message names; the others are counted. */
const MOST_NAMED = 10;

/** The health of a workload whose pods need objects that do not exist: they cannot start again. */
export function withMissingReferences(
  health: WorkloadHealth,
  { missingReferences = [] }: Pick<Observation, "missingReferences">,
): WorkloadHealth {
  const { ref, readiness, findings } = health;
  const missing = missingReferences.filter(
    ({ workload }) =>
      workload.kind === ref.kind && workload.name === ref.name && workload.apiVersion === ref.apiVersion,
  );
  if (missing.length === 0) return health;
  const message = missingText(missing);
  return {
    ...health,
    readiness: { ...readiness, ready: false, reason: "ReferenceMissing", message },
    findings: [finding("ReferenceMissing", ref, message), ...findings].sort(compareFindings),
  };
}

function missingText(missing: readonly MissingReference[]): string {
  const texts = missing.map(({ kind, name, usedBy }) => `${kind} ${name} (${usedBy})`).sort();
  const more = texts.length > MOST_NAMED ? [`${texts.length - MOST_NAMED} more`] : [];
  const named = [...texts.slice(0, MOST_NAMED), ...more];
  return `needs ${named.join(", ")}, which ${named.length === 1 ? "does" : "do"} not exist`;
}
