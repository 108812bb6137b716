import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";
import type { PolicySettings } from "../enforcement.ts";

/** Changes with every change of a decision, so that an old record is not recomputed with other rules. */
export const POLICY_VERSION = "3";

/** The settings of the design documents; two windows of verification are two up windows. */
export const DEFAULT_POLICY: PolicySettings = {
  version: POLICY_VERSION,
  stabilityMs: 180_000,
  cooldownMs: 120_000,
  maxDelta: 0.3,
  upTolerance: 0.05,
  downTolerance: 0.1,
  upWindowMs: 60_000,
  downWindowMs: 300_000,
  maxGapMs: 90_000,
  emergencyBurnRate: 14.4,
  emergencyRatio: 1.5,
  emergencyRatioMs: 60_000,
  emergencyCooldownMs: 30_000,
  emergencyMinPods: 4,
  emergencyMaxDelta: 1,
  emergencyMinConfidence: 0.5,
  maxDirectionChangesPerHour: 4,
  verificationMs: 120_000,
  verificationTolerance: 0.1,
  freezeMs: 600_000,
  maxReplicas: 20,
};

interface Field {
  readonly member: keyof PolicySettings;
  /** Milliseconds per unit of the document. */
  readonly scale?: number;
  readonly min: number;
  readonly max: number;
  readonly isInteger?: true;
}

const seconds = (member: keyof PolicySettings, min: number): Field => ({ member, scale: 1000, min, max: 86_400 });

/** The members of a policy document. Times are in seconds and shares are fractions of 1. */
const FIELDS: Readonly<Record<string, Field>> = {
  stability_secs: seconds("stabilityMs", 0),
  cooldown_secs: seconds("cooldownMs", 0),
  max_delta: { member: "maxDelta", min: 0.01, max: 10 },
  up_tolerance: { member: "upTolerance", min: 0, max: 1 },
  down_tolerance: { member: "downTolerance", min: 0, max: 0.99 },
  up_window_secs: seconds("upWindowMs", 1),
  down_window_secs: seconds("downWindowMs", 1),
  max_gap_secs: seconds("maxGapMs", 1),
  emergency_burn_rate: { member: "emergencyBurnRate", min: 1, max: 1000 },
  emergency_ratio: { member: "emergencyRatio", min: 1, max: 1000 },
  emergency_ratio_secs: seconds("emergencyRatioMs", 0),
  emergency_cooldown_secs: seconds("emergencyCooldownMs", 0),
  emergency_min_pods: { member: "emergencyMinPods", min: 1, max: 1000, isInteger: true },
  emergency_max_delta: { member: "emergencyMaxDelta", min: 0.01, max: 10 },
  emergency_min_confidence: { member: "emergencyMinConfidence", min: 0, max: 1 },
  max_direction_changes_per_hour: { member: "maxDirectionChangesPerHour", min: 2, max: 60, isInteger: true },
  verification_secs: seconds("verificationMs", 0),
  verification_tolerance: { member: "verificationTolerance", min: 0, max: 10 },
  freeze_secs: seconds("freezeMs", 0),
  max_replicas: { member: "maxReplicas", min: 1, max: 100_000, isInteger: true },
};

/** The names of the members of a policy document. */
export const POLICY_FIELDS: readonly string[] = Object.keys(FIELDS);

/** Reads a policy document; an absent member has its default. Returns all violations. */
export function readPolicySettings(document: unknown): Result<PolicySettings, readonly Violation[]> {
  if (document === null || document === undefined) return ok(DEFAULT_POLICY);
  if (typeof document !== "object" || Array.isArray(document))
    return err([{ path: ROOT_PATH, message: "is not an object", fix: `use members such as ${POLICY_FIELDS[0]}: 180` }]);
  const violations: Violation[] = [];
  const settings: Record<string, unknown> = { ...DEFAULT_POLICY };
  for (const [name, value] of Object.entries(document)) {
    const path = pathOf(ROOT_PATH, name);
    const field = Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
    if (field === undefined) {
      violations.push({ path, message: "is not a setting of the policy", fix: `use ${POLICY_FIELDS.join(", ")}` });
      continue;
    }
    const problem = findProblem(value, field);
    if (problem === undefined) settings[field.member] = (value as number) * (field.scale ?? 1);
    else violations.push({ path, message: problem, fix: `set ${rangeText(field)}` });
  }
  const read = settings as unknown as PolicySettings;
  return violations.length > 0 ? err(violations) : checkTogether(read);
}

function findProblem(value: unknown, { min, max, isInteger }: Field): string | undefined {
  if (typeof value !== "number" || !Number.isFinite(value)) return "is not a number";
  if (isInteger && !Number.isInteger(value)) return `is ${value}, not an integer`;
  return value < min || value > max ? `is ${value}, out of range` : undefined;
}

function rangeText({ min, max, isInteger, scale }: Field): string {
  return `${isInteger ? "an integer" : "a number"}${scale === undefined ? "" : " of seconds"} from ${min} to ${max}`;
}

/** Rejects settings with which a higher load could lead to fewer replicas. */
function checkTogether(settings: PolicySettings): Result<PolicySettings, readonly Violation[]> {
  const rules = [
    {
      isBroken: settings.emergencyMaxDelta < settings.maxDelta,
      path: pathOf(ROOT_PATH, "emergency_max_delta"),
      message: `is ${settings.emergencyMaxDelta}, below max_delta ${settings.maxDelta}`,
    },
    {
      isBroken: settings.emergencyCooldownMs > settings.cooldownMs,
      path: pathOf(ROOT_PATH, "emergency_cooldown_secs"),
      message: `is ${settings.emergencyCooldownMs / 1000}, above cooldown_secs ${settings.cooldownMs / 1000}`,
    },
  ];
  const violations = rules
    .filter(({ isBroken }) => isBroken)
    .map(({ path, message }) => ({ path, message, fix: "the emergency lane must not be slower than the stable lane" }));
  return violations.length > 0 ? err(violations) : ok(settings);
}
