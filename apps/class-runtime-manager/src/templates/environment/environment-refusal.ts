import { violationText, type Violation } from "@oaas/foundation";

/** Why the environment of a class cannot be used. The class is rejected: without its environment it has no limits. */
export interface EnvironmentRefusal {
  readonly reason: "EnvironmentMissing" | "EnvironmentInvalid";
  /** What is wrong and the fix. */
  readonly message: string;
}

/** The class names an environment that does not exist. */
export function missingEnvironment(namespace: string, name: string, known: readonly string[]): EnvironmentRefusal {
  const others = known.length === 0 ? "" : `, or set target_environment to one of ${[...known].sort().join(", ")}`;
  return {
    reason: "EnvironmentMissing",
    message: `EnvironmentConfig "${name}" does not exist in namespace "${namespace}"; create it${others}`,
  };
}

/** The environment of the class is invalid. */
export function invalidEnvironment(name: string, violations: readonly Violation[]): EnvironmentRefusal {
  return {
    reason: "EnvironmentInvalid",
    message: `EnvironmentConfig "${name}" is invalid, correct it: ${violations.map(violationText).join("; ")}`,
  };
}
