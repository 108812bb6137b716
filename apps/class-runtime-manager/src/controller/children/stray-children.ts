import { isFault } from "@oaas/foundation";
import { gvkKey, keyOf, parseApiVersion, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import { ownerLabelValue } from "../../templates/index.ts";
import type { ChildCache, PresentChild } from "./child-cache.ts";
import type { ChildKind } from "../kinds/resource-types.ts";
import type { SubjectKind } from "../kinds/class-kind.ts";
import { isAbandoned, isOwnedBy } from "./ownership.ts";

/** What is known about the children of a class before strays are looked for. */
export interface KnownChildren {
  readonly known: readonly PresentChild[];
  /** What earlier passes may have made without telling so in status, as far as it is not wanted any more. */
  readonly sent: readonly KubeObject[];
}

/**
 * Children that are not among those known, as far as the server still has them: those that status names, those that have been sent, and those that
 * bear the class's label without an owner. They are found nowhere else when somebody took the label or the owner reference off them. The server is
 * asked about these alone, so that a class whose children are all known costs nothing; a namesake is never taken for one.
 */
export async function strayChildren<T extends KubeObject>(
  object: Stored<T>,
  { known, sent }: KnownChildren,
  signal: AbortSignal,
  {
    subject,
    children,
    client,
  }: {
    readonly subject: Pick<SubjectKind<T>, "statusOf">;
    readonly client: Pick<KubeClient, "resource">;
    readonly children: Pick<ChildCache, "kinds" | "ownerless">;
  },
): Promise<readonly PresentChild[]> {
  const { namespace: home = "", name: className, uid: classUid } = object.metadata;
  const label = ownerLabelValue(className);
  const kindNamed = (apiVersion: string, kind: string): ChildKind | undefined => {
    const gv = parseApiVersion(apiVersion);
    return gv.ok ? children.kinds.find((one) => one.kind === kind && one.group === gv.value.group) : undefined;
  };
  const refs = subject.statusOf(object)?.resource_refs ?? [];
  const uids = new Set(refs.map(({ uid }) => uid));
  const isOurs = (there: Stored<KubeObject>): boolean =>
    uids.has(there.metadata.uid) || isOwnedBy(there, classUid) || isAbandoned(there, label);
  const suspects = [
    ...refs.map(({ apiVersion = "", kind, name, namespace = home }) => ({
      kind: kindNamed(apiVersion, kind),
      key: { namespace, name },
    })),
    ...sent.map((child) => ({ kind: kindNamed(child.apiVersion, child.kind), key: keyOf(child) })),
    ...children.ownerless(home, label).map((child) => ({ kind: child.kind, key: keyOf(child.object) })),
  ];
  const places = new Set(known.map((child) => placeOf(child.kind, keyOf(child.object))));
  const found = suspects.map(async ({ kind, key }): Promise<PresentChild[]> => {
    if (kind === undefined || places.has(placeOf(kind, key))) return [];
    places.add(placeOf(kind, key));
    const there = await onServer(client, kind, key, signal).catch(unlessRefused);
    return there !== undefined && isOurs(there) ? [{ kind, object: there }] : [];
  });
  return (await Promise.all(found)).flat();
}

/** An object as the server has it, by a list, since listing is a right that we have of every kind of child. */
export async function onServer(
  client: Pick<KubeClient, "resource">,
  kind: ChildKind,
  { namespace, name }: ObjectKey,
  signal: AbortSignal,
): Promise<Stored<KubeObject> | undefined> {
  const { items } = await client.resource(kind).list({ namespace, fieldSelector: `metadata.name=${name}` }, { signal });
  return items[0];
}

function placeOf(kind: ChildKind, { namespace, name }: ObjectKey): string {
  return `${gvkKey(kind)} ${namespace}/${name}`;
}

/** What we may not read is nowhere to be seen; whoever must know says so where it reads the whole kind. */
function unlessRefused(thrown: unknown): undefined {
  if (!isFault(thrown, "permission-denied")) throw thrown;
}
