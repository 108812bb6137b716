import { err, ok, type Result } from "@oaas/foundation";
import type { JsonObject, Status } from "@oaas/kube-core";
import {
  finalizersOf,
  isBeingDeleted,
  metadataOf,
  metadataText,
  nameOf,
  withMetadata,
} from "../../admission/metadata.ts";
import type { DeletionOptions } from "../../request/query/options.ts";
import { conflict, forbidden, notFound } from "../../request/response/status-errors.ts";
import type { Decision, Written } from "../../store/object-store.ts";
import { objectKey } from "../../store/stored-object.ts";
import { wholeSeconds } from "../../controllers/objects/time.ts";
import { isBuiltIn, storeKindOf, type Target, type VerbContext } from "../verb-context.ts";

const ORPHAN = "orphan";
const FOREGROUND = "foregroundDeletion";

/** The result of a deletion: deleted at once, or marked and waiting for finalizers or its grace period. */
export interface Deleted extends Written {
  readonly uid: string;
}

/** Deletes an object, or marks it for deletion while something holds it. */
export async function deleteObject(
  context: VerbContext,
  target: Target,
  name: string,
  options: DeletionOptions,
): Promise<Result<Deleted, Status>> {
  const key = objectKey(target.namespace, name);
  let uid = "";
  const marked = await markFirst(context, target, key, options);
  const written = await context.store.write(storeKindOf(target.kind), key, (live) => {
    if (isProtectedNamespace(target, name))
      return err(forbidden(target.kind, name, "this namespace may not be deleted"));
    if (live === undefined) return err(notFound(target.kind, name));
    uid = metadataText(live.object, "uid");
    const error = checkPreconditions(target, live.object, options);
    if (error !== undefined) return err(error);
    const decision = decideDeletion(context, target, live.object, options);
    if ("remove" in decision && options.resourceVersion !== undefined && finalizersOf(live.object).length > 0) {
      return err(conflict(target.kind, name, formatVersionLost(target, name, options.resourceVersion)));
    }
    return ok(marked !== undefined && "remove" in decision ? { ...decision, response: marked } : decision);
  });
  return written.ok ? ok({ ...written.value, uid }) : written;
}

/** Graceful deletions are always announced with a change first, even without time left; that state is the response. */
async function markFirst(
  context: VerbContext,
  target: Target,
  key: string,
  options: DeletionOptions,
): Promise<JsonObject | undefined> {
  if (!target.kind.rules.isGraceful || options.isDryRun) return undefined;
  const written = await context.store.write(storeKindOf(target.kind), key, (live) => {
    if (live === undefined || isBeingDeleted(live.object)) return ok({ keep: true });
    if (checkPreconditions(target, live.object, options) !== undefined) return ok({ keep: true });
    const decision = decideDeletion(context, target, live.object, options);
    if (!("remove" in decision) || decision.response === undefined) return ok({ keep: true });
    return ok({ put: decision.response });
  });
  return written.ok && metadataOf(written.value.object)["deletionGracePeriodSeconds"] === 0
    ? written.value.object
    : undefined;
}

/**
 * The real server loses the requested version when a deletion removes the finalizers of an earlier one (orphan,
 * foregroundDeletion), and then reports a mismatch with an empty one.
 */
function formatVersionLost({ kind, namespace }: Target, name: string, version: string): string {
  const group = isBuiltIn(kind) ? "" : `${kind.group}/`;
  const key = `/registry/${group}${kind.resource}/${namespace === "" ? "" : `${namespace}/`}${name}`;
  const failed = `Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: ${version}`;
  return `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`;
}

const PROTECTED_NAMESPACES: ReadonlySet<string> = new Set(["default", "kube-public", "kube-system"]);

/** Namespaces that every cluster needs. */
function isProtectedNamespace({ kind }: Target, name: string): boolean {
  return kind.group === "" && kind.resource === "namespaces" && PROTECTED_NAMESPACES.has(name);
}

function decideDeletion(context: VerbContext, { kind }: Target, live: JsonObject, options: DeletionOptions): Decision {
  const { rules } = kind;
  const propagation = options.propagation ?? (rules.orphansByDefault && !isBeingDeleted(live) ? "Orphan" : undefined);
  const finalizers = computeFinalizers(finalizersOf(live), propagation);
  const requested = rules.graceSeconds(live, options.gracePeriodSeconds);
  const isKept = finalizers.length > 0 || rules.isHeld(live);
  const isMarked = isBeingDeleted(live);
  const before = Number(metadataOf(live)["deletionGracePeriodSeconds"] ?? 0);
  // A second deletion can only shorten the grace period.
  const grace = isMarked ? Math.min(requested, before) : requested;
  if (grace === 0 && !isKept) {
    const response = rules.isGraceful ? withMetadata(live, createDeletionMetadata(context, live, 0)) : live;
    return options.isDryRun ? { keep: true, response } : { remove: true, ...(rules.isGraceful ? { response } : {}) };
  }
  const isSame = isMarked && grace === before && finalizers.join() === finalizersOf(live).join();
  if (isSame) return { keep: true };
  const marked = rules.markForDeletion(
    withMetadata(live, {
      ...(isMarked && grace === before ? {} : createDeletionMetadata(context, live, grace)),
      // An object held by other finalizers has no grace period and no new generation.
      ...(rules.isHeld(live)
        ? { deletionGracePeriodSeconds: undefined, generation: metadataOf(live)["generation"] }
        : {}),
      finalizers: finalizers.length === 0 ? undefined : finalizers,
    }),
  );
  return options.isDryRun ? { keep: true, response: marked } : { put: marked };
}

function createDeletionMetadata(
  context: VerbContext,
  live: JsonObject,
  grace: number,
): Record<string, string | number> {
  const { generation } = metadataOf(live);
  const incrementsGeneration = typeof generation === "number" && generation > 0 && !isBeingDeleted(live);
  return {
    deletionTimestamp: wholeSeconds(context.clock.now() + grace * 1000),
    deletionGracePeriodSeconds: grace,
    ...(incrementsGeneration ? { generation: generation + 1 } : {}),
  };
}

/** Finalizers for the garbage collector: how to treat dependents. */
function computeFinalizers(before: readonly string[], propagation: DeletionOptions["propagation"]): readonly string[] {
  if (propagation === undefined) return before;
  const others = before.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  if (propagation === "Orphan") return [...others, ORPHAN];
  return propagation === "Foreground" ? [...others, FOREGROUND] : others;
}

function checkPreconditions({ kind }: Target, live: JsonObject, options: DeletionOptions): Status | undefined {
  const [uid, resourceVersion] = [metadataText(live, "uid"), metadataText(live, "resourceVersion")];
  const of = { group: kind.group, resource: kind.kind };
  if (options.uid !== undefined && options.uid !== uid) {
    const reason = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    return conflict(of, nameOf(live), reason);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const reason = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    return conflict(of, nameOf(live), reason);
  }
  return undefined;
}
