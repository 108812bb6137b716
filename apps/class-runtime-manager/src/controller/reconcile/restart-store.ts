import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { isFault } from "@oaas/foundation";
import { keyOf, refOf, type KubeObject, type ObjectRef, type Stored } from "@oaas/kube-core";
import type { ReconcileContext } from "@oaas/kube-runtime";
import { ownerLabelValue } from "../../templates/index.ts";
import {
  decideRestart,
  nextRecord,
  type RestartDecision,
  type RestartInput,
} from "../../state-store/decide-restart.ts";
import {
  formatRestartRecord,
  parseRestartRecord,
  RESTARTS_ANNOTATION,
  type RestartRecord,
} from "../../state-store/restart-record.ts";
import {
  configurationStatus,
  heldStatus,
  restartStatus,
  type ConfigurationStatus,
  type RestartStatus,
} from "../../state-store/restart-status.ts";
import { readRunningStore, type MemberPod, type RunningStore } from "../../state-store/running-store.ts";
import { PODS } from "../kinds/resource-types.ts";
import { classEventAnnotations } from "./log-fields.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";

/** What a pass found out about restarts of the state store. */
export interface StoreRestart<T extends KubeObject = KubeObject> {
  /** The class with the record of this pass, if it was written. */
  readonly object?: Stored<T> | undefined;
  readonly configuration?: ConfigurationStatus;
  readonly restart?: RestartStatus | undefined;
  /** When to decide again, if the decision depends on time. */
  readonly recheckMs?: number;
}

/** The children of a class, and those of its state store that are left as they are. */
export interface StoreChildren {
  readonly children: readonly KubeObject[];
  readonly held?: readonly ObjectRef[] | undefined;
}

/** A decision that waits for time or for the next reading is made again after this time. */
const RECHECK_MS = 5_000;
const AGAIN_MS = 1_000;
const WAITING: ReadonlySet<RestartDecision["kind"]> = new Set(["wait", "wait-for-turn", "restart"]);

/** The state store of a class as it runs; undefined without one. */
export function runningStoreOf<T extends KubeObject>(
  object: Stored<T>,
  deps: Pick<ReconcileDeps<T>, "children" | "pods" | "classKind">,
  children: readonly KubeObject[] = deps.children.childrenOf(object.metadata.uid).map((child) => child.object),
): RunningStore | undefined {
  const { namespace = "", name } = object.metadata;
  const read = deps.classKind.read(object);
  const everywhere = read.ok ? Object.values(read.value.spec.odgm_config?.env_node_ids ?? {}).flat() : [];
  return readRunningStore(children, deps.pods.podsOf(namespace, ownerLabelValue(name)), everywhere);
}

/** What the decision depends on; undefined without a state store. */
export function restartInput<T extends KubeObject>(
  object: Stored<T>,
  store: RunningStore,
  configuration: ConfigurationStatus,
  deps: ReconcileDeps<T>,
): RestartInput {
  const read = deps.classKind.read(object);
  return {
    nowMs: deps.clock.now(),
    allowRestart: read.ok && mayRestart(read.value.spec.odgm_config),
    isChecked: deps.odgmChecks === "on",
    layout: store.layout,
    members: store.members,
    reading: deps.storeReading(object.metadata.uid),
    settingsChangedAtMs: Date.parse(configuration.since),
    record: parseRestartRecord(object.metadata.annotations?.[RESTARTS_ANNOTATION]),
  };
}

/** A changed layout gives up the objects, so that it includes the restart that it needs. */
function mayRestart(config: ClassRuntimeSpec["odgm_config"]): boolean {
  return config?.allow_restart === true || config?.allow_layout_change === true;
}

/**
 * Restarts at most one node of the state store, by deleting its pod.
 *
 * *Guarantees*: every decision is made from the cluster alone, so that a manager that is killed at any point decides the
 * same again; what a restart uses up (a turn, an attempt) is recorded before the deletion; only the pod that was decided
 * about is deleted.
 */
export async function restartStore<T extends KubeObject>(
  object: Stored<T>,
  { children, held = [] }: StoreChildren,
  { signal, logger }: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<StoreRestart<T>> {
  const store = runningStoreOf(object, deps, children);
  if (store === undefined) return {};
  const previous = deps.classKind.statusOf(object)?.odgm_cluster_status?.configuration;
  const configuration = configurationStatus(store, previous, deps.clock.now());
  if (held.length > 0) {
    const names = held.map(({ kind, name }) => `${kind} ${name}`);
    return { configuration, restart: heldStatus(names) };
  }
  const input = restartInput(object, store, configuration, deps);
  const decision = decideRestart(input);
  const found = { configuration, restart: restartStatus(decision) };
  let written: Stored<T> | undefined;
  try {
    written = await writeRecord(object, nextRecord(input, decision), signal, deps);
    if (decision.kind === "restart") await deletePod(decision.pod, signal, deps);
  } catch (thrown) {
    // The class has changed, or the pod was replaced: the next pass decides again.
    if (isFault(thrown, "conflict") || isFault(thrown, "not-found"))
      return { ...found, object: written, recheckMs: AGAIN_MS };
    if (!isFault(thrown, "permission-denied") || found.restart === undefined) throw thrown;
    return { configuration, object: written, restart: { ...found.restart, state: "Refused", message: thrown.message } };
  }
  if (decision.kind === "restart") {
    recordRestart(object, decision, deps);
    logger.info("restarted state store node", { node_id: decision.nodeId, reason: decision.reason });
  }
  return { ...found, object: written, ...(WAITING.has(decision.kind) ? { recheckMs: RECHECK_MS } : {}) };
}

async function writeRecord<T extends KubeObject>(
  object: Stored<T>,
  record: RestartRecord,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<Stored<T> | undefined> {
  const before = object.metadata.annotations?.[RESTARTS_ANNOTATION];
  const after = formatRestartRecord(record);
  if (before === after) return undefined;
  const metadata = {
    resourceVersion: object.metadata.resourceVersion,
    annotations: { [RESTARTS_ANNOTATION]: after ?? null },
  };
  const written = await deps.client
    .resource(deps.classKind.type)
    .patch(keyOf(object), "merge", { metadata }, { signal });
  deps.ownWrites.record(written);
  return written;
}

function deletePod<T extends KubeObject>(
  { key, uid }: MemberPod,
  signal: AbortSignal,
  { client }: ReconcileDeps<T>,
): Promise<void> {
  return client.resource(PODS).delete(key, { uid, signal });
}

function recordRestart<T extends KubeObject>(
  object: Stored<T>,
  { message, pod }: Extract<RestartDecision, { kind: "restart" }>,
  deps: ReconcileDeps<T>,
): void {
  deps.events.record({
    type: "Normal",
    reason: "NodeRestarted",
    action: "RestartStateStore",
    note: message,
    regarding: refOf(object),
    related: refOf(pod.object),
    annotations: classEventAnnotations(object),
  });
}
