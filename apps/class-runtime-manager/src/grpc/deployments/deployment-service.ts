import { DeploymentService, DeployOutcome, StatusCode, type DeleteDeploymentRequest } from "@oaas/contracts/grpc";
import { failedPrecondition, isFault, KeyedQueue, unavailable, type Ambient, type Limit } from "@oaas/foundation";
import type { Logger } from "@oaas/observability";
import { bindService, type BoundService, type Call } from "@oaas/rpc";
import { decisionEventName } from "../../enforcement/enforcement-events.ts";
import { explanationToWire } from "../../explain/explanation-to-wire.ts";
import { classRuntimeToStatusReply, classRuntimeToSummary } from "../../mapping/status/class-runtime-to-wire.ts";
import { enforcementToWire } from "../../mapping/status/enforcement-to-wire.ts";
import type { CrmMetrics } from "../../telemetry.ts";
import { ChangeLog } from "../listing/change-log.ts";
import { deploy, deployReply, type DeployDeps, type DeployResult } from "./deploy.ts";
import { invokeFunction, type InvokeDeps } from "../functions/invoke-function.ts";
import { streamLogs, type LogDeps } from "../functions/stream-logs.ts";
import { createAuditLog, type RequestedChange } from "../access/audit.ts";
import { notLeaderFault, writeAsLeader, type Leadership } from "../access/leadership.ts";
import { listClasses } from "../listing/list-classes.ts";
import { findClass } from "./find-class.ts";
import { assertWritable, type NamespaceRules } from "../access/namespaces.ts";
import type { ClassDirectory, ClassStore, StoredClass } from "../../classes/ports.ts";
import type { Explainer } from "./explainer.ts";
import { renderUnit, type RenderUnitDeps } from "./render-unit.ts";
import type { ServeCheck } from "./serve-check.ts";
import { watchClasses } from "../listing/watch-classes.ts";
import { WatchLimit } from "../listing/watch-limit.ts";

/** Dependencies of DeploymentService. */
export interface DeploymentServiceDeps {
  readonly ambient: Ambient;
  readonly namespaces: NamespaceRules;
  readonly profile: string;
  readonly directory: ClassDirectory;
  readonly store: ClassStore;
  readonly leadership: Leadership;
  readonly check: ServeCheck;
  readonly provisionNamespace?: DeployDeps["provisionNamespace"];
  readonly preview: RenderUnitDeps["preview"];
  readonly previewNamespace?: RenderUnitDeps["previewNamespace"];
  readonly explainer: Explainer;
  readonly logs: LogDeps;
  readonly invocations: InvokeDeps;
  readonly traceparent?: DeployDeps["traceparent"];
  readonly logger: Logger;
  readonly metrics: CrmMetrics;
  /** Limit of concurrent watch calls, see `WatchLimit`. Default 256. */
  readonly maxWatchers?: Limit;
  readonly bookmarkMs?: number;
}

/** Concurrent log streams; a quarter of them for each caller. */
const MAX_LOG_STREAMS = 128;

const OUTCOMES = {
  [DeployOutcome.UNSPECIFIED]: "unchanged",
  [DeployOutcome.CREATED]: "created",
  [DeployOutcome.UPDATED]: "updated",
  [DeployOutcome.UNCHANGED]: "unchanged",
} as const satisfies Record<DeployOutcome, string>;

