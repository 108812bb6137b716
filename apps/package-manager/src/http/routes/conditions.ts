import { invalidArgument } from "@oaas/foundation";
import { DeploymentCondition } from "@oaas/models";

/** A condition that a list is asked for, in any casing. */
export function conditionIn(parameter: string, word: string): DeploymentCondition {
  const condition = word.toLowerCase() as DeploymentCondition;
  const known = Object.values(DeploymentCondition);
  if (known.includes(condition)) return condition;
  const violation = { path: `$.${parameter}`, message: `"${word}" is no condition`, fix: `use ${known.join(", ")}` };
  throw invalidArgument("the query", [violation]);
}
