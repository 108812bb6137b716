import {
  addQuantities,
  compareQuantities,
  equalJson,
  type Quantity,
  type Stored,
  ZERO_QUANTITY,
} from "@oaas/kube-core";
import { conditionIn, withCondition, withoutCondition } from "../objects/conditions.ts";
import { podRequests, type Sums } from "../objects/pods.ts";
import type { Condition, Container, ContainerStatus, Pod } from "../objects/typed.ts";
import { restartInPlace, type ContainerEvent } from "./container-lifecycle.ts";
import type { PodContainers } from "./pod-status.ts";

/** A node as its kubelet sees it when it resizes a pod. */
export interface NodeRoom {
  readonly allocatable: Sums;
  /** The requests of the other pods. */
  readonly used: Sums;
}

export interface ResizeInput {
  readonly pod: Stored<Pod>;
  readonly nodeRoom: () => NodeRoom;
  readonly now: number;
}

export interface ResizeStep {
  readonly statuses: PodContainers;
  readonly conditions: readonly Condition[];
  readonly events: readonly ContainerEvent[];
  readonly waitMs?: number;
}

const PENDING = "PodResizePending";
const IN_PROGRESS = "PodResizeInProgress";
/** Between two attempts of a deferred resize. */
const RETRY_MS = 30_000;
const NANO_PER_MILLI = 1_000_000n;
const NANO_PER_ONE = 1_000_000_000n;

/**
 * The next step of an in-place resize, as a kubelet takes it: it grants the resources of the spec when they fit on the
 * node (`PodResizeInProgress`), then changes the running containers. A resize that does not fit waits
 * (`PodResizePending`). Started containers report their resources.
 */
export function resizeContainers({ pod, nodeRoom, now }: ResizeInput, started: PodContainers): ResizeStep {
  const before = pod.status?.conditions ?? [];
  const statuses = mapContainers(pod, started, reportResources);
  if (!isResizing(pod, statuses)) return { statuses, conditions: clearConditions(before), events: [] };
  const generation = pod.metadata.generation ?? 0;
  if (conditionIn(before, IN_PROGRESS)?.observedGeneration === generation) {
    return {
      statuses: mapContainers(pod, statuses, (container, status) => changeContainer(container, status, now)),
      conditions: clearConditions(before),
      events: [{ type: "Normal", reason: "ResizeCompleted", message: `Pod resize completed: ${describe(pod)}` }],
    };
  }
  const misfit = findMisfit(pod, nodeRoom());
  const more = { lastProbeTime: null, observedGeneration: generation };
  if (misfit === undefined) {
    const cleared = clearConditions(before);
    return {
      statuses: mapContainers(pod, statuses, grantRequests),
      conditions: withCondition(cleared, { type: IN_PROGRESS, status: "True" }, now, more),
      events: [{ type: "Normal", reason: "ResizeStarted", message: `Pod resize started: ${describe(pod)}` }],
    };
  }
  const conditions = withCondition(before, { type: PENDING, status: "True", ...misfit }, now, more);
  const reason = `Resize${misfit.reason}`;
  const message = `Pod resize ${misfit.reason}: ${describe(pod, misfit.message)}`;
  return {
    statuses,
    conditions,
    events: conditions === before ? [] : [{ type: "Warning", reason, message }],
    waitMs: RETRY_MS,
  };
}

function clearConditions(conditions: readonly Condition[]): readonly Condition[] {
  return [PENDING, IN_PROGRESS].reduce(withoutCondition, conditions);
}

function mapContainers(
  { spec }: Pod,
  { inits, containers }: PodContainers,
  change: (container: Container, status: ContainerStatus) => ContainerStatus,
): PodContainers {
  const changeAll = (list: readonly ContainerStatus[], of: readonly Container[] = []): readonly ContainerStatus[] =>
    list.map((status) => {
      const container = of.find(({ name }) => name === status.name);
      return container === undefined || status.state.running === undefined ? status : change(container, status);
    });
  return { inits: changeAll(inits, spec?.initContainers), containers: changeAll(containers, spec?.containers) };
}

/** A container starts with the resources of its spec. */
function reportResources(container: Container, status: ContainerStatus): ContainerStatus {
  return status.resources === undefined ? setResources(container, status) : status;
}

function setResources(container: Container, status: ContainerStatus): ContainerStatus {
  return { ...grantRequests(container, status), resources: container.resources ?? {} };
}

function grantRequests({ resources }: Container, status: ContainerStatus): ContainerStatus {
  return resources?.requests === undefined ? status : { ...status, allocatedResources: resources.requests };
}

function isResizing({ spec }: Pod, { inits, containers }: PodContainers): boolean {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return [...inits, ...containers].some((status) => {
    const container = all.find(({ name }) => name === status.name);
    return container !== undefined && status.state.running !== undefined && !hasResources(container, status);
  });
}

function hasResources({ resources = {} }: Container, status: ContainerStatus): boolean {
  return equalJson(resources, status.resources ?? {});
}

/** Changes a running container; it restarts when the policy of a changed resource says so. */
function changeContainer(container: Container, status: ContainerStatus, now: number): ContainerStatus {
  if (hasResources(container, status)) return status;
  const next = setResources(container, status);
  const needsRestart = container.resizePolicy?.some(
    ({ resourceName, restartPolicy }) =>
      restartPolicy === "RestartContainer" &&
      (["requests", "limits"] as const).some(
        (bound) => status.resources?.[bound]?.[resourceName] !== container.resources?.[bound]?.[resourceName],
      ),
  );
  return needsRestart === true ? restartInPlace(next, container, now) : next;
}

/** Why the node cannot provide the requests: never (`Infeasible`), or not while its other pods run (`Deferred`). */
function findMisfit(
  pod: Pod,
  { allocatable, used }: NodeRoom,
): { readonly reason: "Deferred" | "Infeasible"; readonly message: string } | undefined {
  for (const [name, requested] of Object.entries(podRequests(pod))) {
    const [room, taken] = [allocatable[name] ?? ZERO_QUANTITY, used[name] ?? ZERO_QUANTITY];
    const [want, has, all] = [requested, taken, room].map((amount) => toUnits(name, amount));
    if (compareQuantities(requested, room) > 0) {
      const message = `Node didn't have enough capacity: ${name}, requested: ${want}, capacity: ${all}`;
      return { reason: "Infeasible", message };
    }
    if (compareQuantities(addQuantities(requested, taken), room) > 0) {
      const message = `Node didn't have enough resource: ${name}, requested: ${want}, used: ${has}, capacity: ${all}`;
      return { reason: "Deferred", message };
    }
  }
  return undefined;
}

function toUnits(name: string, { nano }: Quantity): bigint {
  return nano / (name === "cpu" ? NANO_PER_MILLI : NANO_PER_ONE);
}

/** The desired resources, as in the Events of a kubelet. */
function describe({ metadata, spec }: Stored<Pod>, error?: string): string {
  const listResources = (list: readonly Container[] = []): object | undefined =>
    list.length === 0 ? undefined : list.map(({ name, resources = {} }) => ({ name, resources }));
  return JSON.stringify({
    initContainers: listResources(spec?.initContainers),
    containers: listResources(spec?.containers),
    generation: metadata.generation ?? 0,
    error,
  });
}
