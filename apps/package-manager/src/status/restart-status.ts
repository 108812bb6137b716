import type { Clock } from "@oaas/foundation";
import type { ClusterName, DeploymentKey, RestartProgress } from "@oaas/models";
import type { Collection } from "@oaas/storage";
import type { DeploymentPlan } from "../planner/plan-types.ts";
import type { DeploymentRecord } from "../records/deployment-record.ts";
import type { RestartTurnRecord } from "../records/restart-turn.ts";
import { restartProgress, type TurnFacts } from "../restarts/decide-turn.ts";
import { storeMembers } from "../restarts/store-members.ts";
import type { UnitObservation } from "./aggregate-status.ts";

export type TurnSource = Pick<Collection<RestartTurnRecord>, "get">;

interface RestartStatusDeps {
  readonly turns?: TurnSource;
  readonly holdOf?: (key: DeploymentKey, record: DeploymentRecord) => TurnFacts["hold"];
  readonly clock: Clock;
}

/** The restarts of a state store; undefined for a class without state, and when no node waits. */
export async function readRestartProgress(
  { turns, holdOf, clock }: RestartStatusDeps,
  key: DeploymentKey,
  record: DeploymentRecord,
  plan: DeploymentPlan | undefined,
  observations: ReadonlyMap<ClusterName, UnitObservation>,
): Promise<RestartProgress | undefined> {
  if (turns === undefined || plan?.odgm === undefined || record.deletion !== undefined) return undefined;
  const members = storeMembers(record, plan, (cluster) => {
    const { unit, reachable, error } = observations.get(cluster) ?? { reachable: false };
    if (!reachable) return { unknown: `it cannot be read: ${error ?? "it does not answer"}` };
    return unit?.report ?? { unknown: "the unit is missing in the cluster" };
  });
  // A turn needs members in several clusters.
  if (members.length < 2) return undefined;
  const turn = await turns.get(key);
  const hold = holdOf?.(key, record);
  const facts = { members, copies: plan.odgm.replicaCount, ...(hold === undefined ? {} : { hold }) };
  return restartProgress(turn?.record, facts, clock.now());
}
