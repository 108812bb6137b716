import type { Kind, KindVersion, ScalePaths } from "../kind.ts";
import { builtInSchema } from "./built-in-schemas.ts";
import { KIND_DATA, type ResourceData } from "./kind-data.ts";
import { builtInColumns } from "../../tables/built-in-columns.ts";
import { builtInRules } from "./built-in-rules.ts";
import { SELECTABLE_FIELDS } from "./selectable-fields.ts";

/** Kinds that are answered and never stored. */
const QUESTIONS: ReadonlySet<string> = new Set(["authentication.k8s.io", "authorization.k8s.io"]);

/** The scale paths of all built-in kinds. */
const SCALE: ScalePaths = {
  specReplicas: ".spec.replicas",
  statusReplicas: ".status.replicas",
  labelSelector: ".spec.selector",
};

let kinds: readonly Kind[] | undefined;

/** The built-in kinds in discovery order. Shared constants. */
export function builtInKinds(): readonly Kind[] {
  kinds ??= [...groupVersions(KIND_DATA.resources).values()].map(kindOf);
  return kinds;
}

/** The versions of one resource, in discovery order. */
function groupVersions(resources: readonly ResourceData[]): ReadonlyMap<string, readonly ResourceData[]> {
  return Map.groupBy(resources, ({ group, resource }) => `${group}/${resource}`);
}

function kindOf(versions: readonly ResourceData[]): Kind {
  const [first] = versions;
  if (first === undefined) throw new Error("a kind has at least one version");
  const { group, resource, kind, singular, namespaced, verbs, storageVersionHash } = first;
  return {
    group,
    kind,
    listKind: `${kind}List`,
    resource,
    singular,
    shortNames: first.shortNames ?? [],
    categories: first.categories ?? [],
    isNamespaced: namespaced,
    verbs,
    versions: versions.map(versionOf),
    storageVersion: first.version,
    ...(storageVersionHash === undefined ? {} : { storageVersionHash }),
    ...(group === "events.k8s.io" ? { sameObjectsAs: { group: "", resource: "events" } } : {}),
    ...(QUESTIONS.has(group) || resource === "bindings" ? { isVirtual: true } : {}),
    rules: builtInRules(versions),
  };
}

function versionOf(data: ResourceData): KindVersion {
  const { group, version, resource, subresources } = data;
  const has = (name: string): boolean => subresources.some((subresource) => subresource.name === name);
  return {
    name: version,
    isServed: true,
    get schema() {
      return builtInSchema(data.schema);
    },
    hasStatus: has("status"),
    ...(has("scale") ? { scale: SCALE } : {}),
    subresources: subresources.map((subresource) => ({ group, version, ...subresource })),
    selectableFields: SELECTABLE_FIELDS[`${group}/${resource}`] ?? [],
    columns: builtInColumns({ group, resource }),
  };
}
