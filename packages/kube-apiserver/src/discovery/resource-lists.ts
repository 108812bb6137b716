import { createHash } from "node:crypto";
import { formatApiVersion, type JsonObject } from "@oaas/kube-core";
import type { Kind, KindSubresource, KindVersion } from "../kinds/kind.ts";
import type { Group, GroupVersionKinds, ServedKind } from "./group-versions.ts";

const WRITTEN = ["get", "patch", "update"];

/** `/apis/{group}/{version}`, and `/api/v1` for the core. */
export function resourceList(group: string, { version, kinds }: GroupVersionKinds): JsonObject {
  return {
    kind: "APIResourceList",
    // The core's list is older than its version.
    ...(group === "" ? {} : { apiVersion: "v1" }),
    groupVersion: formatApiVersion({ group, version }),
    resources: kinds.flatMap(({ kind, version: of }) => [
      resource(kind),
      ...subresourcesOf(kind, of).map((each) => subresource(kind, of, each)),
    ]),
  };
}

function resource(kind: Kind): JsonObject {
  return {
    name: kind.resource,
    singularName: kind.singular,
    namespaced: kind.isNamespaced,
    kind: kind.kind,
    verbs: [...kind.verbs],
    ...(kind.shortNames.length === 0 ? {} : { shortNames: [...kind.shortNames] }),
    ...(kind.categories.length === 0 ? {} : { categories: [...kind.categories] }),
    ...(kind.isVirtual === true ? {} : { storageVersionHash: kind.storageVersionHash ?? storageHash(kind) }),
  };
}

/** Eight bytes of a hash of the stored form, by which clients notice changes. */
function storageHash({ group, storageVersion, kind }: Kind): string {
  return createHash("sha256").update(`${group}/${storageVersion}/${kind}`).digest().subarray(0, 8).toString("base64");
}

function subresource(kind: Kind, version: KindVersion, of: KindSubresource): JsonObject {
  const isOwn = of.group === kind.group && of.version === version.name;
  return {
    name: `${kind.resource}/${of.name}`,
    singularName: "",
    namespaced: kind.isNamespaced,
    ...(isOwn ? {} : { group: of.group, version: of.version }),
    kind: of.kind,
    verbs: [...of.verbs],
  };
}

/** The subresources of a kind; for custom kinds from the definition. */
export function subresourcesOf(kind: Kind, version: KindVersion): readonly KindSubresource[] {
  if (version.subresources !== undefined) return version.subresources;
  const own = { group: kind.group, version: version.name, kind: kind.kind };
  return [
    ...(version.hasStatus ? [{ ...own, name: "status", verbs: WRITTEN }] : []),
    ...(version.scale === undefined
      ? []
      : [{ name: "scale", group: "autoscaling", version: "v1", kind: "Scale", verbs: WRITTEN }]),
  ];
}

/** `/apis/{group}`; inside `/apis` it omits its type. */
export function groupInfo({ name, versions }: Group, isAlone: boolean): JsonObject {
  const all = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return {
    ...(isAlone ? { kind: "APIGroup", apiVersion: "v1" } : {}),
    name,
    versions: all,
    ...(all[0] === undefined ? {} : { preferredVersion: all[0] }),
  };
}

/** Aggregated groups, as kubectl requests them. */
export function aggregated(groups: readonly Group[]): JsonObject {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map(({ name, versions }) => ({
      metadata: name === "" ? {} : { name },
      versions: versions.map(({ version, kinds }) => ({
        version,
        resources: kinds.map(aggregatedResource),
        freshness: "Current",
      })),
    })),
  };
}

function aggregatedResource({ kind, version }: ServedKind): JsonObject {
  const subresources = subresourcesOf(kind, version);
  // Built-in kinds do not repeat their group and version.
  const isOwn = version.subresources !== undefined;
  const responseKind = (of: { group: string; version: string; kind: string }): JsonObject =>
    isOwn && of.group === kind.group && of.version === version.name
      ? { group: "", version: "", kind: of.kind }
      : { group: of.group, version: of.version, kind: of.kind };
  return {
    resource: kind.resource,
    responseKind: responseKind({ group: kind.group, version: version.name, kind: kind.kind }),
    scope: kind.isNamespaced ? "Namespaced" : "Cluster",
    singularResource: kind.singular,
    verbs: [...kind.verbs],
    ...(kind.shortNames.length === 0 ? {} : { shortNames: [...kind.shortNames] }),
    ...(kind.categories.length === 0 ? {} : { categories: [...kind.categories] }),
    ...(subresources.length === 0
      ? {}
      : {
          subresources: subresources.map((each) => ({
            subresource: each.name,
            responseKind: responseKind(each),
            verbs: [...each.verbs],
          })),
        }),
  };
}
