import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ClassRuntime } from "@oaas/contracts/crd";
import {
  DeployOutcome,
  StatusCode,
  type DeploymentUnit,
  type DeployRequest,
  type DeployResponseSchema,
} from "@oaas/contracts/grpc";
import {
  alreadyExists,
  failedPrecondition,
  invalidArgument,
  isFault,
  unavailable,
  type Fault,
  type KeyedQueue,
} from "@oaas/foundation";
import type { Call } from "@oaas/rpc";
import { classRuntimeToSummary } from "../../mapping/status/class-runtime-to-wire.ts";
import { isObjectOf } from "../../mapping/object-identity.ts";
import { isUnchanged, unitToClassRuntime, type UnitObject } from "../../mapping/unit/unit-to-class-runtime.ts";
import { notLeaderFault, writeAsLeader, type Leadership } from "../access/leadership.ts";
import { candidateNames } from "./find-class.ts";
import {
  assertWritable,
  requestedNamespace,
  requireDefaultNamespace,
  type NamespaceRules,
} from "../access/namespaces.ts";
import type { ClassDirectory, ClassStore, StoredClass } from "../../classes/ports.ts";
import type { ServeCheck } from "./serve-check.ts";

/** Dependencies of Deploy. */
export interface DeployDeps {
  readonly namespaces: NamespaceRules;
  readonly store: ClassStore;
  readonly directory: Pick<ClassDirectory, "find">;
  readonly leadership: Leadership;
  readonly check: ServeCheck;
  /** Creates the namespace of a class before it is written; absent if the manager may not create namespaces. */
  readonly provisionNamespace?: ((object: ClassRuntime, signal: AbortSignal) => Promise<void>) | undefined;
  readonly queue: KeyedQueue;
  /** The trace context of the running call, stored as an annotation. */
  readonly traceparent?: (() => string | undefined) | undefined;
  /** Profile of this manager, stored as an annotation. */
  readonly profile: string;
}

/** The outcome of Deploy and the stored object. */
export interface DeployResult {
  readonly outcome: DeployOutcome;
  readonly object: StoredClass;
}

/** Attempts of a write that conflicts with other writes. */
const MAX_ATTEMPTS = 5;

/**
 * Creates or updates the class runtime of a unit.
 *
 * Guarantees: a rejected unit writes nothing and all its violations are returned; an unchanged unit writes nothing; an
 * older revision never replaces a newer one; calls for the same id run one after another.
 */
export async function deploy(request: DeployRequest, call: Call, deps: DeployDeps): Promise<DeployResult> {
  const { deploymentUnit: unit } = request;
  const namespace = targetNamespace(request, deps);
  if (unit === undefined) {
    throw invalidArgument("the request", [
      { path: "$.deployment_unit", message: "is missing", fix: "send the unit to deploy" },
    ]);
  }
  const { profile } = deps;
  const converted = unitToClassRuntime(unit, {
    namespace,
    correlationId: call.correlationId,
    traceparent: deps.traceparent?.(),
    profile,
  });
  if (!converted.ok) throw invalidArgument("the unit", converted.error);
  if (!deps.leadership.isLeading) throw notLeaderFault(deps.leadership);
  return deps.queue.run(`${namespace}/${unit.id}`, call.signal, () => converge(converted.value, unit.id, call, deps));
}

/** The namespace in which the class runtime of a request is written. Throws if none is, or if it may not be. */
export function targetNamespace(
  { deploymentUnit, namespace: requested }: Pick<DeployRequest, "deploymentUnit" | "namespace">,
  deps: Pick<DeployDeps, "directory" | "namespaces">,
): string {
  const namespace =
    requestedNamespace(deps.namespaces, requested) ??
    existingNamespace(deploymentUnit, deps) ??
    requireDefaultNamespace(deps.namespaces);
  assertWritable(deps.namespaces, namespace);
  return namespace;
}

/** Without a namespace in the request, a unit of the same owner that exists once is updated where it is. */
function existingNamespace(
  unit: DeploymentUnit | undefined,
  { directory, namespaces }: Pick<DeployDeps, "directory" | "namespaces">,
): string | undefined {
  if (unit === undefined) return undefined;
  const existing = directory
    .find(unit.id)
    .filter(
      ({ storedAs, spec }) => storedAs === undefined && (spec.origin?.managed_by ?? unit.managedBy) === unit.managedBy,
    )
    .map(({ metadata }) => metadata.namespace);
  return existing.length === 1 && !existing.includes(namespaces.fallback) ? existing[0] : undefined;
}

