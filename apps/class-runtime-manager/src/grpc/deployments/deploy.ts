import type { MessageInitShape } from "@bufbuild/protobuf";
import { DeployOutcome, StatusCode, type DeployRequest, type DeployResponseSchema } from "@oaas/contracts/grpc";
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
import { notLeading, whileLeading, type Leadership } from "../access/leadership.ts";
import { candidateNames } from "./find-class.ts";
import { requestedNamespace, type NamespaceRules } from "../access/namespaces.ts";
import type { ClassDirectory, ClassStore, StoredClass } from "../../classes/ports.ts";
import type { ServeCheck } from "./serve-check.ts";

/** What Deploy needs. */
export interface DeployDeps {
  readonly namespaces: NamespaceRules;
  readonly store: ClassStore;
  readonly directory: Pick<ClassDirectory, "find">;
  readonly leadership: Leadership;
  readonly check: ServeCheck;
  readonly queue: KeyedQueue;
  /** Profile of this manager, kept as an annotation. */
  readonly profile: string;
}

/** What became of a unit, and the object it is now. */
export interface Deployed {
  readonly outcome: DeployOutcome;
  readonly object: StoredClass;
}

/** How often a write is tried again that someone else's write went before. */
const ATTEMPTS = 5;

/**
 * Makes the cluster want what the unit says: creates, converges, or finds that it says so already.
 *
 * Guarantees: nothing is written for a unit that is refused, and every violation is told; the same unit again writes nothing; an older
 * revision never goes over a newer one; calls for one id go one after another.
 */
export async function deploy(request: DeployRequest, call: Call, deps: DeployDeps): Promise<Deployed> {
  const { deploymentUnit: unit } = request;
  const namespace = requestedNamespace(deps.namespaces, request.namespace) ?? deps.namespaces.fallback;
  if (unit === undefined) {
    throw invalidArgument("the request", [
      { path: "$.deployment_unit", message: "is missing", fix: "send the unit to deploy" },
    ]);
  }
  const { profile } = deps;
  const made = unitToClassRuntime(unit, { namespace, correlationId: call.correlationId, profile });
  if (!made.ok) throw invalidArgument("the unit", made.error);
  if (!deps.leadership.isLeading) throw notLeading(deps.leadership);
  return deps.queue.run(`${namespace}/${unit.id}`, call.signal, () => converge(made.value, unit.id, call, deps));
}

async function converge(unit: UnitObject, id: string, call: Call, deps: DeployDeps): Promise<Deployed> {
  for (let attempt = 1; ; attempt += 1) {
    const existing = attempt === 1 && isNews(unit, id, deps) ? undefined : await findOwn(unit, id, call.signal, deps);
    const wanted = existing === undefined ? unit : underName(unit, existing.metadata.name);
    if (existing !== undefined) {
      refuseWhileDeleting(existing);
      refuseOlder(existing, wanted);
      if (isUnchanged(existing, wanted.desired)) return { outcome: DeployOutcome.UNCHANGED, object: existing };
    }
    const servable = deps.check.canServe(wanted.desired);
    if (!servable.ok) throw servable.error;
    try {
      const object = await whileLeading(deps.leadership, () => deps.store.write(wanted, existing, call.signal));
      return { outcome: existing === undefined ? DeployOutcome.CREATED : DeployOutcome.UPDATED, object };
    } catch (thrown) {
      if (isFault(thrown, "conflict") && attempt < ATTEMPTS) continue;
      throw isFault(thrown, "not-found") ? noPlace(unit, thrown) : thrown;
    }
  }
}

/**
 * Whether nothing is known of this id, so that the object is made without a look for it: should there be one after all, the store refuses to make
 * another, and the next attempt looks.
 */
function isNews({ manifest }: UnitObject, id: string, { directory }: DeployDeps): boolean {
  const { namespace } = manifest.metadata;
  return (
    candidateNames(id).length === 1 && directory.find(id).every(({ metadata }) => metadata.namespace !== namespace)
  );
}

/** The object of this id, under its own name or that of an earlier manager; a namesake of another id is refused. */
async function findOwn(
  unit: UnitObject,
  id: string,
  signal: AbortSignal,
  deps: DeployDeps,
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
    .find(({ writtenAs, metadata }) => writtenAs && metadata.namespace === namespace);
  if (record?.writtenAs) throw alreadyExists(record.writtenAs, `${namespace}/${record.metadata.name}`);
  return undefined;
}

/** The same unit as an object of this name: objects of an earlier manager keep theirs. */
function underName({ manifest, desired }: UnitObject, name: string): UnitObject {
  return {
    manifest: { ...manifest, metadata: { ...manifest.metadata, name } },
    desired: { ...desired, metadata: { ...desired.metadata, name } },
  };
}

function refuseWhileDeleting({ metadata }: StoredClass): void {
  if (metadata.deletionTimestamp === undefined) return;
  throw unavailable(
    `class runtime "${metadata.name}"`,
    `class runtime "${metadata.namespace}/${metadata.name}" is being deleted; deploy again when it is gone`,
    { retryAfterMs: 1_000 },
  );
}

function refuseOlder(existing: StoredClass, { desired }: UnitObject): void {
  const stored = existing.spec.origin?.revision;
  const sent = desired.spec.origin?.revision;
  if (stored === undefined || sent === undefined || sent >= stored) return;
  throw failedPrecondition(
    `revision ${sent}`,
    `revision ${sent} is older than revision ${stored}, which the cluster has; send a newer one`,
  );
}

function noPlace({ manifest }: UnitObject, fault: Fault): Fault {
  const { namespace = "" } = manifest.metadata;
  return failedPrecondition(
    `namespace "${namespace}"`,
    `the class cannot be put into namespace "${namespace}": ${fault.message}`,
    { cause: fault },
  );
}

/** The answer to Deploy. */
export function deployReply(id: string, { outcome, object }: Deployed): MessageInitShape<typeof DeployResponseSchema> {
  return {
    status: StatusCode.OK,
    deploymentId: id,
    message: outcome === DeployOutcome.UNCHANGED ? "accepted; it is so already" : "accepted",
    accepted: true,
    classRuntime: classRuntimeToSummary(object),
    outcome,
  };
}
