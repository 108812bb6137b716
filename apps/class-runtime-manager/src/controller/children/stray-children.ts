import { isFault } from "@oaas/foundation";
import { gvkKey, keyOf, parseApiVersion, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import { ownerLabelValue } from "../../templates/index.ts";
import type { ChildCache, LiveChild } from "./child-cache.ts";
import type { ChildKind } from "../kinds/resource-types.ts";
import type { ClassKind } from "../kinds/class-kind.ts";
import { isOrphaned, isOwnedBy } from "./ownership.ts";

/** The children of a class that are known before the search for strays. */
export interface KnownChildren {
  readonly known: readonly LiveChild[];
  /** Children that earlier passes sent and that neither the status nor the desired state lists. */
  readonly unconfirmed: readonly KubeObject[];
}

/**
 * Finds children that the watches do not show as ours, because their label or owner reference was removed: children
 * that the status lists, children that were sent without confirmation, and objects with the label of the class but
 * without an owner. Only these candidates are read from the server, so a class whose children are all known costs no
 * request. An unrelated object of the same name is never returned.
 */
export async function findStrayChildren<T extends KubeObject>(
  object: Stored<T>,
  { known, unconfirmed: sent }: KnownChildren,
  signal: AbortSignal,
  {
    classKind,
    children,
    client,
  }: {
    readonly classKind: Pick<ClassKind<T>, "statusOf">;
    readonly client: Pick<KubeClient, "resource">;
    readonly children: Pick<ChildCache, "kinds" | "listOwnerless">;
  },
): Promise<readonly LiveChild[]> {
  const { namespace: home = "", name: className, uid: classUid } = object.metadata;
  const label = ownerLabelValue(className);
  const kindNamed = (apiVersion: string, kind: string): ChildKind | undefined => {
    const gv = parseApiVersion(apiVersion);
    return gv.ok ? children.kinds.find((one) => one.kind === kind && one.group === gv.value.group) : undefined;
  };
  const refs = classKind.statusOf(object)?.resource_refs ?? [];
  const uids = new Set(refs.map(({ uid }) => uid));
  const isOurs = (live: Stored<KubeObject>): boolean =>
    uids.has(live.metadata.uid) || isOwnedBy(live, classUid) || isOrphaned(live, label);
  const candidates = [
    ...refs.map(({ apiVersion = "", kind, name, namespace = home }) => ({
      kind: kindNamed(apiVersion, kind),
      key: { namespace, name },
    })),
    ...sent.map((child) => ({ kind: kindNamed(child.apiVersion, child.kind), key: keyOf(child) })),
    ...children.listOwnerless(home, label).map((child) => ({ kind: child.kind, key: keyOf(child.object) })),
  ];
  const seen = new Set(known.map((child) => identity(child.kind, keyOf(child.object))));
  const found = candidates.map(async ({ kind, key }): Promise<LiveChild[]> => {
    if (kind === undefined || seen.has(identity(kind, key))) return [];
    seen.add(identity(kind, key));
    const live = await readFromServer(client, kind, key, signal).catch(undefinedIfForbidden);
    return live !== undefined && isOurs(live) ? [{ kind, object: live }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** Reads an object from the server with a list request: the manager may list every kind of child, but not get it. */
export async function readFromServer(
  client: Pick<KubeClient, "resource">,
  kind: ChildKind,
  { namespace, name }: ObjectKey,
  signal: AbortSignal,
): Promise<Stored<KubeObject> | undefined> {
  const { items } = await client.resource(kind).list({ namespace, fieldSelector: `metadata.name=${name}` }, { signal });
  return items[0];
}

function identity(kind: ChildKind, { namespace, name }: ObjectKey): string {
  return `${gvkKey(kind)} ${namespace}/${name}`;
}

/** Missing permission to read one object is ignored here; listing the whole kind reports it. */
function undefinedIfForbidden(thrown: unknown): undefined {
  if (!isFault(thrown, "permission-denied")) throw thrown;
}
