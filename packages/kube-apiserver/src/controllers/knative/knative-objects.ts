import { equalJson, type KubeObject, ownerReferenceTo, type Stored } from "@oaas/kube-core";
import { createDecision, SETTLED, updateStatus, type Decision } from "../loop/decision.ts";
import { conditionIn, withCondition, type Claim } from "../objects/conditions.ts";
import type { Resource } from "../objects/resources.ts";
import type { Condition, PodTemplate, Texts } from "../objects/typed.ts";

export interface Traffic {
  readonly latestRevision?: boolean;
  readonly revisionName?: string;
  readonly configurationName?: string;
  readonly percent?: number;
  readonly tag?: string;
}

export interface KnativeStatus {
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
  readonly latestCreatedRevisionName?: string;
  readonly latestReadyRevisionName?: string;
  readonly url?: string;
  readonly address?: { readonly url: string };
  readonly traffic?: readonly Traffic[];
  readonly actualReplicas?: number;
  readonly desiredReplicas?: number;
}

/** Services, Configurations and Routes: each has the parts of the spec that concern it. */
export interface KnativeObject extends KubeObject {
  readonly spec?: { readonly template?: PodTemplate; readonly traffic?: readonly Traffic[] };
  readonly status?: KnativeStatus;
}

export interface KnativeRevision extends KubeObject {
  readonly spec?: PodTemplate["spec"] & { readonly containerConcurrency?: number; readonly timeoutSeconds?: number };
  readonly status?: KnativeStatus;
}

export const LABELS = {
  service: "serving.knative.dev/service",
  serviceUid: "serving.knative.dev/serviceUID",
  configuration: "serving.knative.dev/configuration",
  configurationUid: "serving.knative.dev/configurationUID",
  generation: "serving.knative.dev/configurationGeneration",
  revision: "serving.knative.dev/revision",
  revisionUid: "serving.knative.dev/revisionUID",
  route: "serving.knative.dev/route",
} as const;

/** A child in the owner's namespace with a reference to it. */
export function createChildMetadata(
  owner: Stored<KubeObject>,
  kind: Resource,
  name: string,
  labels: Texts,
  content: object,
): object {
  const { namespace } = owner.metadata;
  return {
    apiVersion: kind.apiVersion,
    kind: kind.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels,
      ownerReferences: [ownerReferenceTo(owner)],
    },
    ...content,
  };
}

export const isTrue = (status: KnativeStatus | undefined, type: string): boolean =>
  conditionIn(status?.conditions, type)?.status === "True";

/** Knative's conditions: sorted by type; Ready is False if one is False, else Unknown if one is Unknown, else True. */
export function setReady(
  before: KnativeStatus | undefined,
  claims: readonly Claim[],
  now: number,
  ignored: readonly string[] = [],
): readonly Condition[] {
  const relevant = claims.filter(({ type }) => !ignored.includes(type));
  const worst =
    relevant.find(({ status }) => status === "False") ?? relevant.find(({ status }) => status === "Unknown");
  const ready: Claim = worst ? { ...worst, type: "Ready" } : { type: "Ready", status: "True" };
  return [...claims, ready]
    .reduce<readonly Condition[]>((list, claim) => withCondition(list, claim, now), before?.conditions ?? [])
    .toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

/** The Ready condition of another object as an own condition. */
export function propagateCondition(type: string, status: KnativeStatus | undefined, observed: boolean): Claim {
  const ready = observed ? conditionIn(status?.conditions, "Ready") : undefined;
  if (!ready) return { type, status: "Unknown" };
  const { reason, message } = ready;
  return {
    type,
    status: ready.status as Claim["status"],
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
  };
}

export function isObservedBy({ metadata, status }: KnativeObject): boolean {
  return (status?.observedGeneration ?? 0) >= (metadata.generation ?? 1);
}

/** Routes name the Configuration they follow. */
export function withoutConfiguration(traffic: Traffic): Traffic {
  const { configurationName: _, ...rest } = traffic;
  return rest;
}

export function statusDecision(
  kind: Resource,
  object: Stored<KnativeObject | KnativeRevision>,
  status: KnativeStatus,
): Decision {
  return equalJson(status, object.status ?? {}) ? SETTLED : createDecision([updateStatus(kind, { ...object, status })]);
}
