import { equalJson, ownerReferenceTo, type Stored } from "@oaas/kube-core";
import {
  create,
  createDecision,
  remove,
  updateStatus,
  type Decision,
  type Step,
  type WriteEvents,
} from "../loop/decision.ts";
import { isAvailable, isFinished, isReady, isTerminating, nextAvailableInMs } from "../objects/pods.ts";
import { CLAIMS, PODS, STATEFUL_SETS } from "../objects/resources.ts";
import type { Claim, ControllerRevision, Pod, PodTemplate, StatefulSet } from "../objects/typed.ts";
import { createPodFromTemplate } from "./pod-from-template.ts";
import { count } from "./replica-set.ts";
import { isStep, getTemplate, createTruncationSteps, findOrCreateRevision } from "./revisions.ts";

export interface StatefulSetState {
  readonly set: Stored<StatefulSet>;
  readonly pods: readonly Stored<Pod>[];
  readonly revisions: readonly Stored<ControllerRevision>[];
  readonly hasClaim: (name: string) => boolean;
  readonly now: number;
}

const REVISION_LABEL = "controller-revision-hash";

interface OrderedState extends StatefulSetState {
  readonly current: Stored<ControllerRevision>;
  readonly target: Stored<ControllerRevision>;
  /** By ordinal; undefined where there is none yet. */
  readonly replicas: readonly (Stored<Pod> | undefined)[];
  /** Beyond the desired count, highest ordinal first. */
  readonly condemned: readonly Stored<Pod>[];
}

/** Pods with stable names, one after the other unless parallel; then updates from the last to the first. */
export function decideStatefulSet(state: StatefulSetState): Decision {
  const { set, pods, revisions } = state;
  const target = findOrCreateRevision(set, revisions, "controller.kubernetes.io/hash");
  if (isStep(target)) return createDecision([target]);
  const current = revisions.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? target;
  const ordered = orderPods(state, current, target);
  const isTerminatingSet = set.metadata.deletionTimestamp !== undefined;
  const steps = isTerminatingSet ? [] : createNextSteps(ordered);
  if (steps.length > 0) return createDecision(steps);
  const live = new Set([current.metadata.name, target.metadata.name, ...pods.map(revisionOf)]);
  const status = computeStatus(ordered);
  const isSame = equalJson(status, set.status ?? {});
  const waitMs = nextAvailableInMs(pods, set.spec.minReadySeconds ?? 0, state.now);
  return createDecision(
    [
      ...createTruncationSteps(set, revisions, live),
      isSame ? undefined : updateStatus(STATEFUL_SETS, { ...set, status }),
    ],
    waitMs,
  );
}

function orderPods(
  state: StatefulSetState,
  current: Stored<ControllerRevision>,
  target: Stored<ControllerRevision>,
): OrderedState {
  const { set, pods } = state;
  const start = startOf(set);
  const desired = set.spec.replicas ?? 1;
  const byOrdinal = new Map(pods.map((pod) => [getOrdinal(set, pod), pod]));
  const replicas = Array.from({ length: desired }, (_, index) => byOrdinal.get(start + index));
  const condemned = [...byOrdinal]
    .filter(([ordinal]) => ordinal !== undefined && (ordinal < start || ordinal >= start + desired))
    .sort(([a = 0], [b = 0]) => b - a)
    .map(([, pod]) => pod);
  return { ...state, current, target, replicas, condemned };
}

function getOrdinal(set: StatefulSet, pod: Pod): number | undefined {
  const { name = "" } = pod.metadata;
  const prefix = `${set.metadata.name}-`;
  const ordinal = Number(name.startsWith(prefix) ? name.slice(prefix.length) : Number.NaN);
  return Number.isInteger(ordinal) && ordinal >= 0 ? ordinal : undefined;
}

const startOf = ({ spec }: StatefulSet): number => spec.ordinals?.start ?? 0;
const revisionOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[REVISION_LABEL];
const isParallel = ({ spec }: StatefulSet): boolean => spec.podManagementPolicy === "Parallel";

