import { Fault, startDeadline, type Ambient } from "@oaas/foundation";
import type { ClusterName } from "@oaas/models";
import type { ClusterObjects } from "../../planner/explanation/plan-objects.ts";
import type { DeploymentPlan, PlannedUnit } from "../../planner/plan-types.ts";
import type { CrmGateway } from "../../ports.ts";
import type { UnitSender } from "../../sagas/unit-sender.ts";

export interface RenderDeps {
  readonly gateway: Pick<CrmGateway, "render">;
  readonly sender: Pick<UnitSender, "encoded">;
  readonly ambient: Ambient;
}

/** A cluster that takes longer does not hold up the plan. */
const RENDER_TIMEOUT_MS = 5_000;

/**
 * Asks every cluster of a plan at once what its unit would change there. A cluster that cannot tell is named with the
 * reason. `previous` is the plan in force: its units in other clusters would be removed.
 */
export async function renderPlan(
  plan: DeploymentPlan,
  previous: DeploymentPlan | undefined,
  deps: RenderDeps,
): Promise<readonly ClusterObjects[]> {
  using deadline = startDeadline(deps.ambient, RENDER_TIMEOUT_MS);
  const rendered = await Promise.all(plan.units.map((unit) => renderUnit(plan, unit, deps, deadline.signal)));
  const kept = new Set<ClusterName>(plan.units.map(({ cluster }) => cluster));
  const left = (previous?.units ?? []).filter(({ cluster }) => !kept.has(cluster));
  return [...rendered, ...left.map(({ cluster, unitId }) => ({ cluster, unitId, state: "removed" as const }))];
}

async function renderUnit(
  plan: DeploymentPlan,
  unit: PlannedUnit,
  { gateway, sender }: RenderDeps,
  signal: AbortSignal,
): Promise<ClusterObjects> {
  const { cluster, unitId } = unit;
  try {
    return {
      cluster,
      unitId,
      state: "rendered",
      unit: await gateway.render(cluster, sender.encoded(plan, unit), { signal, namespace: unit.namespace }),
    };
  } catch (thrown) {
    const fault = Fault.from(thrown);
    const isRefused =
      fault.kind === "invalid-argument" || fault.kind === "failed-precondition" || fault.kind === "already-exists";
    return { cluster, unitId, state: isRefused ? "refused" : "unknown", message: reasonOf(fault, signal) };
  }
}

function reasonOf(fault: Fault, signal: AbortSignal): string {
  if (fault.kind === "unimplemented")
    return "its class runtime manager does not render units for plans (api feature render); update it";
  if (signal.aborted) return `it did not answer within ${RENDER_TIMEOUT_MS / 1000} s`;
  return fault.message;
}