async function converge(unit: UnitObject, id: string, call: Call, deps: DeployDeps): Promise<DeployResult> {
  for (let attempt = 1; ; attempt += 1) {
    const existing =
      attempt === 1 && isUnknown(unit, id, deps) ? undefined : await findExisting(unit, id, call.signal, deps);
    const desired = existing === undefined ? unit : withName(unit, existing.metadata.name);
    if (existing !== undefined) {
      rejectIfDeleting(existing);
      rejectOlderRevision(existing, desired);
      if (isUnchanged(existing, desired.desired)) return { outcome: DeployOutcome.UNCHANGED, object: existing };
    }
    const servable = deps.check.canServe(desired.desired, existing);
    if (!servable.ok) throw servable.error;
    try {
      await writeAsLeader(deps.leadership, async () => deps.provisionNamespace?.(desired.desired, call.signal));
      const object = await writeAsLeader(deps.leadership, () => deps.store.write(desired, existing, call.signal));
      return { outcome: existing === undefined ? DeployOutcome.CREATED : DeployOutcome.UPDATED, object };
    } catch (thrown) {
      if (isFault(thrown, "conflict") && attempt < MAX_ATTEMPTS) continue;
      throw isFault(thrown, "not-found") ? namespaceFault(unit, thrown) : thrown;
    }
  }
}

/**
 * Whether the cache knows no object of this id. Then the first attempt creates it without a read: if an object exists
 * after all, the create conflicts and the next attempt reads it.
 */
function isUnknown({ manifest }: UnitObject, id: string, { directory }: DeployDeps): boolean {
  const { namespace } = manifest.metadata;
  return (
    candidateNames(id).length === 1 && directory.find(id).every(({ metadata }) => metadata.namespace !== namespace)
  );
}

/** Reads the object of this id by its current or former name. Throws if another deployment has the name. */
export async function findExisting(
  unit: UnitObject,
  id: string,
  signal: AbortSignal,
  deps: Pick<DeployDeps, "store" | "directory">,
): Promise<StoredClass | undefined> {
  const { name: ownName, namespace = "" } = unit.manifest.metadata;
  for (const name of candidateNames(id)) {
    const found = await deps.store.read({ namespace, name }, signal);
    if (found === undefined) continue;
    if (isObjectOf(found, id)) return found;
    if (name === ownName) {
      throw alreadyExists("class runtime", `${namespace}/${name}`, { context: { deploymentId: id } });
    }
  }
  const record = deps.directory
    .find(id)
    .find(({ storedAs: writtenAs, metadata }) => writtenAs && metadata.namespace === namespace);
  if (record?.storedAs) throw alreadyExists(record.storedAs, `${namespace}/${record.metadata.name}`);
  return undefined;
}

/** Renames the object of a unit: objects of earlier releases keep their names. */
export function withName({ manifest, desired }: UnitObject, name: string): UnitObject {
  return {
    manifest: { ...manifest, metadata: { ...manifest.metadata, name } },
    desired: { ...desired, metadata: { ...desired.metadata, name } },
  };
}

export function rejectIfDeleting({ metadata }: StoredClass): void {
  if (metadata.deletionTimestamp === undefined) return;
  throw unavailable(
    `class runtime "${metadata.name}"`,
    `class runtime "${metadata.namespace}/${metadata.name}" is being deleted; deploy again when it is deleted`,
    { retryAfterMs: 1_000 },
  );
}

export function rejectOlderRevision(existing: StoredClass, { desired }: Pick<UnitObject, "desired">): void {
  const stored = existing.spec.origin?.revision;
  const sent = desired.spec.origin?.revision;
  if (stored === undefined || sent === undefined || sent >= stored) return;
  throw failedPrecondition(
    `revision ${sent}`,
    `revision ${sent} is older than revision ${stored} in the cluster; send a newer revision`,
  );
}

/** The fault of a write into a namespace that does not exist. */
export function namespaceFault({ manifest }: UnitObject, fault: Fault): Fault {
  const { namespace = "" } = manifest.metadata;
  return failedPrecondition(
    `namespace "${namespace}"`,
    `cannot create the class in namespace "${namespace}": ${fault.message}; create the namespace, or let the manager create it (OPRC_CRM_FEATURES_CREATE_NAMESPACES)`,
    { cause: fault },
  );
}

/** Builds the response of Deploy. */
export function deployReply(
  id: string,
  { outcome, object }: DeployResult,
): MessageInitShape<typeof DeployResponseSchema> {
  return {
    status: StatusCode.OK,
    deploymentId: id,
    message: outcome === DeployOutcome.UNCHANGED ? "accepted; unchanged" : "accepted",
    accepted: true,
    classRuntime: classRuntimeToSummary(object),
    outcome,
  };
}
