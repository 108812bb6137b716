import type { ClassRuntime, ClassRuntimeInput } from "@oaas/contracts/crd";
import { canonicalJson } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject, Stored } from "@oaas/kube-core";
import { KubeClient, resourceType } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { HASH_ANNOTATION } from "../../src/controller/children/apply-children.ts";
import {
  CLASS_RUNTIMES,
  CORE_CHILD_KINDS,
  DEPLOYMENT_TEMPLATES,
  PODS,
} from "../../src/controller/kinds/resource-types.ts";

/** The objects of a namespace by kind and name, without fields that depend on time or identity. */
export type NamespaceSnapshot = ReadonlyMap<string, unknown>;

export const NAMESPACES = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  resource: "namespaces",
  namespaced: false,
});

/** A client with administrator credentials. */
export function adminClient(cluster: { readonly kubeconfig: string }): KubeClient {
  const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
  return new KubeClient({ transport: createUndiciTransport(access, realAmbient), ambient: realAmbient });
}

export async function createNamespace(client: KubeClient, name: string): Promise<void> {
  await client.resource(NAMESPACES).create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

/** The part of a class spec that tests vary. */
export interface DesiredClass {
  /** Function keys, each with the image tag or with tag and minimum scale. */
  readonly functions: Readonly<Record<string, string | { readonly tag: string; readonly min?: number }>>;
  readonly template?: string;
  readonly odgm?: boolean;
  /** Whether its state store follows every change of the spec, although objects are lost. */
  readonly mayLoseState?: boolean;
}

/** Builds the class runtime. */
export function classRuntimeOf(namespace: string, name: string, desired: DesiredClass): ClassRuntime & KubeObject {
  const functions = Object.entries(desired.functions).map(([key, settings]) => {
    const { tag, min } = typeof settings === "string" ? { tag: settings, min: undefined } : settings;
    return {
      function_key: key,
      provision_config: { container_image: `example.test/fn:${tag}`, ...(min === undefined ? {} : { min_scale: min }) },
    };
  });
  const spec: ClassRuntimeInput["spec"] = {
    package_class_key: "shop.Order",
    functions,
    ...(desired.template === undefined ? {} : { selected_template: desired.template }),
    ...(desired.odgm ? { state_spec: { consistency_model: "strong" } } : {}),
    ...odgmConfigOf(desired),
  };
  return {
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { namespace, name },
    spec,
  } as ClassRuntime & KubeObject;
}

/** A fixed id: generated ids contain the namespace. */
function odgmConfigOf({ odgm = false, mayLoseState = false }: DesiredClass): object {
  const permission = mayLoseState ? { allow_layout_change: true } : {};
  if (odgm) return { odgm_config: { node_id: 4711, ...permission } };
  return mayLoseState ? { odgm_config: { enabled: false, ...permission } } : {};
}

/** Creates or updates a class as a user does. */
export async function applyClass(
  client: KubeClient,
  namespace: string,
  name: string,
  desired: DesiredClass,
): Promise<void> {
  const classes = client.resource(CLASS_RUNTIMES);
  await classes.apply(classRuntimeOf(namespace, name, desired), { fieldManager: "user", force: true });
}

/** Creates a user template: a Deployment with a longer termination grace period. */
export async function createUserTemplate(client: KubeClient, namespace: string, name: string): Promise<void> {
  const manifest = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    spec: { template: { spec: { terminationGracePeriodSeconds: 7 } } },
  };
  await client.resource(DEPLOYMENT_TEMPLATES).create({
    apiVersion: "oaas.io/v1alpha1",
    kind: "DeploymentTemplate",
    metadata: { namespace, name },
    spec: { template_type: "Deployment", manifests: [manifest] },
  } as never);
}

/** Objects that Kubernetes creates in every namespace. */
const BUILT_IN_OBJECTS: ReadonlySet<string> = new Set(["ConfigMap kube-root-ca.crt", "ServiceAccount default"]);

