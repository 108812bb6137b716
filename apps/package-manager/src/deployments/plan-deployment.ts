import { invalidArgument, isFault, violationsUnder, type Fault, type Violation } from "@oaas/foundation";
import { comparePlans } from "../planner/explanation/compare-plans.ts";
import type { ClusterObjects } from "../planner/explanation/plan-objects.ts";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { DeploymentStore } from "../stores/deployment-store.ts";
import type { PlanPreview, PlanRequest } from "../use-cases.ts";
import { desiredPlan } from "./deployment-snapshot.ts";
import type { DeploymentPauses } from "./deployment-pauses.ts";
import type { StoredFreezeCalendar } from "./freeze-calendar.ts";
import type { Planning } from "./planning/planning.ts";
import { affectedClusters } from "./stage-deployment.ts";

export interface PlanDeps {
  readonly deployments: Pick<DeploymentStore, "get" | "plan">;
  readonly planning: Pick<Planning, "plan" | "remember">;
  /** Asks the clusters of a plan what it would change there. */
  readonly render: (plan: DeploymentPlan, previous: DeploymentPlan | undefined) => Promise<readonly ClusterObjects[]>;
  readonly pauses: Pick<DeploymentPauses, "of">;
  readonly freezes: Pick<StoredFreezeCalendar, "active">;
}

/** Plans a deployment without changing anything, and compares the plan with the one in force. */
export async function planOnly(
  { deployments, planning, render, pauses, freezes }: PlanDeps,
  request: PlanRequest,
): Promise<PlanPreview> {
  const { key } = request.deployment;
  const current = await deployments.get(key);
  const previous = await desiredPlan(deployments, { key, current });
  const running = { plan: previous, placements: current?.record.placements, deployment: current?.record.deployment };
  const { plan, loss } = await planning.plan(request, running).catch((thrown: unknown) => {
    throw isFault(thrown, "invalid-argument") ? inPlanRequest(thrown.detail.violations) : thrown;
  });
  planning.remember(plan);
  const preview = {
    plan,
    changes: previous && comparePlans(previous, plan),
    loss,
    pause: pauses.of(key),
    freezes: freezes.active(affectedClusters(plan, { current })),
  };
  return request.objects === true ? { ...preview, objects: await render(plan, previous) } : preview;
}

/** In a plan request the deployment is nested under `deployment`, beside `what_if`. */
function inPlanRequest(violations: readonly Violation[]): Fault {
  const isWhatIf = ({ path }: Violation): boolean => path.startsWith("$.what_if.");
  const placed = violations.flatMap((each) => (isWhatIf(each) ? [each] : violationsUnder("$.deployment", [each])));
  return invalidArgument("the plan", placed);
}
