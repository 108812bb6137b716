import type { JsonObject } from "@oaas/kube-core";
import { failureOf, failuresOf, type FailureRule } from "../failures/failure.ts";
import type { Controller } from "../loop/controller.ts";
import { typed } from "../objects/cluster-view.ts";
import { CLAIMS, NODES, PODS } from "../objects/resources.ts";
import type { Claim, Node, Pod } from "../objects/typed.ts";
import { isFinished } from "../objects/pods.ts";
import type { ObjectChange } from "../cluster-objects.ts";
import { isWaiting, schedulePods } from "./schedule.ts";

/** One queue for all pods: earlier pods take the capacity. */
const QUEUE = "queue";

export function schedulerController(rules: () => readonly FailureRule[]): Controller {
  return {
    name: "scheduler",
    reporter: "default-scheduler",
    writer: "kube-scheduler",
    newStyleEvents: true,
    watches: [
      { kind: PODS, keys: (object, _, change) => (affectsScheduling(object, change) ? [QUEUE] : []) },
      { kind: NODES, keys: () => [QUEUE] },
      { kind: CLAIMS, keys: () => [QUEUE] },
    ],
    decide: (_, { view, now }) =>
      schedulePods({
        pods: view.list<Pod>(PODS),
        nodes: view.list<Node>(NODES),
        claimOf: (namespace, name) => view.get<Claim>(CLAIMS, namespace, name),
        isMarkedUnschedulable: (pod) => failureOf(failuresOf(pod, rules()), "unschedulable") !== undefined,
        now,
      }),
  };
}

/** A pending pod, or one that releases capacity. */
function affectsScheduling(object: JsonObject, change: ObjectChange | undefined): boolean {
  const pod = typed<Pod>(object);
  return isWaiting(pod) || isFinished(pod) || (change !== undefined && change.object === undefined);
}
