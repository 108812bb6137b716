import { typed } from "../objects/cluster-view.ts";
import { keyOf, PODS, type Resource } from "../objects/resources.ts";
import type { Pod } from "../objects/typed.ts";
import type { WatchedKind } from "./controller.ts";

/** The objects of a controller, each by its own key. */
export function own(kind: Resource): WatchedKind {
  return { kind, keys: (object) => [keyOf(typed(object))] };
}

/** Pods with a node. */
export function placedPods(): WatchedKind {
  return {
    kind: PODS,
    keys: (object) => {
      const pod = typed<Pod>(object);
      return pod.spec?.nodeName === undefined ? [] : [keyOf(pod)];
    },
  };
}
