import { isBeingDeleted, type KubeObject, type ObjectKey } from "@oaas/kube-core";
import { conditionIn, type Pod, type Workload } from "../lifecycle/observation/observed-objects.ts";
import { COLLECTIONS_KEY, parseLayout, type StoreLayout } from "./store-layout.ts";

/** The pod of a member. */
export interface MemberPod {
  readonly key: ObjectKey;
  readonly uid: string;
  readonly isTerminating: boolean;
  /** When its container started; undefined while it does not run. */
  readonly startedAtMs: number | undefined;
  /** Whether its container is known not to run, so that it holds nothing. */
  readonly isStopped: boolean;
  readonly isReady: boolean;
  /** Whether a newer pod template exists; false while that is unknown. */
  readonly isOutdated: boolean;
  readonly object: Pod;
}

/** A node of a state store in this cluster. */
export interface StoreMember {
  readonly nodeId: number;
  readonly workload: {
    readonly name: string;
    /** Whether the manager restarts its pods; earlier versions left that to Kubernetes. */
    readonly isManaged: boolean;
  };
  /** Undefined while the workload creates it. */
  readonly pod: MemberPod | undefined;
}

/** The nodes of a state store as they run, and the layout that they were started with. */
export interface RunningStore {
  readonly namespace: string;
  readonly layout: StoreLayout;
  /** Sorted by node id. */
  readonly members: readonly StoreMember[];
  /** The settings that nodes read when they start. */
  readonly settings: Readonly<Record<string, string>>;
  /** When these settings were created, in RFC 3339. */
  readonly settingsCreatedAt: string | undefined;
}

/** Name of the container of a state store node. */
const STORE_CONTAINER = "odgm";
const NODE_ID_VARIABLE = "ODGM_NODE_ID";
const POD_INDEX = "$(POD_INDEX)";

/**
 * Reads the state store of a class from its children and pods, so that a changed spec never changes what is expected of
 * a store that still runs. Undefined without a state store.
 */
export function readRunningStore(
  children: readonly KubeObject[],
  pods: readonly Pod[],
  everywhere: readonly number[] = [],
): RunningStore | undefined {
  const workloads = children.filter(isStoreWorkload);
  const config = children.find(isStoreConfig);
  if (workloads.length === 0 || config === undefined) return undefined;
  const members = workloads
    .flatMap((workload) => membersOf(workload, pods))
    .toSorted((one, other) => one.nodeId - other.nodeId);
  const settings = config.data ?? {};
  const ids = [...new Set([...members.map(({ nodeId }) => nodeId), ...everywhere])];
  const layout = parseLayout(settings[COLLECTIONS_KEY], ids);
  if (layout === undefined) return undefined;
  const { namespace = "", creationTimestamp } = config.metadata;
  return { namespace, layout, members, settings, settingsCreatedAt: creationTimestamp };
}

interface StoreWorkload extends Workload {
  readonly spec: NonNullable<Workload["spec"]> & {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly {
          readonly name: string;
          readonly env?: readonly { readonly name: string; readonly value?: string }[];
        }[];
      };
    };
  };
}

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

function isStoreWorkload(object: KubeObject): object is StoreWorkload {
  return (object.kind === "StatefulSet" || object.kind === "Deployment") && nodeIdTemplate(object) !== undefined;
}

function isStoreConfig(object: KubeObject): object is ConfigMap {
  return object.kind === "ConfigMap" && (object as ConfigMap).data?.[COLLECTIONS_KEY] !== undefined;
}

function nodeIdTemplate(object: KubeObject): string | undefined {
  const { containers = [] } = (object as StoreWorkload).spec?.template?.spec ?? {};
  const env = containers.find(({ name }) => name === STORE_CONTAINER)?.env ?? [];
  return env.find(({ name }) => name === NODE_ID_VARIABLE)?.value;
}