/** Reads class runtimes, possible children and pods of a namespace. */
export async function snapshotNamespace(client: KubeClient, namespace: string): Promise<NamespaceSnapshot> {
  const kinds = [CLASS_RUNTIMES, ...CORE_CHILD_KINDS, PODS];
  const lists = await Promise.all(kinds.map((kind) => client.resource<KubeObject>(kind as never).list({ namespace })));
  const objects = lists
    .flatMap(({ items }) => items)
    .filter(({ kind, metadata }) => !BUILT_IN_OBJECTS.has(`${kind} ${metadata.name}`));
  const pods = objects.filter(({ kind }) => kind === "Pod");
  const others = objects.filter(({ kind }) => kind !== "Pod");
  return new Map([
    ...others.map(
      (object) => [`${object.kind} ${object.metadata.name}`, withoutVolatileFields(object, namespace)] as const,
    ),
    ...podCounts(pods),
  ]);
}

/** The pods that the workloads of a snapshot request; others may still be starting or terminating. */
export function desiredPods(snapshot: NamespaceSnapshot): NamespaceSnapshot {
  return new Map(
    [...snapshot].flatMap(([id, object]) => {
      const name = /^(?:Deployment|StatefulSet) (.+)$/.exec(id)?.[1];
      if (name === undefined) return [];
      const { replicas } = (object as { readonly spec: { readonly replicas: number } }).spec;
      return replicas === 0 ? [] : [[`Pods of ${name}`, replicas] as const];
    }),
  );
}

/** Describes the differences between two snapshots. */
export function differences(actual: NamespaceSnapshot, expected: NamespaceSnapshot): string[] {
  return [...new Set([...actual.keys(), ...expected.keys()])].toSorted().flatMap((id) => {
    if (!actual.has(id)) return [`${id} is missing`];
    if (!expected.has(id)) return [`${id} is unexpected`];
    return differingPaths(actual.get(id), expected.get(id), id);
  });
}

/** Throws an error with the differences between two snapshots. */
export function assertEqualSnapshots(actual: NamespaceSnapshot, expected: NamespaceSnapshot): void {
  const found = differences(actual, expected);
  if (found.length > 0) throw new Error(found.join("; "));
}

function differingPaths(actual: unknown, expected: unknown, path: string): string[] {
  const [actualText, expectedText] = [canonicalJson(actual ?? null), canonicalJson(expected ?? null)];
  if (actualText === expectedText) return [];
  if (!isRecord(actual) || !isRecord(expected))
    return [`${path} is ${actualText.slice(0, 300)}, not ${expectedText.slice(0, 300)}`];
  const fields = new Set([...Object.keys(actual), ...Object.keys(expected)]);
  return [...fields].flatMap((field) => differingPaths(actual[field], expected[field], `${path}.${field}`));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Pod names are random, so pods are counted per workload. */
function podCounts(pods: readonly Stored<KubeObject>[]): [string, unknown][] {
  const counts = new Map<string, number>();
  for (const { metadata } of pods) {
    const id = `Pods of ${metadata.labels?.["app"] ?? metadata.name}`;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts];
}

/** Fields that other controllers write, or that differ between runs. */
const VOLATILE_FIELDS = new Set([
  "uid",
  "resourceVersion",
  "generation",
  "observedGeneration",
  "creationTimestamp",
  "managedFields",
  "lastTransitionTime",
  "last_updated",
  // Of the settings of a state store, which contain the namespace, and their time.
  "configuration",
  "clusterIP",
  "clusterIPs",
  "deployment.kubernetes.io/revision",
  "deprecated.daemonset.template.generation",
  // The history of edits by others.
  "drift_corrections",
]);

/** Hashes over the owner uid or the namespace; the hashed content is compared itself. */
const HASH_ANNOTATIONS = new Set([HASH_ANNOTATION]);

function withoutVolatileFields(object: Stored<KubeObject>, namespace: string): unknown {
  const { status, ...rest } = object as Stored<KubeObject> & { readonly status?: unknown };
  // The status of a child belongs to its own controller.
  const kept = object.kind === "ClassRuntime" ? { ...rest, status } : rest;
  const text = JSON.stringify(kept, (field, value: unknown) => {
    if (VOLATILE_FIELDS.has(field)) return undefined;
    return HASH_ANNOTATIONS.has(field) ? "set" : value;
  });
  return JSON.parse(text.replaceAll(namespace, "NAMESPACE")) as unknown;
}
