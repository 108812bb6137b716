import type { Stored } from "@oaas/kube-core";
import type { Clock } from "@oaas/foundation";
import type { ClusterObjects, ObjectChange } from "../../controllers/cluster-objects.ts";
import { typed } from "../../controllers/objects/cluster-view.ts";
import { PODS } from "../../controllers/objects/resources.ts";
import { epochMs } from "../../controllers/objects/time.ts";
import type { Container, ContainerStatus, Pod } from "../../controllers/objects/typed.ts";
import { ContainerLog } from "./container-log.ts";

/** The kept runs of a container by restart count: the current one and the one before. */
type Runs = Map<number, ContainerLog>;

/** Whether the runs of a container write their own start and exit lines. */
export type WritesOwnOutput = (pod: Stored<Pod>, container: string) => boolean;

/** The output of all containers of a cluster, kept in memory while their pods exist. */
export class PodLogs {
  readonly #clock: Clock;
  readonly #writesOwn: WritesOwnOutput;
  readonly #runs = new Map<string, Map<string, Runs>>();

  constructor(clock: Clock, writesOwn: WritesOwnOutput = () => false) {
    this.#clock = clock;
    this.#writesOwn = writesOwn;
  }

  /** Follows the pods of a cluster; returns a function that stops. */
  follow(objects: Pick<ClusterObjects, "list" | "onChange">): () => void {
    for (const pod of objects.list(PODS)) this.#observe(typed<Pod>(pod));
    return objects.onChange((change) => this.#change(change));
  }

  /** Adds output to a run of a container; by default the one in the given status. */
  append(pod: Stored<Pod>, container: string, text: string, run = statusOf(pod, container)?.restartCount): void {
    if (run !== undefined) this.find(pod, container, run)?.append(this.#clock.now(), text);
  }

  /** The output of one run. */
  find(pod: Stored<Pod>, container: string, run: number): ContainerLog | undefined {
    return this.#runs.get(pod.metadata.uid)?.get(container)?.get(run);
  }

  #change({ kind, object, previous }: ObjectChange): void {
    if (kind.resource !== PODS.resource || kind.group !== PODS.group) return;
    if (object) this.#observe(typed<Pod>(object));
    else if (previous) this.#forget(typed<Pod>(previous));
  }

  #forget({ metadata }: Stored<Pod>): void {
    for (const runs of this.#runs.get(metadata.uid)?.values() ?? []) for (const log of runs.values()) log.end();
    this.#runs.delete(metadata.uid);
  }

  #observe(pod: Stored<Pod>): void {
    const { containers = [], initContainers = [] } = pod.spec ?? {};
    for (const container of [...containers, ...initContainers]) {
      const status = statusOf(pod, container.name);
      if (status) this.#observeContainer(pod, container, status);
    }
  }

  #observeContainer(pod: Stored<Pod>, container: Container, status: ContainerStatus): void {
    const { state, lastState } = status;
    const ended = state.terminated ?? lastState.terminated;
    if (ended) {
      const run = state.terminated ? status.restartCount : previousRunOf(status);
      const log = this.#begin(pod, container, run, ended.startedAt);
      const exit = ended.exitCode === 0 ? "completed" : `exited with code ${ended.exitCode}`;
      if (!this.#writesOwn(pod, container.name)) log.append(this.#time(ended.finishedAt), `container ${exit}`);
      log.end();
    }
    if (state.running) this.#begin(pod, container, status.restartCount, state.running.startedAt);
  }

  /** The log of a run, with its first lines when it is new. */
  #begin(pod: Stored<Pod>, container: Container, run: number, startedAt: string | undefined): ContainerLog {
    const { uid } = pod.metadata;
    const containers = this.#runs.get(uid) ?? new Map<string, Runs>();
    this.#runs.set(uid, containers);
    const runs: Runs = containers.get(container.name) ?? new Map<number, ContainerLog>();
    containers.set(container.name, runs);
    const known = runs.get(run);
    if (known) return known;
    const log = new ContainerLog();
    runs.set(run, log);
    for (const other of runs.keys()) if (other < run - 1) runs.delete(other);
    if (this.#writesOwn(pod, container.name)) return log;
    const ports = (container.ports ?? []).map(({ containerPort }) => containerPort).join(", ");
    const where = ports === "" ? "" : `, port ${ports}`;
    log.append(this.#time(startedAt), `simulated container started: image ${container.image ?? ""}${where}`);
    return log;
  }

  #time(text: string | undefined): number {
    return epochMs(text) ?? this.#clock.now();
  }
}

export function statusOf(pod: Pod, container: string): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status ?? {};
  return [...containerStatuses, ...initContainerStatuses].find(({ name }) => name === container);
}

/** The run of `lastState`. A waiting container counts its restart when it runs again. */
export function previousRunOf({ state, restartCount }: ContainerStatus): number {
  return state.waiting ? restartCount : restartCount - 1;
}