function createNextSteps(ordered: OrderedState): readonly Step[] {
  const { set, replicas } = ordered;
  const steps: Step[] = [];
  for (const [index, pod] of replicas.entries()) {
    const own = createReplicaSteps(ordered, pod, startOf(set) + index);
    steps.push(...own);
    if (isParallel(set)) continue;
    if (own.length > 0) return steps;
    // One after the other: the next waits until this one is ready.
    if (!pod || isTerminating(pod) || !isServing(ordered, pod)) return [];
  }
  if (steps.length > 0) return steps;
  const fewer = createCondemnedSteps(ordered);
  return fewer === "wait" ? [] : fewer.length > 0 ? fewer : createUpdateSteps(ordered);
}

function isServing({ set, now }: OrderedState, pod: Pod): boolean {
  return pod.status?.phase === "Running" && isAvailable(pod, set.spec.minReadySeconds ?? 0, now);
}

function createReplicaSteps(ordered: OrderedState, pod: Stored<Pod> | undefined, ordinal: number): Step[] {
  const { set } = ordered;
  if (!pod)
    return [
      ...createClaimSteps(ordered, ordinal),
      create(PODS, createPod(ordered, ordinal), createPodEvents("Create", set, `${set.metadata.name}-${ordinal}`)),
    ];
  if (isFinished(pod) && !isTerminating(pod)) return [createDeletion(set, pod)];
  return pod.status?.phase === "Pending" ? createClaimSteps(ordered, ordinal) : [];
}

function createClaimSteps({ set, hasClaim }: OrderedState, ordinal: number): Step[] {
  return (set.spec.volumeClaimTemplates ?? [])
    .map((template) => ({ template, name: claimName(set, template, ordinal) }))
    .filter(({ name }) => !hasClaim(name))
    .map(({ template, name }) =>
      create(CLAIMS, createClaim(set, template, name), createClaimEvents(set, name, ordinal)),
    );
}

function claimName({ metadata }: StatefulSet, template: Claim, ordinal: number): string {
  return `${template.metadata.name}-${metadata.name}-${ordinal}`;
}

function createClaim(set: Stored<StatefulSet>, { metadata, spec }: Claim, name: string): object {
  const { name: _, namespace: __, ...rest } = metadata;
  const isOwned = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === "Delete";
  return {
    apiVersion: CLAIMS.apiVersion,
    kind: CLAIMS.kind,
    metadata: {
      ...rest,
      name,
      namespace: set.metadata.namespace,
      labels: { ...metadata.labels, ...set.spec.selector?.matchLabels },
      ...(isOwned ? { ownerReferences: [ownerReferenceTo(set)] } : {}),
    },
    spec: spec ?? {},
  };
}

function createPod(ordered: OrderedState, ordinal: number): object {
  const { set, current, target } = ordered;
  const { updateStrategy, serviceName } = set.spec;
  const partition = updateStrategy?.rollingUpdate?.partition ?? 0;
  const isOld = updateStrategy?.type !== "OnDelete" && ordinal < startOf(set) + partition;
  const revision = isOld ? current : target;
  const template: PodTemplate = getTemplate(revision);
  const name = `${set.metadata.name}-${ordinal}`;
  const claims = (set.spec.volumeClaimTemplates ?? []).map((claim) => ({
    name: claim.metadata.name ?? "",
    persistentVolumeClaim: { claimName: claimName(set, claim, ordinal) },
  }));
  const others = (template.spec?.volumes ?? []).filter((volume) => !claims.some((claim) => claim.name === volume.name));
  const volumes = [...claims, ...others];
  const pod = createPodFromTemplate(set, template, {
    name,
    labels: {
      ...template.metadata?.labels,
      "apps.kubernetes.io/pod-index": String(ordinal),
      [REVISION_LABEL]: revision.metadata.name,
      "statefulset.kubernetes.io/pod-name": name,
    },
  });
  return {
    ...pod,
    spec: {
      ...pod.spec,
      hostname: name,
      ...(serviceName === undefined || serviceName === "" ? {} : { subdomain: serviceName }),
      ...(volumes.length === 0 ? {} : { volumes }),
    },
  };
}

