import { invalidArgument, isFault, violationsUnder, type Fault, type Violation } from "@oaas/foundation";
import { comparePlans } from "../planner/explanation/compare-plans.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { PlanPreview, PlanRequest } from "../use-cases.ts";
import { desiredPlan } from "./deployment-snapshot.ts";
import type { Planning } from "./planning/planning.ts";

export interface PlanDeps {
  readonly deployments: Pick<DeploymentStore, "get" | "plan">;
  readonly planning: Pick<Planning, "plan" | "remember">;
}

/** Plans a deployment without changing anything, and compares the plan with the one in force. */
export async function planOnly({ deployments, planning }: PlanDeps, request: PlanRequest): Promise<PlanPreview> {
  const { key } = request.deployment;
  const previous = await desiredPlan(deployments, { key, current: await deployments.get(key) });
  const { plan, loss } = await planning.plan(request, previous).catch((thrown: unknown) => {
    throw isFault(thrown, "invalid-argument") ? inPlanRequest(thrown.detail.violations) : thrown;
  });
  planning.remember(plan);
  return { plan, changes: previous && comparePlans(previous, plan), loss };
}

/** In a plan request the deployment is nested under `deployment`, beside `what_if`. */
function inPlanRequest(violations: readonly Violation[]): Fault {
  const isWhatIf = ({ path }: Violation): boolean => path.startsWith("$.what_if.");
  const placed = violations.flatMap((each) => (isWhatIf(each) ? [each] : violationsUnder("$.deployment", [each])));
  return invalidArgument("the plan", placed);
}
