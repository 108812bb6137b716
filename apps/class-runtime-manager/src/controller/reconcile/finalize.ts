import { Fault, isFault } from "@oaas/foundation";
import { hasFinalizer, keyOf, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import { checkAgain, settled, waitForChange, type Outcome, type ReconcileContext } from "@oaas/kube-runtime";
import type { Problem } from "../../lifecycle/observation/observation.ts";
import { problemFromFault } from "../../lifecycle/observation/problem.ts";
import { OWNER_LABEL, ownerLabelValue } from "../../templates/index.ts";
import { isGone } from "../children/apply-children.ts";
import type { PresentChild } from "../children/child-cache.ts";
import { FINALIZER } from "../kinds/class-kind.ts";
import type { ChildKind } from "../kinds/resource-types.ts";
import { isAbandoned, isOwnedBy } from "../children/ownership.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";
import { removeChildren } from "../children/remove-children.ts";
import type { Sent } from "../children/unconfirmed-children.ts";
import { settle } from "./write-status.ts";
import { onServer, strayChildren } from "../children/stray-children.ts";

/** How long until a deletion is tried again that the server refused. */
export const REFUSED_MS = 30_000;

/** How long until the server is asked again about children that no watch shows. */
const UNSEEN_MS = 1_000;

/** Deletes all children; lets the object go only after the server itself, not the cache, says that none is left. */
export async function finalize<T extends KubeObject>(
  object: Stored<T>,
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<Outcome> {
  if (!hasFinalizer(object, FINALIZER)) return settled();
  const watched = deps.children.childrenOf(object.metadata.uid);
  // While children go one by one, status names more than there are: strays are looked for at the beginning and at the end.
  const isUnderWay = watched.length > 0 && deps.subject.statusOf(object)?.phase === "deleting";
  const sent = deps.sent.of(object);
  const looked = { known: watched, sent };
  const strays = isUnderWay ? [] : await strayChildren(object, looked, context.signal, deps);
  const present = [...watched, ...strays];
  const problems = await removeChildren(present, context.signal, deps);
  if (present.length > 0) {
    await tell(object, present, problems, context, deps);
    if (problems.length > 0) return checkAgain(REFUSED_MS, "refused");
    // Nobody tells when those are gone that no watch shows.
    return watched.length > 0
      ? waitForChange("children are being deleted")
      : checkAgain(UNSEEN_MS, "strays are deleted");
  }
  if (sent.length > 0 && deps.subject.statusOf(object)?.phase !== "deleting") {
    // Writes that we gave up waiting for may still be done. The store does them in order, so that after this one a list shows them.
    await tell(object, present, [], context, deps);
    return checkAgain(UNSEEN_MS, "what was sent may still come");
  }
  const { left, refused } = await childrenOnServer(object, context.signal, deps);
  if (refused.length > 0) {
    await tell(object, present, refused, context, deps);
    return checkAgain(REFUSED_MS, "what is left may not be read");
  }
  if (left.length > 0) {
    // The cache is behind, or cannot see them any more.
    const undeleted = await removeChildren(left, context.signal, deps);
    if (undeleted.length > 0) await tell(object, left, undeleted, context, deps);
    return checkAgain(undeleted.length > 0 ? REFUSED_MS : UNSEEN_MS, `${left.length} children are still there`);
  }
  await letGo(object, context.signal, deps);
  deps.sent.told(keyOf(object));
  return settled();
}

/** Deletes what was made for a class that went away before its finalizer could hold it. What we may not delete comes back. */
export async function removeFormer<T extends KubeObject>(
  { name }: ObjectKey,
  { uid, children }: Sent,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<readonly Problem[]> {
  const found = children.map(async (child): Promise<PresentChild[]> => {
    const kind = deps.children.kinds.find(
      (known) => known.kind === child.kind && apiVersionOf(known) === child.apiVersion,
    );
    const there = kind && (await onServer(deps.client, kind, keyOf(child), signal));
    const isOfIt = there && (isOwnedBy(there, uid) || isAbandoned(there, ownerLabelValue(name)));
    return isOfIt ? [{ kind, object: there }] : [];
  });
  return removeChildren((await Promise.all(found)).flat(), signal, deps);
}

async function letGo<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  { client, subject }: ReconcileDeps<T>,
): Promise<void> {
  const { resourceVersion, finalizers = [] } = object.metadata;
  const rest = finalizers.filter((name) => name !== FINALIZER);
  try {
    await client
      .resource(subject.type)
      .patch(keyOf(object), "merge", { metadata: { resourceVersion, finalizers: rest } }, { signal });
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

async function tell<T extends KubeObject>(
  object: Stored<T>,
  present: readonly PresentChild[],
  problems: readonly Problem[],
  context: ReconcileContext,
  deps: ReconcileDeps<T>,
): Promise<void> {
  await settle(object, { wanted: { problems: [] }, problems, present, deleting: true }, context, deps);
}

/** What the server has. A kind that we may not list counts only when the class is known to have had, or been sent, something of it. */
async function childrenOnServer<T extends KubeObject>(
  object: Stored<T>,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<{ readonly left: readonly PresentChild[]; readonly refused: readonly Problem[] }> {
  const refs = [
    ...(deps.subject.statusOf(object)?.resource_refs ?? []),
    ...deps.sent.of(object).map(({ apiVersion, kind }) => ({ apiVersion, kind })),
  ];
  const refused: Problem[] = [];
  const left = await Promise.all(
    deps.children.kinds.map(async (kind): Promise<PresentChild[]> => {
      try {
        return await ofKindOnServer(object, kind, signal, deps);
      } catch (thrown) {
        if (!isFault(thrown, "permission-denied")) throw thrown;
        const hadSome = refs.some(
          ({ kind: had, apiVersion }) => had === kind.kind && apiVersion === apiVersionOf(kind),
        );
        if (hadSome) refused.push(problemFromFault(Fault.from(thrown)));
        return [];
      }
    }),
  );
  return { left: left.flat(), refused };
}

/** By the value of the label: other classes' children are not sent over. */
async function ofKindOnServer<T extends KubeObject>(
  object: Stored<T>,
  kind: ChildKind,
  signal: AbortSignal,
  deps: ReconcileDeps<T>,
): Promise<PresentChild[]> {
  const { namespace = "", name, uid } = object.metadata;
  const label = ownerLabelValue(name);
  const found: PresentChild[] = [];
  const all = deps.client.resource(kind).listAll({ namespace, labelSelector: `${OWNER_LABEL}=${label}` }, { signal });
  for await (const child of all) {
    if (isOwnedBy(child, uid) || isAbandoned(child, label)) found.push({ kind, object: child });
  }
  return found;
}

function apiVersionOf({ group, version }: ChildKind): string {
  return group === "" ? version : `${group}/${version}`;
}