/** Last first; ordered: only when all others are ready, unless the unready one is itself deleted. */
function createCondemnedSteps(ordered: OrderedState): readonly Step[] | "wait" {
  const { set, condemned } = ordered;
  if (condemned.length === 0) return [];
  const alive = condemned.filter((pod) => !isTerminating(pod));
  if (isParallel(set)) return alive.map((pod) => createDeletion(set, pod));
  const [last] = condemned;
  return !last || isTerminating(last) ? "wait" : [createDeletion(set, last)];
}

/** From the last to the partition, one at a time. */
function createUpdateSteps(ordered: OrderedState): readonly Step[] {
  const { set, replicas, target } = ordered;
  const { type, rollingUpdate } = set.spec.updateStrategy ?? {};
  if (type === "OnDelete") return [];
  for (let index = replicas.length - 1; index >= (rollingUpdate?.partition ?? 0); index -= 1) {
    const pod = replicas[index];
    if (!pod) return [];
    if (revisionOf(pod) !== target.metadata.name && !isTerminating(pod)) return [createDeletion(set, pod)];
    if (isTerminating(pod) || !isServing(ordered, pod)) return [];
  }
  return [];
}

function createDeletion(set: StatefulSet, pod: Stored<Pod>): Step {
  return remove(PODS, pod, {}, createPodEvents("Delete", set, pod.metadata.name));
}

function createPodEvents(verb: "Create" | "Delete", set: StatefulSet, pod: string): WriteEvents {
  const what = `${verb} Pod ${pod} in StatefulSet ${set.metadata.name}`;
  return {
    done: () => ({ about: set, type: "Normal", reason: `Successful${verb}`, message: `${what} successful` }),
    failed: ({ message = "" }) => ({
      about: set,
      type: "Warning",
      reason: `Failed${verb}`,
      message: `${what} failed error: ${message}`,
    }),
  };
}

function createClaimEvents(set: StatefulSet, claim: string, ordinal: number): WriteEvents {
  const { name } = set.metadata;
  const pod = `Pod ${name}-${ordinal} in StatefulSet ${name}`;
  return {
    done: () => ({
      about: set,
      type: "Normal",
      reason: "SuccessfulCreate",
      message: `Create Claim ${claim} ${pod} success`,
    }),
    failed: ({ message = "" }) => ({
      about: set,
      type: "Warning",
      reason: "FailedCreate",
      message: `Create Claim ${claim} for ${pod} failed error: ${message}`,
    }),
  };
}

function computeStatus({ set, pods, current, target, now }: OrderedState): NonNullable<StatefulSet["status"]> {
  const minReady = set.spec.minReadySeconds ?? 0;
  const isRunning = (pod: Pod): boolean => pod.status?.phase === "Running" && isReady(pod);
  const running = pods.filter(isRunning);
  const alive = pods.filter((pod) => !isTerminating(pod));
  const updated = alive.filter((pod) => revisionOf(pod) === target.metadata.name);
  const isRolled =
    set.spec.updateStrategy?.type !== "OnDelete" && updated.length === pods.length && running.length === pods.length;
  const serving = isRolled ? target : current;
  return {
    observedGeneration: set.metadata.generation ?? 1,
    replicas: pods.length,
    ...count("readyReplicas", running),
    availableReplicas: running.filter((pod) => isAvailable(pod, minReady, now)).length,
    ...count(
      "currentReplicas",
      alive.filter((pod) => revisionOf(pod) === serving.metadata.name),
    ),
    ...count("updatedReplicas", updated),
    currentRevision: serving.metadata.name,
    updateRevision: target.metadata.name,
    collisionCount: 0,
  };
}
