import { equalJson, selectsLabels, type KubeObject } from "@oaas/kube-core";
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
import {
  decideAutoscaler,
  SYNC_MS,
  type Autoscaler,
  type AutoscalerDecision,
  type AutoscalerState,
} from "./autoscaler.ts";
import type { Recommendation, ScaleEvent } from "./scaling-behavior.ts";

const TARGETS: Readonly<Record<string, Resource>> = {
  Deployment: DEPLOYMENTS,
  ReplicaSet: REPLICA_SETS,
  StatefulSet: STATEFUL_SETS,
};

/** Maximum number of remembered recommendations and changes: an hour of them, the longest window. */
const REMEMBERED = 240;
const REMEMBERED_MS = 3_600_000;

interface Memory {
  /** The last pass over usage, and the spec that it followed. */
  readonly synced?: { readonly atMs: number; readonly spec: Autoscaler["spec"] };
  readonly recommendations: readonly Recommendation[];
  readonly scaleEvents: readonly ScaleEvent[];
}

const NOTHING: Memory = { recommendations: [], scaleEvents: [] };

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
      const result = decideAutoscaler({ autoscaler, target, ...memory, now, ...(measured ? { measured } : {}) });
      memories.set(key, {
        ...remember(memory, result, now),
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

function remember(memory: Memory, { recommended, change }: AutoscalerDecision, now: number): Memory {
  const { recommendations, scaleEvents } = memory;
  const last = recommendations.at(-1);
  const isNew = recommended !== undefined && (last?.replicas !== recommended || last.atMs !== now);
  const isRecent = ({ atMs }: { readonly atMs: number }): boolean => atMs > now - REMEMBERED_MS;
  return {
    recommendations: isNew
      ? [...recommendations.filter(isRecent), { atMs: now, replicas: recommended }].slice(-REMEMBERED)
      : recommendations,
    scaleEvents:
      change === undefined ? scaleEvents : [...scaleEvents.filter(isRecent), { atMs: now, change }].slice(-REMEMBERED),
  };
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
