import type { ClassRuntime, ClassRuntimeInput } from "@oaas/contracts/crd";
import { canonicalJson } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject, Stored } from "@oaas/kube-core";
import { KubeClient, resourceType } from "@oaas/kube-runtime";
import { createUndiciTransport, loadAccess } from "@oaas/kube-runtime/node";
import { HASH_ANNOTATION } from "../src/controller/children/apply-children.ts";
import {
  CLASS_RUNTIMES,
  CORE_CHILD_KINDS,
  DEPLOYMENT_TEMPLATES,
  PODS,
} from "../src/controller/kinds/resource-types.ts";

/** A namespace as it is, by kind and name, without what depends on when and where it was made. */
export type World = ReadonlyMap<string, unknown>;

export const NAMESPACES = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  resource: "namespaces",
  namespaced: false,
});

/** A client that goes straight to the server, as the administrator. */
export function straightClient(cluster: { readonly kubeconfig: string }): KubeClient {
  const access = loadAccess({ env: {}, kubeconfig: cluster.kubeconfig });
  return new KubeClient({ transport: createUndiciTransport(access, realAmbient), ambient: realAmbient });
}

/** Makes a namespace. */
export async function makeNamespace(client: KubeClient, name: string): Promise<void> {
  await client.resource(NAMESPACES).create({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

/** What a class asks for, in the words of a test. */
export interface Wish {
  /** Keys of functions, each with the tag of its image, or all about it. */
  readonly functions: Readonly<Record<string, string | { readonly tag: string; readonly min?: number }>>;
  readonly template?: string;
  readonly odgm?: boolean;
}

/** A class that asks for this. */
export function classOf(namespace: string, name: string, wish: Wish): ClassRuntime & KubeObject {
  const functions = Object.entries(wish.functions).map(([key, about]) => {
    const { tag, min } = typeof about === "string" ? { tag: about, min: undefined } : about;
    return {
      function_key: key,
      provision_config: { container_image: `example.test/fn:${tag}`, ...(min === undefined ? {} : { min_scale: min }) },
    };
  });
  const spec: ClassRuntimeInput["spec"] = {
    package_class_key: "shop.Order",
    functions,
    ...(wish.template === undefined ? {} : { selected_template: wish.template }),
    // Ids of our own making contain the namespace.
    ...(wish.odgm ? { state_spec: { consistency_model: "strong" }, odgm_config: { node_id: 4711 } } : {}),
  };
  return {
    apiVersion: "oaas.io/v1alpha1",
    kind: "ClassRuntime",
    metadata: { namespace, name },
    spec,
  } as ClassRuntime & KubeObject;
}

/** Asks for a class to be so, as a user does: creates it or changes what it says. */
export async function ask(client: KubeClient, namespace: string, name: string, wish: Wish): Promise<void> {
  const classes = client.resource(CLASS_RUNTIMES);
  await classes.apply(classOf(namespace, name, wish), { fieldManager: "user", force: true });
}

/** Makes a template of a user: a Deployment that waits longer for its pods to end. */
export async function makeUserTemplate(client: KubeClient, namespace: string, name: string): Promise<void> {
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

/** What Kubernetes puts into every namespace, sooner or later. */
const KUBERNETES_OWN: ReadonlySet<string> = new Set(["ConfigMap kube-root-ca.crt", "ServiceAccount default"]);

/** Everything of ours, or in the way of ours, that is in a namespace. */
export async function worldOf(client: KubeClient, namespace: string): Promise<World> {
  const kinds = [CLASS_RUNTIMES, ...CORE_CHILD_KINDS, PODS];
  const lists = await Promise.all(kinds.map((kind) => client.resource<KubeObject>(kind as never).list({ namespace })));
  const objects = lists
    .flatMap(({ items }) => items)
    .filter(({ kind, metadata }) => !KUBERNETES_OWN.has(`${kind} ${metadata.name}`));
  const pods = objects.filter(({ kind }) => kind === "Pod");
  const others = objects.filter(({ kind }) => kind !== "Pod");
  return new Map([
    ...others.map((object) => [`${object.kind} ${object.metadata.name}`, timeless(object, namespace)] as const),
    ...podCounts(pods),
  ]);
}

/** The pods that the workloads of a world ask for; others may be about to come or to go. */
export function askedPods(world: World): World {
  return new Map(
    [...world].flatMap(([id, object]) => {
      const name = /^(?:Deployment|StatefulSet) (.+)$/.exec(id)?.[1];
      if (name === undefined) return [];
      const { replicas } = (object as { readonly spec: { readonly replicas: number } }).spec;
      return replicas === 0 ? [] : [[`Pods of ${name}`, replicas] as const];
    }),
  );
}

/** How two worlds differ, in words; empty when they do not. */
export function differences(actual: World, wanted: World): string[] {
  return [...new Set([...actual.keys(), ...wanted.keys()])].toSorted().flatMap((id) => {
    if (!actual.has(id)) return [`${id} is missing`];
    if (!wanted.has(id)) return [`${id} should not be there`];
    return differingPaths(actual.get(id), wanted.get(id), id);
  });
}

/** Throws how two worlds differ. */
export function mustEqual(actual: World, wanted: World): void {
  const found = differences(actual, wanted);
  if (found.length > 0) throw new Error(found.join("; "));
}

function differingPaths(actual: unknown, wanted: unknown, path: string): string[] {
  const [is, should] = [canonicalJson(actual ?? null), canonicalJson(wanted ?? null)];
  if (is === should) return [];
  if (!isRecord(actual) || !isRecord(wanted)) return [`${path} is ${is.slice(0, 300)}, not ${should.slice(0, 300)}`];
  const fields = new Set([...Object.keys(actual), ...Object.keys(wanted)]);
  return [...fields].flatMap((field) => differingPaths(actual[field], wanted[field], `${path}.${field}`));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** Pods have names of their own each time; what counts is how many there are of each. */
function podCounts(pods: readonly Stored<KubeObject>[]): [string, unknown][] {
  const counts = new Map<string, number>();
  for (const { metadata } of pods) {
    const id = `Pods of ${metadata.labels?.["app"] ?? metadata.name}`;
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts];
}

/** Written by others, or at a time, or under an identity of this run. */
const FLEETING = new Set([
  "uid",
  "resourceVersion",
  "generation",
  "observedGeneration",
  "creationTimestamp",
  "managedFields",
  "lastTransitionTime",
  "last_updated",
  "clusterIP",
  "clusterIPs",
  "deployment.kubernetes.io/revision",
  "deprecated.daemonset.template.generation",
]);

/** Made of the owner's uid or the namespace too; what they stand for is compared itself. */
const HASHES = new Set([HASH_ANNOTATION, "oaas.io/config-hash"]);

function timeless(object: Stored<KubeObject>, namespace: string): unknown {
  const { status, ...rest } = object as Stored<KubeObject> & { readonly status?: unknown };
  // The status of a class is ours; that of a child is its controller's.
  const kept = object.kind === "ClassRuntime" ? { ...rest, status } : rest;
  const text = JSON.stringify(kept, (field, value: unknown) => {
    if (FLEETING.has(field)) return undefined;
    return HASHES.has(field) ? "there" : value;
  });
  return JSON.parse(text.replaceAll(namespace, "NAMESPACE")) as unknown;
}
