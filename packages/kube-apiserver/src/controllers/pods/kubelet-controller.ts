import type { ContainerRuntime } from "../../containers/container-runtime.ts";
import { canonicalJson, type Stored } from "@oaas/kube-core";
import { failureOf, failuresOf, startDelayOf, type FailureRule } from "../failures/failure.ts";
import type { Controller } from "../loop/controller.ts";
import { SETTLED } from "../loop/decision.ts";
import { watchScheduledPods } from "../loop/controller.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { keyOf, nameOfKey, NODES, PODS } from "../objects/resources.ts";
import { addSums, isFinished, podRequests, sumsOf } from "../objects/pods.ts";
import { podsOn } from "../nodes/node-controller.ts";
import { isNodeReachable } from "../nodes/node-state.ts";
import type { Container, Node, Pod } from "../objects/typed.ts";
import { allocateAddress, hostAddress } from "./addresses.ts";
import type { ContainerBehaviour } from "./container-lifecycle.ts";
import type { NodeRoom } from "./pod-resize.ts";
import { completes, decidePod, type ContainerContext } from "./kubelet.ts";

export interface KubeletOptions {
  readonly startDelayMs: number;
  readonly stopDelayMs: number;
  /** How long pods of Jobs run. */
  readonly jobDurationMs: number;
  readonly recordsContainerEvents: boolean;
  readonly rules: () => readonly FailureRule[];
  /** Runs some containers as programs; its state replaces the simulated one. */
  readonly runtime?: Pick<ContainerRuntime, "stateOf"> | undefined;
}

/** Since when a pod has been in its state; forgotten with the pod. */
interface StateTracker {
  readonly uid: string;
  readonly marks: Map<string, { readonly mark: string; readonly sinceMs: number; readonly changes: number }>;
}

/** All kubelets at once. */
export function kubeletController(options: KubeletOptions): Controller {
  const trackers = new Map<string, StateTracker>();
  return {
    name: "kubelet",
    reporter: "kubelet",
    writer: "kubelet",
    watches: [
      watchScheduledPods(),
      { kind: NODES, isSecondary: true, keys: (object, view) => listPodKeys(typed(object), view) },
    ],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const pod = view.get<Pod>(PODS, namespace, name);
      const node = view.get<Node>(NODES, "", pod?.spec?.nodeName ?? "");
      if (!pod || !node || !isNodeReachable(node)) {
        if (!pod) trackers.delete(key);
        return SETTLED;
      }
      const tracker = getTracker(trackers, key, pod);
      return decidePod({
        pod,
        addresses: {
          hostIP: hostAddress(node),
          podIP: () => pod.status?.podIP ?? allocateAddress(pod, node, view),
        },
        startDelayMs: startDelayOf(pod, failuresOf(pod, options.rules()), options.startDelayMs),
        stopDelayMs: options.stopDelayMs,
        inStateMs: trackState(tracker, "", getPodStage(pod), now).ms,
        containers: new Map(
          (pod.spec?.containers ?? []).map((one) => [
            one.name,
            createContainerContext(pod, one, tracker, now, options),
          ]),
        ),
        nodeRoom: () => measureRoom(node, pod, view),
        now,
        recordsContainerEvents: options.recordsContainerEvents,
      });
    },
  };
}

/** What the other pods leave of a node. */
function measureRoom(node: Stored<Node>, pod: Stored<Pod>, view: ClusterView): NodeRoom {
  const others = podsOn(node.metadata.name, view).filter(
    (other) => other.metadata.uid !== pod.metadata.uid && !isFinished(other),
  );
  return { allocatable: sumsOf(node.status?.allocatable), used: others.map(podRequests).reduce(addSums, {}) };
}

/** A node that is reachable again catches up on its pods. */
function listPodKeys(node: Stored<Node>, view: ClusterView): string[] {
  if (!isNodeReachable(node)) return [];
  return podsOn(node.metadata.name, view).map(keyOf);
}

function createContainerContext(
  pod: Stored<Pod>,
  container: Container,
  tracker: StateTracker,
  now: number,
  options: KubeletOptions,
): ContainerContext {
  const status = pod.status?.containerStatuses?.find(({ name }) => name === container.name);
  const observed = trackState(tracker, container.name, canonicalJson(status?.state ?? {}), now);
  // A failing pull alternates between two states, error and back-off: every other change is another attempt.
  return {
    behaviour: selectBehaviour(pod, container, options),
    inStateMs: observed.ms,
    pulls: Math.floor(observed.changes / 2),
  };
}

function selectBehaviour(pod: Stored<Pod>, container: Container, options: KubeletOptions): ContainerBehaviour {
  const failures = failuresOf(pod, options.rules(), container);
  const pull = failureOf(failures, "image-pull");
  if (pull) return { kind: "image-pull", error: pull.message ?? formatMissingImage(container.image ?? "") };
  const crash = failureOf(failures, "crash-loop");
  if (crash) {
    const { afterMs = 1000, exitCode = 1, restarts = 0 } = crash;
    return { kind: "crashes", afterMs, exitCode, restarts };
  }
  const run = options.runtime?.stateOf(pod, container);
  if (run?.kind === "exited") return { kind: "crashes", afterMs: 0, exitCode: run.exitCode, restarts: 0 };
  const isReady = failureOf(failures, "never-ready") === undefined && run?.kind !== "starting";
  return { kind: "runs", isReady, ...(completes(pod) ? { completesAfterMs: options.jobDurationMs } : {}) };
}

function formatMissingImage(image: string): string {
  return `rpc error: code = NotFound desc = failed to pull and unpack image "${image}": failed to resolve reference "${image}": ${image}: not found`;
}

function getPodStage({ metadata, status }: Pod): string {
  if (metadata.deletionTimestamp !== undefined) return "going";
  return (status?.containerStatuses?.length ?? 0) === 0 ? "new" : "begun";
}

function getTracker(trackers: Map<string, StateTracker>, key: string, { metadata }: Stored<Pod>): StateTracker {
  const before = trackers.get(key);
  if (before?.uid === metadata.uid) return before;
  const fresh: StateTracker = { uid: metadata.uid, marks: new Map() };
  trackers.set(key, fresh);
  return fresh;
}

function trackState(
  tracker: StateTracker,
  what: string,
  mark: string,
  now: number,
): { readonly ms: number; readonly changes: number } {
  const before = tracker.marks.get(what);
  if (before?.mark === mark) return { ms: now - before.sinceMs, changes: before.changes };
  const changes = before === undefined ? 0 : before.changes + 1;
  tracker.marks.set(what, { mark, sinceMs: now, changes });
  return { ms: 0, changes };
}
