import type { KubeObject } from "@oaas/kube-core";
import type { Controller, WatchedKind } from "../loop/controller.ts";
import { SETTLED } from "../loop/decision.ts";
import { watchOwn } from "../loop/controller.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import {
  AUTOSCALERS,
  DEPLOYMENTS,
  keyOf,
  nameOfKey,
  REPLICA_SETS,
  type Resource,
  STATEFUL_SETS,
} from "../objects/resources.ts";
import type { Workload } from "../objects/typed.ts";
import { decideAutoscaler, type Autoscaler, type AutoscalerState, type Recommendation } from "./autoscaler.ts";

const TARGETS: Readonly<Record<string, Resource>> = {
  Deployment: DEPLOYMENTS,
  ReplicaSet: REPLICA_SETS,
  StatefulSet: STATEFUL_SETS,
};

/** Maximum number of remembered recommendations; a window contains fewer. */
const REMEMBERED = 100;

export function autoscalerController(): Controller {
  const memory = new Map<string, readonly Recommendation[]>();
  return {
    name: "autoscalers",
    reporter: "horizontal-pod-autoscaler",
    writer: "kube-controller-manager",
    watches: [watchOwn(AUTOSCALERS), ...Object.entries(TARGETS).map(([name, kind]) => followTarget(name, kind))],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const autoscaler = view.get<Autoscaler>(AUTOSCALERS, namespace, name);
      if (!autoscaler || autoscaler.metadata.deletionTimestamp !== undefined) {
        memory.delete(key);
        return SETTLED;
      }
      const recommendations = memory.get(key) ?? [];
      const { decision, recommended } = decideAutoscaler({
        autoscaler,
        target: targetOf(autoscaler, view),
        recommendations,
        now,
      });
      const last = recommendations.at(-1);
      if (recommended !== undefined && (last?.replicas !== recommended || last.atMs !== now)) {
        memory.set(key, [...recommendations, { atMs: now, replicas: recommended }].slice(-REMEMBERED));
      }
      return decision;
    },
  };
}

function targetOf({ metadata, spec }: Autoscaler, view: ClusterView): AutoscalerState["target"] {
  const kind = TARGETS[spec.scaleTargetRef.kind];
  const object = kind && view.get<Workload>(kind, metadata.namespace ?? "", spec.scaleTargetRef.name);
  return kind && object && { kind, object };
}

function followTarget(name: string, kind: Resource): WatchedKind {
  return {
    kind,
    isSecondary: true,
    keys: (object, view) => {
      const { metadata } = typed<KubeObject>(object);
      return view
        .list<Autoscaler>(AUTOSCALERS, metadata.namespace)
        .filter(({ spec }) => spec.scaleTargetRef.kind === name && spec.scaleTargetRef.name === metadata.name)
        .map(keyOf);
    },
  };
}
