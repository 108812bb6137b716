import { isFault } from "@oaas/foundation";
import { gvkKey, keyOf, parseApiVersion, type KubeObject, type ObjectKey, type Stored } from "@oaas/kube-core";
import type { KubeClient } from "@oaas/kube-runtime";
import type { PresentChild } from "./child-cache.ts";
import type { ChildKind } from "./kinds.ts";
import type { ReconcileDeps } from "./reconcile-deps.ts";

/**
 * Children that status names and that are not among `known`, as far as the server still has them. They are found nowhere else when somebody took
 * the label or the owner reference off them. The server is asked about these alone, so that a class whose children are all known costs nothing,
 * and goes by the uid, so that a namesake is never taken for one.
 */
export async function strayChildren<T extends KubeObject>(
  object: Stored<T>,
  known: readonly PresentChild[],
  signal: AbortSignal,
  {
    subject,
    children,
    client,
  }: Pick<ReconcileDeps<T>, "subject" | "client"> & {
    readonly children: Pick<ReconcileDeps<T>["children"], "kinds">;
  },
): Promise<readonly PresentChild[]> {
  const places = new Set(known.map((child) => placeOf(child.kind, keyOf(child.object))));
  const home = object.metadata.namespace ?? "";
  const found = (subject.statusOf(object)?.resource_refs ?? []).map(
    async ({ apiVersion = "", kind, name, namespace = home, uid }): Promise<PresentChild[]> => {
      const gv = parseApiVersion(apiVersion);
      const type = gv.ok ? children.kinds.find((one) => one.kind === kind && one.group === gv.value.group) : undefined;
      const key = { namespace, name };
      if (type === undefined || places.has(placeOf(type, key))) return [];
      const there = await onServer(client, type, key, signal).catch(unlessRefused);
      return there !== undefined && there.metadata.uid === uid ? [{ kind: type, object: there }] : [];
    },
  );
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