function membersOf(workload: StoreWorkload, pods: readonly Pod[]): StoreMember[] {
  const { kind, metadata, spec } = workload;
  const template = nodeIdTemplate(workload) ?? "";
  const name = metadata.name ?? "";
  return Array.from({ length: spec.replicas ?? 1 }, (_, index) => {
    const nodeId = Number(template.replace(POD_INDEX, String(index)));
    const pod = kind === "StatefulSet" ? podNamed(`${name}-${index}`, pods) : podOfDeployment(workload, pods);
    return { nodeId, workload: { name, isManaged: isManaged(workload) }, pod: pod && memberPod(pod, workload) };
  }).filter(({ nodeId }) => Number.isSafeInteger(nodeId));
}

function podNamed(name: string, pods: readonly Pod[]): Pod | undefined {
  return pods.find(({ metadata }) => metadata.name === name);
}

/** The pod of a Deployment with one replica, as earlier versions created. */
function podOfDeployment({ spec }: StoreWorkload, pods: readonly Pod[]): Pod | undefined {
  const labels = Object.entries(spec.selector?.matchLabels ?? {});
  const selected = pods.filter(
    (pod) => labels.length > 0 && labels.every(([key, value]) => pod.metadata.labels?.[key] === value),
  );
  return selected.find((pod) => !isBeingDeleted(pod)) ?? selected[0];
}

function memberPod(pod: Pod, workload: StoreWorkload): MemberPod {
  const { namespace = "", name = "", uid = "" } = pod.metadata;
  return {
    key: { namespace, name },
    uid,
    isTerminating: isBeingDeleted(pod),
    startedAtMs: startedAtMs(pod),
    isStopped: isStopped(pod),
    isReady: conditionIn(pod.status?.conditions, "Ready")?.status === "True",
    isOutdated: isOutdated(pod, workload),
    object: pod,
  };
}

/** A restarted container reads its settings again, so the newest start counts. */
function startedAtMs(pod: Pod): number | undefined {
  const container = pod.status?.containerStatuses?.find(({ name }) => name === STORE_CONTAINER);
  const startedAt = Date.parse(container?.state?.running?.startedAt ?? "");
  if (Number.isNaN(startedAt)) return undefined;
  return Math.max(startedAt, Date.parse(pod.metadata.creationTimestamp ?? "") || 0);
}

function isStopped({ status }: Pod): boolean {
  if (status?.phase === "Failed") return true;
  const state = status?.containerStatuses?.find(({ name }) => name === STORE_CONTAINER)?.state;
  return state !== undefined && state.running === undefined && (state.waiting ?? state.terminated) !== undefined;
}

function isManaged({ kind, spec }: StoreWorkload): boolean {
  return kind === "StatefulSet" && spec.updateStrategy?.type === "OnDelete";
}

function isOutdated(pod: Pod, workload: StoreWorkload): boolean {
  const { metadata, status } = workload;
  const revision = status?.updateRevision;
  const own = pod.metadata.labels?.["controller-revision-hash"];
  if (!isManaged(workload) || revision === undefined || own === undefined) return false;
  // Until the StatefulSet observed its newest template, the revision is that of the previous one.
  if ((status?.observedGeneration ?? 0) < (metadata.generation ?? 0)) return false;
  return own !== revision;
}

/** Type of the pod condition that says whether a node has all its shards. */
export const SHARDS_CONDITION = "oaas.io/shards";

/** The shards condition of a pod; undefined when its container started later, since it started empty. */
export function shardsCondition({ object, startedAtMs: since }: MemberPod): "True" | "False" | undefined {
  const condition = conditionIn(object.status?.conditions, SHARDS_CONDITION);
  if (condition === undefined || Date.parse(condition.lastTransitionTime ?? "") < (since ?? 0)) return undefined;
  return condition.status === "True" || condition.status === "False" ? condition.status : undefined;
}

/** Whether an answer is of the container that runs now. */
export function isOfRun(
  { podUid, startedAtMs }: { readonly podUid: string; readonly startedAtMs: number | undefined },
  pod: MemberPod | undefined,
): boolean {
  return podUid === pod?.uid && startedAtMs === pod.startedAtMs;
}

/** Whether a pod runs and is not being deleted. */
export function isRunning(member: StoreMember): member is StoreMember & { readonly pod: MemberPod } {
  return member.pod !== undefined && !member.pod.isTerminating && member.pod.startedAtMs !== undefined;
}