/** DeploymentService of this cluster. Every replica serves reads from its cache; only the leader writes. */
export function deploymentService(deps: DeploymentServiceDeps): BoundService {
  const queue = new KeyedQueue();
  const log = new ChangeLog(deps.directory, deps.ambient.ids.uuid());
  const writing = { ...deps, queue };
  const reading = { ...deps, log };
  const audit = createAuditLog(deps.logger);
  const changeOf = (action: string, namespace: string | undefined, target: string): RequestedChange => ({
    action,
    namespace: namespace === undefined || namespace === "" ? deps.namespaces.fallback : namespace,
    target,
  });
  const watches = new WatchLimit(deps.maxWatchers ?? 256);
  const logStreams = new WatchLimit(MAX_LOG_STREAMS);
  return bindService(DeploymentService, {
    deploy: async (request, call) => {
      const deploymentId = request.deploymentUnit?.id ?? "";
      const outcomeOf = (result: DeployResult) => OUTCOMES[result.outcome as keyof typeof OUTCOMES];
      const change = changeOf("deploy", request.namespace, deploymentId);
      const deployed = await audit.record(call, change, () => deploy(request, call, writing), outcomeOf);
      const outcome = outcomeOf(deployed);
      deps.metrics.deployments.add(1, { outcome });
      if (outcome !== "unchanged") deps.logger.info(`class runtime ${outcome}`, logFields(deployed.object));
      return deployReply(deploymentId, deployed);
    },
    renderUnit: (request, call) => renderUnit(request, call, deps),
    getDeploymentStatus: async (request, call) =>
      classRuntimeToStatusReply(await findClass(request, deps, call.signal)),
    deleteDeployment: async (request, call) => {
      const change = changeOf("deleteDeployment", request.namespace, request.deploymentId);
      const message = await audit.record(call, change, () => deleteClass(request, call, deps), String);
      deps.metrics.deployments.add(1, { outcome: "deleted" });
      return { status: StatusCode.OK, message };
    },
    listClassRuntimes: async (request) => {
      rejectIfUnsynced(deps.directory);
      return listClasses(request, reading);
    },
    getClassRuntime: async (request, call) => ({
      deployment: classRuntimeToSummary(await findClass(request, deps, call.signal)),
    }),
    getEnforcement: async (request, call) => {
      const { metadata, status } = await findClass(request, deps, call.signal);
      return { enforcement: enforcementToWire(status, (digest) => decisionEventName(metadata.name ?? "", digest)) };
    },
    watchClassRuntimes: async function* (request, call) {
      rejectIfUnsynced(deps.directory);
      const end = watches.enter(call.caller);
      try {
        yield* watchClasses(request, call, reading);
      } finally {
        end();
      }
    },
    streamLogs: async function* (request, call) {
      const object = await findClass(request, deps, call.signal);
      const end = logStreams.enter(call.caller);
      try {
        yield* streamLogs(object, request, deps.logs, call.signal);
      } finally {
        end();
      }
    },
    invokeFunction: async (request, call) =>
      invokeFunction(await findClass(request, deps, call.signal), request, deps.invocations, call.signal),
    explainClassRuntime: async (request, call) => {
      const object = await findClass(request, deps, call.signal);
      const functionKey = request.functionKey === "" ? undefined : request.functionKey;
      return explanationToWire(await deps.explainer.explain(object, functionKey, call.signal));
    },
  });
}

function rejectIfUnsynced({ isSynced }: ClassDirectory): void {
  if (isSynced) return;
  throw unavailable("the Kubernetes API", "the class runtimes are not loaded yet; try again", {
    retryAfterMs: 500,
  });
}

/** Deletes the requested object by uid, so that a late retry cannot delete a newer one. */
async function deleteClass(request: DeleteDeploymentRequest, call: Call, deps: DeploymentServiceDeps): Promise<string> {
  const found = await findClass(request, deps, call.signal);
  const { namespace, name } = found.metadata;
  assertWritable(deps.namespaces, namespace ?? "");
  if (found.storedAs !== undefined) {
    throw failedPrecondition(
      `deployment "${request.deploymentId}"`,
      `deployment "${request.deploymentId}" is the ${found.storedAs} ${namespace}/${name}; delete it with kubectl`,
    );
  }
  if (!deps.leadership.isLeading) throw notLeaderFault(deps.leadership);
  const object = await deps.store.read({ namespace, name }, call.signal);
  if (object === undefined) return "already deleted";
  rejectNewerRevision(object, request.revision);
  if (object.metadata.deletionTimestamp !== undefined) return "deletion in progress";
  try {
    await writeAsLeader(deps.leadership, () => deps.store.remove(object, call.signal));
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return "already deleted";
    throw thrown;
  }
  deps.logger.info("class runtime deletion requested", logFields(object));
  return "deletion accepted";
}

function rejectNewerRevision({ spec }: StoredClass, sent: bigint | undefined): void {
  const stored = spec.origin?.revision;
  if (stored === undefined || sent === undefined || BigInt(stored) <= sent) return;
  throw failedPrecondition(
    `revision ${sent}`,
    `revision ${sent} is older than revision ${stored} in the cluster; delete with the current revision`,
  );
}

function logFields({ metadata, spec }: StoredClass) {
  const { namespace, name } = metadata;
  return { deployment_id: spec.origin?.deployment_id ?? name, object: `${namespace}/${name}` };
}
