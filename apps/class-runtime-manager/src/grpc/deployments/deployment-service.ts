import { DeploymentService, DeployOutcome, StatusCode, type DeleteDeploymentRequest } from "@oaas/contracts/grpc";
import {
  failedPrecondition,
  isFault,
  KeyedQueue,
  resourceExhausted,
  unavailable,
  type Ambient,
} from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { bindService, type BoundService, type Call } from "@oaas/rpc";
import { explanationToWire } from "../../explain/explanation-to-wire.ts";
import { classRuntimeToStatusReply, classRuntimeToSummary } from "../../mapping/status/class-runtime-to-wire.ts";
import type { CrmMetrics } from "../../telemetry.ts";
import { ChangeLog } from "../listing/change-log.ts";
import { deploy, deployReply } from "./deploy.ts";
import { notLeading, whileLeading, type Leadership } from "../access/leadership.ts";
import { listClasses } from "../listing/list-classes.ts";
import { locate } from "./find-class.ts";
import type { NamespaceRules } from "../access/namespaces.ts";
import type { ClassDirectory, ClassStore, StoredClass } from "../../classes/ports.ts";
import type { Explainer } from "./explainer.ts";
import type { ServeCheck } from "./serve-check.ts";
import { watchClasses } from "../listing/watch-classes.ts";

/** What the service that deploys classes needs. */
export interface DeploymentServiceDeps {
  readonly ambient: Ambient;
  readonly namespaces: NamespaceRules;
  readonly profile: string;
  readonly directory: ClassDirectory;
  readonly store: ClassStore;
  readonly leadership: Leadership;
  readonly check: ServeCheck;
  readonly explainer: Explainer;
  readonly logger: Logger;
  readonly metrics: CrmMetrics;
  /** Watch calls at the same time. Default 256. */
  readonly maxWatchers?: number;
  readonly bookmarkMs?: number;
}

const OUTCOMES = {
  [DeployOutcome.UNSPECIFIED]: "unchanged",
  [DeployOutcome.CREATED]: "created",
  [DeployOutcome.UPDATED]: "updated",
  [DeployOutcome.UNCHANGED]: "unchanged",
} as const satisfies Record<DeployOutcome, string>;

/**
 * Deploys classes to this cluster and tells how they are. Every replica answers reads from its cache; writes are the leader's, and
 * others say who that is.
 */
export function deploymentService(deps: DeploymentServiceDeps): BoundService {
  const queue = new KeyedQueue();
  const log = new ChangeLog(deps.directory, deps.ambient.ids.uuid());
  const writing = { ...deps, queue };
  const reading = { ...deps, log };
  let watchers = 0;
  return bindService(DeploymentService, {
    deploy: async (request, call) => {
      const deploymentId = request.deploymentUnit?.id ?? "";
      const deployed = await deploy(request, call, writing);
      const outcome = OUTCOMES[deployed.outcome as keyof typeof OUTCOMES];
      deps.metrics.deployments.add(1, { outcome });
      if (outcome !== "unchanged") deps.logger.info(`a class runtime was ${outcome}`, factsOf(deployed.object));
      return deployReply(deploymentId, deployed);
    },
    getDeploymentStatus: async (request, call) => classRuntimeToStatusReply(await locate(request, deps, call.signal)),
    deleteDeployment: async (request, call) => {
      const message = await remove(request, call, deps);
      deps.metrics.deployments.add(1, { outcome: "deleted" });
      return { status: StatusCode.OK, message };
    },
    listClassRuntimes: async (request) => {
      refuseUnsynced(deps.directory);
      return listClasses(request, reading);
    },
    getClassRuntime: async (request, call) => ({
      deployment: classRuntimeToSummary(await locate(request, deps, call.signal)),
    }),
    watchClassRuntimes: async function* (request, call) {
      refuseUnsynced(deps.directory);
      const most = deps.maxWatchers ?? 256;
      if (watchers >= most) {
        throw resourceExhausted("watchers", `${most} callers watch already; try again when one of them has gone`);
      }
      watchers += 1;
      try {
        yield* watchClasses(request, call, reading);
      } finally {
        watchers -= 1;
      }
    },
    explainClassRuntime: async (request, call) => {
      const object = await locate(request, deps, call.signal);
      const functionKey = request.functionKey === "" ? undefined : request.functionKey;
      return explanationToWire(await deps.explainer.explain(object, functionKey, call.signal));
    },
  });
}

function refuseUnsynced({ isSynced }: ClassDirectory): void {
  if (isSynced) return;
  throw unavailable("the Kubernetes API", "the class runtimes are not read yet; try again in a moment", {
    retryAfterMs: 500,
  });
}

/** Asks for the removal of exactly what was meant; a late retry never removes what was made since. */
async function remove(request: DeleteDeploymentRequest, call: Call, deps: DeploymentServiceDeps): Promise<string> {
  const meant = await locate(request, deps, call.signal);
  const { namespace, name } = meant.metadata;
  if (meant.writtenAs !== undefined) {
    throw failedPrecondition(
      `deployment "${request.deploymentId}"`,
      `deployment "${request.deploymentId}" is the ${meant.writtenAs} ${namespace}/${name}; delete it where it was made, by kubectl say`,
    );
  }
  if (!deps.leadership.isLeading) throw notLeading(deps.leadership);
  const object = await deps.store.read({ namespace, name }, call.signal);
  if (object === undefined) return "it is gone";
  refuseNewer(object, request.revision);
  if (object.metadata.deletionTimestamp !== undefined) return "it is being deleted already";
  try {
    await whileLeading(deps.leadership, () => deps.store.remove(object, call.signal));
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return "it is gone";
    throw thrown;
  }
  deps.logger.info("the deletion of a class runtime was asked for", factsOf(object));
  return "deletion accepted";
}

function refuseNewer({ spec }: StoredClass, sent: bigint | undefined): void {
  const stored = spec.origin?.revision;
  if (stored === undefined || sent === undefined || BigInt(stored) <= sent) return;
  throw failedPrecondition(
    `revision ${sent}`,
    `the cluster has revision ${stored}, which is newer than the revision ${sent} that is to be deleted`,
  );
}

function factsOf({ metadata, spec }: StoredClass) {
  const { namespace, name } = metadata;
  return { deployment_id: spec.origin?.deployment_id ?? name, object: `${namespace}/${name}` };
}
