import { err, ok, pathOf, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/** A group and one of its versions. The core group is the empty string. */
export interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The kind of an object. */
export interface GroupVersionKind extends GroupVersion {
  readonly kind: string;
}

/** The resource as in URLs: the plural, lower-case name. */
export interface GroupVersionResource extends GroupVersion {
  readonly resource: string;
}

/** Splits `apps/v1` or, for the core group, `v1`. */
export function parseApiVersion(apiVersion: string): Result<GroupVersion, Violation> {
  const parts = apiVersion.split("/");
  const [first = "", second] = parts;
  if (parts.length > 2 || first === "" || second === "") {
    return err({
      path: ROOT_PATH,
      message: `"${apiVersion}" is not an API version`,
      fix: 'write "<group>/<version>", or "<version>" for the core group',
    });
  }
  return ok(second === undefined ? { group: "", version: first } : { group: first, version: second });
}

/** The inverse of `parseApiVersion`. */
export function formatApiVersion({ group, version }: GroupVersion): string {
  return group === "" ? version : `${group}/${version}`;
}

/** The kind of an object by its own `apiVersion` and `kind`. */
export function gvkOf(object: {
  readonly apiVersion: string;
  readonly kind: string;
}): Result<GroupVersionKind, Violation> {
  if (object.kind === "") return err({ path: pathOf(ROOT_PATH, "kind"), message: "is empty" });
  const parsed = parseApiVersion(object.apiVersion);
  if (!parsed.ok) return err({ ...parsed.error, path: pathOf(ROOT_PATH, "apiVersion") });
  return ok({ ...parsed.value, kind: object.kind });
}

/** The two fields an object of this kind carries. */
export function typeMetaOf(gvk: GroupVersionKind): { readonly apiVersion: string; readonly kind: string } {
  return { apiVersion: formatApiVersion(gvk), kind: gvk.kind };
}

/** A string that identifies the kind: `apps/v1/Deployment`, `v1/Pod`. */
export function gvkKey(gvk: GroupVersionKind): string {
  return `${formatApiVersion(gvk)}/${gvk.kind}`;
}

/** A string that identifies the resource: `apps/v1/deployments`, `v1/pods`. */
export function gvrKey(gvr: GroupVersionResource): string {
  return `${formatApiVersion(gvr)}/${gvr.resource}`;
}

/** Whether two kinds are the same. */
export function sameGvk(a: GroupVersionKind, b: GroupVersionKind): boolean {
  return a.group === b.group && a.version === b.version && a.kind === b.kind;
}

/** Whether two resources are the same. */
export function sameGvr(a: GroupVersionResource, b: GroupVersionResource): boolean {
  return a.group === b.group && a.version === b.version && a.resource === b.resource;
}

/** The resource as people write it: `deployments.apps`, `pods`. */
export function groupResourceText(gvr: { readonly group: string; readonly resource: string }): string {
  return gvr.group === "" ? gvr.resource : `${gvr.resource}.${gvr.group}`;
}

/** The target of a request. Without a namespace: cluster scope, or all namespaces; without a name: the collection. */
export interface ResourceLocation extends GroupVersionResource {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/**
 * The path of a resource on the API server. Every segment is encoded. An empty segment, `.` and `..` are rejected,
 * because a URL would resolve them to something else.
 */
export function resourcePath(location: ResourceLocation): Result<string, readonly Violation[]> {
  const { group, version, resource, namespace, name, subresource } = location;
  const violations: Violation[] = [];
  const segment = (field: string, value: string): string => {
    if (value === "" || value === "." || value === "..") {
      violations.push({ path: pathOf(ROOT_PATH, field), message: `"${value}" cannot be part of a path` });
    }
    return encodeURIComponent(value);
  };

  if (subresource !== undefined && name === undefined) {
    violations.push({ path: pathOf(ROOT_PATH, "subresource"), message: "needs a name", fix: "name the object" });
  }
  const segments = [
    ...(group === "" ? ["api"] : ["apis", segment("group", group)]),
    segment("version", version),
    ...(namespace === undefined ? [] : ["namespaces", segment("namespace", namespace)]),
    segment("resource", resource),
    ...(name === undefined ? [] : [segment("name", name)]),
    ...(subresource === undefined ? [] : [segment("subresource", subresource)]),
  ];
  return violations.length === 0 ? ok(`/${segments.join("/")}`) : err(violations);
}
