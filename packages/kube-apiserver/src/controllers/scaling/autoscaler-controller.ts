import { equalJson, selectsLabels, type KubeObject } from "@oaas/kube-core";
import { EMPTY_HPA_MEMORY, type HpaMemory } from "@oaas/kube-core/autoscaling";
import type { Controller, WatchedKind } from "../loop/controller.ts";
import { createDecision, SETTLED } from "../loop/decision.ts";
import { watchOwn } from "../loop/controller.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import {
  AUTOSCALERS,
  DEPLOYMENTS,
  keyOf,
  nameOfKey,
  PODS,
  REPLICA_SETS,
  type Resource,
  STATEFUL_SETS,
} from "../objects/resources.ts";
import type { Pod, Workload } from "../objects/typed.ts";
import { containerUsages, type UsageSource } from "../usage/pod-usage.ts";
import { decideAutoscaler, SYNC_MS, type Autoscaler, type AutoscalerState } from "./autoscaler.ts";

const TARGETS: Readonly<Record<string, Resource>> = {
  Deployment: DEPLOYMENTS,
  ReplicaSet: REPLICA_SETS,
  StatefulSet: STATEFUL_SETS,
};

interface Memory {
  /** The last pass over usage, and the spec that it followed. */
  readonly synced?: { readonly atMs: number; readonly spec: Autoscaler["spec"] };
  readonly decisions: HpaMemory;
}

const NOTHING: Memory = { decisions: EMPTY_HPA_MEMORY };

/** With a usage source autoscalers follow the usage of pods, as with a metrics server. */
export function autoscalerController(usage?: UsageSource): Controller {
  const memories = new Map<string, Memory>();
  return {
    name: "autoscalers",
    reporter: "horizontal-pod-autoscaler",
    writer: "kube-controller-manager",
    watches: [watchOwn(AUTOSCALERS), ...Object.entries(TARGETS).map(([name, kind]) => followTarget(name, kind))],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const autoscaler = view.get<Autoscaler>(AUTOSCALERS, namespace, name);
      if (!autoscaler || autoscaler.metadata.deletionTimestamp !== undefined) {
        memories.delete(key);
        return SETTLED;
      }
      const memory = memories.get(key) ?? NOTHING;
      const waitMs = usage ? nextSyncInMs(memory, autoscaler, now) : 0;
      if (waitMs > 0) return createDecision([], waitMs);
      const target = targetOf(autoscaler, view);
      const measured = usage &&
        target && { now, pods: podsOf(target.object, view), usages: (pod: Pod) => containerUsages(pod, usage, now) };
      const result = decideAutoscaler({
        autoscaler,
        target,
        memory: memory.decisions,
        now,
        ...(measured ? { measured } : {}),
      });
      memories.set(key, {
        ...memory,
        decisions: result.memory ?? memory.decisions,
        ...(measured ? { synced: { atMs: now, spec: autoscaler.spec } } : {}),
      });
      return result.decision;
    },
  };
}

/** Usage is compared once per period, also when pods come and go in between. */
function nextSyncInMs({ synced }: Memory, { spec }: Autoscaler, now: number): number {
  return synced && equalJson(synced.spec, spec) ? synced.atMs + SYNC_MS - now : 0;
}

function podsOf({ metadata, spec }: Workload, view: ClusterView): readonly Pod[] {
  return view.list<Pod>(PODS, metadata.namespace).filter((pod) => selectsLabels(spec?.selector, pod.metadata.labels));
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
