import { isFault } from "@oaas/foundation";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { LOG_FIELDS, type Logger } from "@oaas/observability";
import { conflictOf } from "@oaas/storage";
import type { StoredDeployment } from "../stores/deployment-store.ts";
import { repairSaga } from "../sagas/saga-plans.ts";
import { launch, loadSnapshot, underWay, type DeploymentContext } from "../deployments/context.ts";
import { withReports, type ClusterReports } from "./observed-drift.ts";

export type Reports = ReadonlyMap<ClusterName, ClusterReports>;

/** Deployments written to at the same time. */
const AT_ONCE = 16;
const KEEPER = "keeper";

/** What is to be done about one deployment, by what clusters said after it was read. */
export interface Finding {
  readonly seen: StoredDeployment;
  readonly reports: Reports;
  /** Clusters that are not to be bothered. */
  readonly away: ReadonlySet<string>;
}

/**
 * Notes what clusters said about deployments, and begins a repair where it is not what is wanted. Answers which.
 *
 * *Guarantees*: nothing is done about a deployment that has a saga under way or was written to since it was read; nothing is written
 * where nothing changed.
 */
export async function repairAll(
  context: DeploymentContext,
  logger: Logger,
  findings: Iterable<Finding>,
): Promise<readonly DeploymentKey[]> {
  const due = [...findings].filter(({ seen: { record }, reports, away }) => {
    const next = withReports(record, reports);
    return next !== record || repairSaga(next, away, context.policy, { by: KEEPER, correlationId: "" }) !== undefined;
  });
  const repaired: DeploymentKey[] = [];
  const work = due.values();
  const worker = async (): Promise<void> => {
    for (const finding of work) {
      if (await repair(context, logger, finding)) repaired.push(finding.seen.id as DeploymentKey);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return repaired;
}

/** False when nothing had to be begun, or somebody else was faster: the next look sees what is left to do. */
async function repair(context: DeploymentContext, logger: Logger, { seen, reports, away }: Finding): Promise<boolean> {
  const key = seen.id as DeploymentKey;
  const at = await loadSnapshot(context, key);
  if (at.current?.revision !== seen.revision || underWay(at) !== undefined) return false;
  const record = withReports(at.current.record, reports);
  const correlationId = context.ambient.ids.uuid();
  const saga = repairSaga(record, away, context.policy, { by: KEEPER, correlationId });
  try {
    if (saga === undefined) await context.deployments.deployments.update(at.current, record);
    else await launch(context, at, saga, [context.deployments.stagePut(key, at.current, record)]);
  } catch (thrown) {
    if (conflictOf(thrown) !== undefined || isFault(thrown, "conflict")) return false;
    throw thrown;
  }
  if (saga === undefined) return false;
  logger.info("a deployment is being repaired", {
    [LOG_FIELDS.deploymentId]: key,
    [LOG_FIELDS.correlationId]: correlationId,
    clusters: saga.steps.map(({ target }) => target),
  });
  return true;
}
