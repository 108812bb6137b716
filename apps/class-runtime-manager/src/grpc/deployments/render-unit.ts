import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ClassRuntime } from "@oaas/contracts/crd";
import { ObjectChange, type RenderUnitRequest, type RenderUnitResponseSchema } from "@oaas/contracts/grpc";
import { equalJson, invalidArgument, isFault } from "@oaas/foundation";
import type { Call } from "@oaas/rpc";
import type { ClassDirectory, StoredClass } from "../../classes/ports.ts";
import type { ClassPreview, ObjectPreview } from "../../controller/reconcile/preview-class.ts";
import { ANNOTATIONS, isObjectOf } from "../../mapping/object-identity.ts";
import { unitToClassRuntime, type UnitObject } from "../../mapping/unit/unit-to-class-runtime.ts";
import { notLeaderFault } from "../access/leadership.ts";
import {
  findExisting,
  namespaceFault,
  rejectIfDeleting,
  rejectOlderRevision,
  targetNamespace,
  withName,
  type DeployDeps,
} from "./deploy.ts";
import { candidateNames } from "./find-class.ts";

/** Dependencies of RenderUnit. */
export interface RenderUnitDeps extends Omit<DeployDeps, "queue" | "provisionNamespace" | "traceparent"> {
  /** Renders a class and compares its children with the cluster, as its next reconcile would. */
  readonly preview: (object: StoredClass, signal: AbortSignal) => Promise<ClassPreview>;
  /** What deploying a class changes in its namespace; absent if the manager may not create namespaces. */
  readonly previewNamespace?:
    | ((object: ClassRuntime, signal: AbortSignal) => Promise<readonly ObjectPreview[]>)
    | undefined;
}

/** Objects of one response. */
const MAX_OBJECTS = 256;

/** Renders a unit as Deploy and the reconcile would, and returns the changes. Throws what Deploy would throw. */
export async function renderUnit(
  request: RenderUnitRequest,
  { signal }: Call,
  deps: RenderUnitDeps,
): Promise<MessageInitShape<typeof RenderUnitResponseSchema>> {
  const { deploymentUnit: unit } = request;
  const namespace = targetNamespace(request, deps);
  if (unit === undefined) {
    throw invalidArgument("the request", [
      { path: "$.deployment_unit", message: "is missing", fix: "send the unit to render" },
    ]);
  }
  const converted = unitToClassRuntime(unit, { namespace, profile: deps.profile });
  if (!converted.ok) throw invalidArgument("the unit", converted.error);
  // Only the leader knows the served kinds, the admitted quotas and what was applied last.
  if (!deps.leadership.isLeading) throw notLeaderFault(deps.leadership);

  const existing =
    findKnown(unit.id, namespace, deps.directory) ?? (await findExisting(converted.value, unit.id, signal, deps));
  const named = existing === undefined ? converted.value : withName(converted.value, existing.metadata.name);
  const { desired } = named;
  if (existing !== undefined) {
    rejectIfDeleting(existing);
    rejectOlderRevision(existing, named);
  }
  const change = existing === undefined ? "create" : isSameSpec(existing, desired) ? "unchanged" : "update";
  const ofNamespace = change === "unchanged" ? [] : await checkWrite(named, existing, signal, deps);
  const object = afterDeploy(existing, desired);
  const { template, objects, warnings } = await deps.preview(object, signal);
  const { apiVersion, kind, metadata } = object;
  const all = [
    { apiVersion, kind, namespace, name: metadata.name, change, fields: [], moreFields: 0 } satisfies ObjectPreview,
    ...ofNamespace,
    ...objects,
  ];
  return {
    namespace,
    template: template?.name ?? "",
    templateBasis: template?.basis ?? "",
    objects: changedFirst(all).slice(0, MAX_OBJECTS).map(objectToWire),
    moreObjects: Math.max(0, all.length - MAX_OBJECTS),
    warnings: [...warnings],
  };
}

/** Throws what writing the unit would throw. Returns the changes of its namespace. */
async function checkWrite(
  unit: UnitObject,
  existing: StoredClass | undefined,
  signal: AbortSignal,
  { check, store, previewNamespace }: RenderUnitDeps,
): Promise<readonly ObjectPreview[]> {
  const servable = check.canServe(unit.desired, existing);
  if (!servable.ok) throw servable.error;
  const ofNamespace = (await previewNamespace?.(unit.desired, signal)) ?? [];
  // Nothing can be checked in a namespace that does not exist yet.
  if (ofNamespace.some(({ kind, change }) => kind === "Namespace" && change === "create")) return ofNamespace;
  try {
    await store.check(unit, existing, signal);
  } catch (thrown) {
    throw isFault(thrown, "not-found") ? namespaceFault(unit, thrown) : thrown;
  }
  return ofNamespace;
}

/** The class runtime of a unit in the cache, which shows own writes at once. */
function findKnown(id: string, namespace: string, directory: Pick<ClassDirectory, "find">): StoredClass | undefined {
  const names = candidateNames(id);
  return directory
    .find(id)
    .find(
      (one) =>
        one.storedAs === undefined &&
        one.metadata.namespace === namespace &&
        names.includes(one.metadata.name) &&
        isObjectOf(one, id),
    );
}

/** Whether the children are rendered from the same spec; the origin only says who sent it. */
function isSameSpec(stored: StoredClass, desired: UnitObject["desired"]): boolean {
  return equalJson({ ...stored.spec, origin: undefined }, { ...desired.spec, origin: undefined });
}

/** The object that Deploy would store. One that does not exist yet has an empty uid. */
function afterDeploy(existing: StoredClass | undefined, desired: ClassRuntime): StoredClass {
  if (existing === undefined)
    return { ...desired, metadata: { ...desired.metadata, uid: "", resourceVersion: "" } } as StoredClass;
  const { labels, annotations } = desired.metadata;
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: { ...existing.metadata.labels, ...labels },
      annotations: { ...withoutStaleMode(existing), ...annotations },
    },
    spec: desired.spec,
  };
}

/** Deploy removes the annotation with the mode of the earlier spec, but not one that a user wrote. */
function withoutStaleMode({ metadata, spec }: StoredClass): Readonly<Record<string, string>> {
  const { [ANNOTATIONS.enforcement]: mode, ...others } = metadata.annotations ?? {};
  return mode === undefined || mode === spec.enforcement?.mode
    ? others
    : { ...others, [ANNOTATIONS.enforcement]: mode };
}

/** Unchanged objects are left out first where there are too many; the class runtime stays first. */
function changedFirst([own, ...children]: readonly ObjectPreview[]): ObjectPreview[] {
  if (own === undefined || children.length < MAX_OBJECTS) return [...(own ? [own] : []), ...children];
  const isChanged = ({ change }: ObjectPreview): boolean => change !== "unchanged";
  return [own, ...children.filter(isChanged), ...children.filter((one) => !isChanged(one))];
}

const CHANGES: Readonly<Record<ObjectPreview["change"], ObjectChange>> = {
  create: ObjectChange.CREATE,
  update: ObjectChange.UPDATE,
  delete: ObjectChange.DELETE,
  unchanged: ObjectChange.UNCHANGED,
  blocked: ObjectChange.BLOCKED,
};

function objectToWire({ change, fields, problem, ...object }: ObjectPreview) {
  return {
    ...object,
    change: CHANGES[change],
    fields: fields.map((field) => ({ ...field })),
    ...(problem === undefined ? {} : { problem }),
  };
}
