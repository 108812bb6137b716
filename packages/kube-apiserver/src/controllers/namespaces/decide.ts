import type { KubeObject, Stored } from "@oaas/kube-core";
import type { ResourceName } from "../cluster-objects.ts";
import { create, createDecision, remove, SETTLED, updateStatus, type Decision, type Step } from "../loop/decision.ts";
import { conditionIn } from "../objects/conditions.ts";
import { CONFIG_MAPS, NAMESPACES, PODS, resourceKey, SERVICE_ACCOUNTS } from "../objects/resources.ts";
import { wholeSeconds } from "../objects/time.ts";
import type { Condition, Namespace } from "../objects/typed.ts";

/** All remaining objects of one kind in a namespace. */
export interface Content {
  readonly kind: ResourceName;
  readonly objects: readonly Stored<KubeObject>[];
}

export interface NamespaceState {
  readonly namespace: Stored<Namespace>;
  /** Only requested while the namespace terminates. */
  readonly content: () => readonly Content[];
  readonly hasRootCertificates: boolean;
  readonly hasDefaultAccount: boolean;
  /** The CA bundle of the server. */
  readonly rootCertificates: string;
  readonly now: number;
}

const FINALIZER = "kubernetes";

/** Initializes a namespace; empties a deleted one, pods first, and removes it when nothing is left. */
export function decideNamespace(state: NamespaceState): Decision {
  const { namespace } = state;
  if (namespace.metadata.deletionTimestamp === undefined) return { steps: createInitialObjects(state) };
  if (!namespace.spec?.finalizers?.includes(FINALIZER)) return SETTLED;
  const content = state.content().filter(({ objects }) => objects.length > 0);
  const pods = content.filter(({ kind }) => resourceKey(kind) === resourceKey(PODS));
  const pending = pods.length > 0 ? pods : content;
  const deletions = pending.flatMap(({ kind, objects }) =>
    objects.filter(({ metadata }) => metadata.deletionTimestamp === undefined).map((object) => remove(kind, object)),
  );
  if (deletions.length > 0) return { steps: deletions };
  // While pods terminate, remaining content is not reported: their finalizers do not hold the namespace.
  const remaining = pods.length > 0 ? [] : content;
  const status = createStatusStep(namespace, remaining, state.now);
  return content.length > 0 ? createDecision([status]) : createDecision([status, finalize(namespace)]);
}

function createInitialObjects({
  namespace,
  hasDefaultAccount,
  hasRootCertificates,
  rootCertificates,
}: NamespaceState): Step[] {
  const metadata = { namespace: namespace.metadata.name };
  return [
    ...(hasDefaultAccount
      ? []
      : [
          create(SERVICE_ACCOUNTS, {
            apiVersion: "v1",
            kind: "ServiceAccount",
            metadata: { ...metadata, name: "default" },
          }),
        ]),
    ...(hasRootCertificates
      ? []
      : [create(CONFIG_MAPS, createRootCertificateMap(metadata.namespace, rootCertificates))]),
  ];
}

export const ROOT_CERTIFICATES = "kube-root-ca.crt";

function createRootCertificateMap(namespace: string, certificates: string): object {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: ROOT_CERTIFICATES,
      namespace,
      annotations: {
        "kubernetes.io/description":
          "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.",
      },
    },
    data: { "ca.crt": certificates },
  };
}

function finalize(namespace: Stored<Namespace>): Step {
  const finalizers = namespace.spec?.finalizers?.filter((one) => one !== FINALIZER) ?? [];
  const { resourceVersion: _, ...metadata } = namespace.metadata;
  return {
    do: "subresource",
    kind: NAMESPACES,
    name: { name: namespace.metadata.name },
    subresource: "finalize",
    body: { ...namespace, metadata, spec: { ...namespace.spec, finalizers } } as never,
  };
}

function createStatusStep(namespace: Stored<Namespace>, remaining: readonly Content[], now: number): Step | undefined {
  const before = namespace.status?.conditions ?? [];
  // A namespace that is deleted at once never shows a condition.
  if (remaining.length === 0 && before.length === 0) return undefined;
  const conditions = computeConditions(remaining).map((claim) =>
    updateCondition(conditionIn(before, claim.type), claim, now),
  );
  if (conditions.every((condition, index) => condition === before[index])) return undefined;
  return updateStatus(NAMESPACES, { ...namespace, status: { ...namespace.status, phase: "Terminating", conditions } });
}

type NamespaceConditionUpdate = Pick<Condition, "type" | "status" | "reason" | "message">;

function updateCondition(before: Condition | undefined, claim: NamespaceConditionUpdate, now: number): Condition {
  if (before?.status === claim.status && before.reason === claim.reason && before.message === claim.message)
    return before;
  const isSame = before?.status === claim.status && before.lastTransitionTime !== undefined;
  return { ...claim, lastTransitionTime: isSame ? (before.lastTransitionTime ?? "") : wholeSeconds(now) };
}

function computeConditions(remaining: readonly Content[]): readonly NamespaceConditionUpdate[] {
  const counts = remaining.map(
    ({ kind, objects }) => `${kind.resource}.${kind.group} has ${objects.length} resource instances`,
  );
  const finalizers = new Map<string, number>();
  for (const { metadata } of remaining.flatMap(({ objects }) => objects)) {
    for (const finalizer of metadata.finalizers ?? []) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
  }
  const finalizerCounts = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
  return [
    createFalseCondition(
      "NamespaceDeletionDiscoveryFailure",
      "ResourcesDiscovered",
      "All resources successfully discovered",
    ),
    createFalseCondition(
      "NamespaceDeletionGroupVersionParsingFailure",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    createFalseCondition(
      "NamespaceDeletionContentFailure",
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    counts.length === 0
      ? createFalseCondition("NamespaceContentRemaining", "ContentRemoved", "All content successfully removed")
      : {
          type: "NamespaceContentRemaining",
          status: "True",
          reason: "SomeResourcesRemain",
          message: `Some resources are remaining: ${counts.sort().join(", ")}`,
        },
    finalizerCounts.length === 0
      ? createFalseCondition(
          "NamespaceFinalizersRemaining",
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        )
      : {
          type: "NamespaceFinalizersRemaining",
          status: "True",
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${finalizerCounts.sort().join(", ")}`,
        },
  ];
}

function createFalseCondition(type: string, reason: string, message: string): NamespaceConditionUpdate {
  return { type, status: "False", reason, message };
}
