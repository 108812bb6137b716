import type { Stored } from "@oaas/kube-core";
import type { Controller } from "../loop/controller.ts";
import { createDecision, remove, SETTLED, recordEvent, updateStatus, type Decision } from "../loop/decision.ts";
import { watchScheduledPods } from "../loop/controller.ts";
import { conditionIn, withCondition } from "../objects/conditions.ts";
import { typed } from "../objects/cluster-view.ts";
import { isFinished } from "../objects/pods.ts";
import { keyOf, nameOfKey, NODES, PODS } from "../objects/resources.ts";
import { epochMs } from "../objects/time.ts";
import type { Node, Pod, Taint } from "../objects/typed.ts";
import { podsOn } from "./node-controller.ts";
import { tolerates } from "./node-state.ts";

/** How long a pod of a missing node is kept: the pod garbage collector's quarantine. */
const QUARANTINE_MS = 40_000;

/** The time of the taint eviction of a pod; undefined when the pod may stay. */
export function evictionTime(pod: Pod, taints: readonly Taint[]): number | undefined {
  const noExecute = taints.filter(({ effect }) => effect === "NoExecute");
  const times = noExecute.map((taint) => {
    const toleration = tolerates(pod.spec?.tolerations, taint);
    if (!toleration) return 0;
    if (toleration.tolerationSeconds === undefined) return undefined;
    return (epochMs(taint.timeAdded) ?? 0) + Math.max(0, toleration.tolerationSeconds) * 1000;
  });
  const due = times.filter((time) => time !== undefined);
  return due.length === 0 ? undefined : Math.min(...due);
}

/** Deletes pods whose node does not tolerate them, or no longer exists. */
export function evictionController(): Controller {
  const orphanedSince = new Map<string, number>();
  return {
    name: "eviction",
    reporter: "taint-eviction-controller",
    writer: "kube-controller-manager",
    watches: [
      watchScheduledPods(),
      {
        kind: NODES,
        isSecondary: true,
        keys: (object, view) => podsOn(typed(object).metadata.name, view).map(keyOf),
      },
    ],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const pod = view.get<Pod>(PODS, namespace, name);
      const node = pod && view.get<Node>(NODES, "", pod.spec?.nodeName ?? "");
      if (!pod || node) orphanedSince.delete(key);
      if (!pod || pod.metadata.deletionTimestamp !== undefined)
        return pod && !node ? collectOrphanedPod(pod, now, key) : SETTLED;
      if (!node) return collectOrphanedPod(pod, now, key);
      return isFinished(pod) ? SETTLED : evictPod(pod, node, now);
    },
  };

  function collectOrphanedPod(pod: Stored<Pod>, now: number, key: string): Decision {
    const since = orphanedSince.get(key) ?? now;
    orphanedSince.set(key, since);
    const waitMs = since + QUARANTINE_MS - now;
    if (waitMs > 0) return createDecision([], waitMs);
    const message = "PodGC: node no longer exists";
    return createDecision([
      setDisruptionTarget(
        { ...pod, status: { ...pod.status, phase: isFinished(pod) ? (pod.status?.phase ?? "") : "Failed" } },
        "DeletionByPodGC",
        message,
        now,
      ),
      remove(PODS, pod, { gracePeriodSeconds: 0 }),
    ]);
  }
}

function evictPod(pod: Stored<Pod>, node: Node, now: number): Decision {
  const at = evictionTime(pod, node.spec?.taints ?? []);
  if (at === undefined) return SETTLED;
  if (at > now) return createDecision([], at - now);
  const { namespace = "", name } = pod.metadata;
  return createDecision([
    recordEvent({
      about: pod,
      type: "Normal",
      reason: "TaintManagerEviction",
      message: `Marking for deletion Pod ${namespace}/${name}`,
    }),
    setDisruptionTarget(pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint", now),
    remove(PODS, pod),
  ]);
}

function setDisruptionTarget(
  pod: Stored<Pod>,
  reason: string,
  message: string,
  now: number,
): ReturnType<typeof updateStatus> | undefined {
  if (conditionIn(pod.status?.conditions, "DisruptionTarget")) return undefined;
  const claim = { type: "DisruptionTarget", status: "True", reason, message } as const;
  const conditions = withCondition(pod.status?.conditions ?? [], claim, now, { lastProbeTime: null });
  return updateStatus(PODS, { ...pod, status: { ...pod.status, conditions } });
}
