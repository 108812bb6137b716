import { Fault, isFault } from "@oaas/foundation";
import { hasFinalizer, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { checkAgain, settled, waitForChange, type Outcome, type ReconcileContext } from "@oaas/kube-runtime";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problemFromFault } from "../../lifecycle/observation/problem.ts";
import { OWNER_LABEL, ownerLabelValue } from "../../templates/index.ts";
import { isNotFound } from "../children/apply-children.ts";
import type { LiveChild } from "../children/child-cache.ts";
import { FINALIZER } from "../kinds/class-kind.ts";
import type { ChildKind } from "../kinds/resource-types.ts";
import { isOrphaned, isOwnedBy } from "../children/ownership.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import { removeChildren } from "../children/remove-children.ts";
import type { UnconfirmedWrites } from "../children/unconfirmed-children.ts";
import { writeStatus } from "./write-status.ts";
import { readFromServer, findStrayChildren } from "../children/stray-children.ts";

/** Delay before a forbidden deletion is retried. */
export const FORBIDDEN_RETRY_MS = 30_000;

/** Delay before children that no watch shows are listed again. */
const UNWATCHED_RETRY_MS = 1_000;

/** Deletes all children. Removes the finalizer only after the server, not the cache, lists no child any more. */
export async function finalize<T extends KubeObject>(
  object: Stored<T>,
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Outcome> {
  if (!hasFinalizer(object, FINALIZER)) return settled();
  const watched = deps.children.childrenOf(object.metadata.uid);
  // While children are being deleted, the status lists more than exist: strays are searched at the start and at the
  // end.
  const isUnderWay = watched.length > 0 && deps.classKind.statusOf(object)?.phase === "deleting";
  const unconfirmed = deps.unconfirmed.of(object);
  const strays = isUnderWay
    ? []
    : await findStrayChildren(object, { known: watched, unconfirmed }, context.signal, deps);
  const live = [...watched, ...strays];
  const problems = await removeChildren(live, context.signal, deps);
  if (live.length > 0) {
    await writeDeletingStatus(object, live, problems, context, deps);
    if (problems.length > 0) return checkAgain(FORBIDDEN_RETRY_MS, "deletion of children is forbidden");
    // The deletion of an unwatched child triggers no event.
    return watched.length > 0
      ? waitForChange("children are being deleted")
      : checkAgain(UNWATCHED_RETRY_MS, "unwatched children are being deleted");
  }
  if (unconfirmed.length > 0 && deps.classKind.statusOf(object)?.phase !== "deleting") {
    // A write that timed out may still be applied. The server applies writes in order, so a list after this one shows
    // it.
    await writeDeletingStatus(object, live, [], context, deps);
    return checkAgain(UNWATCHED_RETRY_MS, "earlier writes may still be applied");
  }
  const { left, forbidden } = await listChildrenOnServer(object, context.signal, deps);
  if (forbidden.length > 0) {
    await writeDeletingStatus(object, live, forbidden, context, deps);
    return checkAgain(FORBIDDEN_RETRY_MS, "listing the remaining children is forbidden");
  }
  if (left.length > 0) {
    // The cache lags behind or does not match them any more.
    const undeleted = await removeChildren(left, context.signal, deps);
    if (undeleted.length > 0) await writeDeletingStatus(object, left, undeleted, context, deps);
    return checkAgain(undeleted.length > 0 ? FORBIDDEN_RETRY_MS : UNWATCHED_RETRY_MS, `${left.length} children remain`);
  }
  await removeFinalizer(object, context.signal, deps);
  deps.unconfirmed.clear(keyOf(object));
  deps.drift.forget(object.metadata.uid);
  return settled();
}

/**
 * Deletes the children of a class that was deleted before its finalizer was stored. Returns missing permissions as
 * problems.
 */
export async function removePredecessorChildren<T extends KubeObject>(
  { name }: ObjectKey,
  { uid, children }: UnconfirmedWrites,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<readonly Problem[]> {
  const found = children.map(async (child): Promise<LiveChild[]> => {
    const kind = deps.children.kinds.find(
      (known) => known.kind === child.kind && apiVersionOf(known) === child.apiVersion,
    );
    const live = kind && (await readFromServer(deps.client, kind, keyOf(child), signal));
    const isChild = live && (isOwnedBy(live, uid) || isOrphaned(live, ownerLabelValue(name)));
    return isChild ? [{ kind, object: live }] : [];
  });
  return removeChildren((await Promise.all(found)).flat(), signal, deps);
}

async function removeFinalizer<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  { client, classKind: subject }: ReconcileDeps<T>,
): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const rest = finalizers.filter((name) => name !== FINALIZER);
  try {
    await client
      .resource(subject.type)
      .patch(keyOf(object), "merge", { metadata: { resourceVersion, finalizers: rest } }, { signal });
  } catch (thrown) {
    if (!isNotFound(thrown)) throw thrown;
  }
}

async function writeDeletingStatus<T extends KubeObject>(
  object: Stored<T>,
  live: readonly LiveChild[],
  problems: readonly Problem[],
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<void> {
  await writeStatus(object, { desired: { problems: [] }, problems, live, deleting: true }, context, deps);
}

/**
 * Lists the children on the server. A kind without list permission is a problem only if the class may have a child of
 * that kind.
 */
async function listChildrenOnServer<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<{ readonly left: readonly LiveChild[]; readonly forbidden: readonly Problem[] }> {
  const refs = [
    ...(deps.classKind.statusOf(object)?.resource_refs ?? []),
    ...deps.unconfirmed.of(object).map(({ apiVersion, kind }) => ({ apiVersion, kind })),
  ];
  const forbidden: Problem[] = [];
  const left = await Promise.all(
    deps.children.kinds.map(async (kind): Promise<LiveChild[]> => {
      try {
        return await listKindOnServer(object, kind, signal, deps);
      } catch (thrown) {
        if (!isFault(thrown, "permission-denied")) throw thrown;
        const mayHaveChild = refs.some((ref) => ref.kind === kind.kind && ref.apiVersion === apiVersionOf(kind));
        if (mayHaveChild) forbidden.push(problemFromFault(Fault.from(thrown)));
        return [];
      }
    }),
  );
  return { left: left.flat(), forbidden };
}

/** Lists by the label value, so that the server sends only the children of this class. */
async function listKindOnServer<T extends KubeObject>(
  object: Stored<T>,
  kind: ChildKind,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<LiveChild[]> {
  const { namespace = "", name, uid } = object.metadata;
  const label = ownerLabelValue(name);
  const found: LiveChild[] = [];
  const all = deps.client.resource(kind).listAll({ namespace, labelSelector: `${OWNER_LABEL}=${label}` }, { signal });
  for await (const child of all) {
    if (isOwnedBy(child, uid) || isOrphaned(child, label)) found.push({ kind, object: child });
  }
  return found;
}

function apiVersionOf({ group, version }: ChildKind): string {
  return group === "" ? version : `${group}/${version}`;
}
