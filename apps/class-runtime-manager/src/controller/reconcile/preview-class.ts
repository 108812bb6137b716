import { Semaphore, violationText } from "@oaas/foundation";
import { formatObjectKey, gvkOf, keyOf, type KubeObject, type Stored } from "@oaas/kube-core";
import { changedFields, type ChangedField } from "../../lifecycle/status/changed-fields.ts";
import { replicasHandover, type Manifest } from "../../templates/index.ts";
import { HASH_ANNOTATION, type ChildPreview } from "../children/apply-children.ts";
import { resolveNameConflicts } from "../children/knative-names.ts";
import { FIELD_MANAGER } from "../children/ownership.ts";
import { findStrayChildren } from "../children/stray-children.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import { statusUids } from "./reconcile.ts";
import { renderDesired, type DesiredChildren } from "./render-desired.ts";

/** The change that the reconcile of a class would make to one object. */
export interface ObjectPreview {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly change: "create" | "update" | "delete" | "unchanged" | "blocked";
  /** Of an update. */
  readonly fields: readonly ChangedField[];
  readonly moreFields: number;
  /** Why it is blocked. */
  readonly problem?: string;
}

/** The changes that the reconcile of a class would make. */
export interface ClassPreview {
  /** Absent when the class cannot be rendered; then its children stay as they are. */
  readonly template?: NonNullable<DesiredChildren["expected"]>["template"];
  /** By kind and name. */
  readonly objects: readonly ObjectPreview[];
  readonly warnings: readonly string[];
}

/** Children of one class that are compared in parallel. */
const MAX_PARALLEL_PREVIEWS = 16;

/** Annotations that are not part of the desired state. */
const BOOKKEEPING = [HASH_ANNOTATION, "deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"];

/**
 * Renders a class as its reconcile does and compares the children with the cluster, without writing. A class that does
 * not exist yet has an empty uid.
 */
export async function previewClass<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<ClassPreview> {
  const { expected, problems, warnings = [] } = renderDesired(object, deps, "check");
  if (expected === undefined) {
    return { objects: [], warnings: problems.map(({ reason, message }) => `${reason}: ${message}`) };
  }
  const { template } = expected;
  const children: readonly Manifest[] = expected.children;
  const before = deps.children.childrenOf(object.metadata.uid);
  const { applicable } = resolveNameConflicts(children, before, (kind, manifest) =>
    deps.children.get(kind, keyOf(manifest)),
  );
  const free = new Set(applicable);
  const known = statusUids(object, deps);
  const requests = new Semaphore({ name: "previews", permits: MAX_PARALLEL_PREVIEWS });
  const [strays, rendered] = await Promise.all([
    findStrayChildren(object, { known: before, unconfirmed: [] }, signal, deps),
    Promise.all(
      children.map(async (manifest) =>
        // A child whose name another child of the class holds is created when that one is deleted.
        free.has(manifest)
          ? describeChild(manifest, await requests.run(signal, () => deps.applier.preview(manifest, signal, known)))
          : describeChild(manifest, { change: "create" }),
      ),
    ),
  ]);
  const desired = new Set(children.map(identityOf));
  const all = [...before, ...strays].map((child) => child.object);
  const held = new Set((expected.odgm?.held ?? []).map(({ kind, name }) => `${kind} ${name}`));
  const surplus = all.filter(
    (live) => !desired.has(identityOf(live)) && !held.has(`${live.kind} ${live.metadata.name ?? ""}`),
  );
  const isBlocked = rendered.some(({ change }) => change === "blocked");
  const objects = [...rendered, ...surplus.map((live) => describeSurplus(live, isBlocked))];
  const refused = expected.odgm?.refusedLayout;
  return {
    template,
    objects: objects.sort(byKindAndName),
    warnings: [...(refused === undefined ? [] : [refused.message]), ...warnings.map(violationText)],
  };
}

function describeChild(manifest: Manifest, preview: ChildPreview): ObjectPreview {
  const { change } = preview;
  const changed = change === "update" ? fieldsOf(manifest, preview) : { fields: [], moreFields: 0 };
  return {
    ...nameOf(manifest),
    change,
    ...changed,
    ...(change === "blocked" ? { problem: preview.problem } : {}),
  };
}

/** An autoscaler that takes over the replicas keeps their number. */
function fieldsOf(
  manifest: Manifest,
  { live, updated }: Extract<ChildPreview, { readonly change: "update" }>,
): ReturnType<typeof changedFields> {
  if (updated === undefined) return { fields: [], moreFields: 0 };
  const handedOver = replicasHandover(manifest, live, FIELD_MANAGER) === undefined ? [] : ["replicas"];
  return changedFields(live, updated, new Set([...BOOKKEEPING, ...handedOver]));
}

/** A pass that cannot apply every child prunes none. */
function describeSurplus(live: KubeObject, isBlocked: boolean): ObjectPreview {
  const object = { ...nameOf(live), fields: [], moreFields: 0 };
  return isBlocked
    ? { ...object, change: "blocked", problem: "is deleted when every other object can be applied" }
    : { ...object, change: "delete" };
}

function nameOf(object: KubeObject): Pick<ObjectPreview, "apiVersion" | "kind" | "namespace" | "name"> {
  return { apiVersion: object.apiVersion, kind: object.kind, ...keyOf(object) };
}

/** Identifies an object of any served version. */
function identityOf(object: KubeObject): string {
  const gvk = gvkOf(object);
  return `${gvk.ok ? gvk.value.group : ""} ${object.kind} ${formatObjectKey(keyOf(object))}`;
}

function byKindAndName(a: ObjectPreview, b: ObjectPreview): number {
  const key = ({ kind, apiVersion, namespace, name }: ObjectPreview): string =>
    [kind, apiVersion, namespace, name].join(" ");
  return key(a) < key(b) ? -1 : 1;
}
