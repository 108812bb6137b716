import type { Reply } from "@oaas/contracts/rest";
import type { Colours } from "./colours.ts";

type Replan = NonNullable<Reply<"getDeploymentStatus">["value"]["replan"]>;

/** The new plan of a deployment with its reason, its changes and its budget. */
export function replanLines(replan: Replan | undefined, colours: Colours): readonly string[] {
  if (replan === undefined) return [];
  const { state, message, since, state_effect: effect, plan_digest: digest, budget, changes } = replan;
  const stateText = state === "applied" ? colours.good(state) : colours.warn(state);
  return [
    `re-plan: ${stateText} (${replan.mode}), since ${since}: ${message}`,
    ...changes.map(({ text, effect: does }) => `  ${text}${does === undefined ? "" : `: ${does}`}`),
    ...(effect === undefined ? [] : [`  stored objects: ${effect}`]),
    ...(digest === undefined || state === "applied" ? [] : [`  digest: ${digest}`]),
    ...(budget === undefined ? [] : [`  ${budgetText(budget)}`]),
  ];
}

function budgetText(budget: NonNullable<Replan["budget"]>): string {
  const own = `${budget.deployment_used} of ${budget.deployment_limit}`;
  const all = `${budget.platform_used} of ${budget.platform_limit}`;
  return `automatic changes in the last hour: ${own} of the deployment, ${all} of the platform`;
}
