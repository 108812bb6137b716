import { notFound } from "@oaas/foundation";
import type { KindName } from "../../command/kinds.ts";
import { readContexts } from "../../contexts/contexts-store.ts";
import { contextView, listedContexts } from "../../output/context-view.ts";
import type { View } from "../../output/format.ts";
import {
  classView,
  clusterView,
  deploymentView,
  functionView,
  packageView,
  runtimeView,
  type TableContext,
} from "../../output/views.ts";
import type { Session } from "../../session/session.ts";
import type { Labels } from "./selectors.ts";

/** How the objects of one kind are read and shown. */
export interface KindReader<T = unknown> {
  readonly view: (look: TableContext) => View<T>;
  readonly list: (session: Session) => Promise<readonly T[]>;
  /** Rejects with a not-found fault. */
  readonly get: (session: Session, name: string) => Promise<T>;
  /** The object with everything that `labelsOf` needs, where the list does not return it. */
  readonly withLabels?: (session: Session, item: T) => Promise<T>;
  readonly labelsOf?: (item: T) => Labels;
  /** The Kubernetes namespaces that the object is in. */
  readonly namespacesOf?: (item: T) => readonly string[];
}

/** Kinds whose objects can be listed; events are only streamed. */
export type ListedKind = Exclude<KindName, "event">;

function declare<T>(reader: KindReader<T>): KindReader {
  return reader as unknown as KindReader;
}

/** Finds an object by its name in a list, for kinds without a route for one object. */
async function findInList<T>(items: readonly T[], view: View<T>, name: string): Promise<T> {
  const found = items.find((item) => view.nameOf(item) === name);
  if (found === undefined) throw notFound(view.kind, name);
  return found;
}

type Cluster = Awaited<ReturnType<typeof listClusters>>[number] & { readonly labels?: Labels };

async function listClusters(session: Session) {
  return (await session.call("listClusters")).value;
}

async function getCluster(session: Session, name: string): Promise<Cluster> {
  return (await session.call("getCluster", { parameters: { name } })).value;
}

export const READERS: Readonly<Record<ListedKind, KindReader>> = {
  package: declare({
    view: packageView,
    list: (session) => session.listAll("listPackages"),
    get: async (session, name) => (await session.call("getPackage", { parameters: { name } })).value,
    // A tag is a label without a value.
    labelsOf: ({ metadata }) => Object.fromEntries(metadata.tags.map((tag) => [tag, ""])),
  }),
  deployment: declare({
    view: deploymentView,
    list: (session) => session.listAll("listDeployments"),
    get: async (session, key) => (await session.call("getDeployment", { parameters: { key } })).value,
    namespacesOf: ({ status }) => status?.namespaces ?? [],
  }),
  "class-runtime": declare({
    view: runtimeView,
    list: (session) => session.listAll("listClassRuntimes"),
    get: async (session, id) => (await session.call("getClassRuntime", { parameters: { id } })).value,
    namespacesOf: ({ target_environment }) => [target_environment],
  }),
  cluster: declare<Cluster>({
    view: clusterView,
    list: listClusters,
    get: getCluster,
    withLabels: (session, { name }) => getCluster(session, name),
    labelsOf: ({ labels = {} }) => labels,
  }),
  class: declare({
    view: classView,
    list: (session) => session.listAll("listClasses"),
    get: async (session, name) => findInList(await session.listAll("listClasses"), classView(), name),
  }),
  function: declare({
    view: functionView,
    list: (session) => session.listAll("listFunctions"),
    get: async (session, name) => findInList(await session.listAll("listFunctions"), functionView(), name),
  }),
  context: declare({
    view: contextView,
    list: async ({ environment }) => listedContexts(await readContexts(environment)),
    get: async ({ environment }, name) =>
      findInList(listedContexts(await readContexts(environment)), contextView(), name),
  }),
};
