import type { JsonObject } from "@oaas/kube-core";
import { textAt, textsAt } from "../../kinds/json-access.ts";

/** A requested action on objects. */
export interface ResourceAttempt {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** A requested action on a non-resource path. */
export interface PathAttempt {
  readonly verb: string;
  readonly path: string;
}

/** Whether a rule of a role allows the action. */
export function allowsResource(
  rule: JsonObject,
  { verb, group, resource, subresource, name = "" }: ResourceAttempt,
): boolean {
  const names = textsAt(rule, "resourceNames");
  return (
    includesOrWildcard(textsAt(rule, "verbs"), verb) &&
    includesOrWildcard(textsAt(rule, "apiGroups"), group) &&
    includesResource(textsAt(rule, "resources"), resource, subresource) &&
    (names.length === 0 || names.includes(name))
  );
}

function includesResource(resources: readonly string[], resource: string, subresource: string | undefined): boolean {
  if (resources.includes("*")) return true;
  if (subresource === undefined || subresource === "") return resources.includes(resource);
  return resources.includes(`${resource}/${subresource}`) || resources.includes(`*/${subresource}`);
}

/** Whether a rule of a cluster role allows the path; a trailing star is a wildcard. */
export function allowsPath(rule: JsonObject, { verb, path }: PathAttempt): boolean {
  return (
    includesOrWildcard(textsAt(rule, "verbs"), verb) &&
    textsAt(rule, "nonResourceURLs").some(
      (url) => url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1))),
    )
  );
}

function includesOrWildcard(list: readonly string[], value: string): boolean {
  return list.includes("*") || list.includes(value);
}

/**
 * Whether a subject of a binding is this user. A service account without a namespace is in the namespace of the
 * binding.
 */
export function isSubject(
  subject: JsonObject,
  user: { name: string; groups: readonly string[] },
  namespace: string,
): boolean {
  const name = textAt(subject, "name");
  switch (textAt(subject, "kind")) {
    case "User":
      return user.name === name;
    case "Group":
      return user.groups.includes(name);
    case "ServiceAccount":
      return user.name === `system:serviceaccount:${textAt(subject, "namespace") || namespace}:${name}`;
    default:
      return false;
  }
}
