import type { JsonObject } from "@oaas/kube-core";
import { textsAt } from "../../kinds/json-access.ts";

/** One permission: a rule with one value per list. */
interface Permission {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly resourceNames: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Permissions that are not covered by others, with the real server's messages and order; empty when nothing would be
 * escalated.
 */
export function findMissingPermissions(
  held: readonly JsonObject[],
  requested: readonly JsonObject[],
): readonly string[] {
  const missing = requested
    .flatMap(expandRule)
    .filter((permission) => !held.some((rule) => covers(readRule(rule), permission)));
  return [...new Set(mergeVerbs(missing).map(formatPermission))].sort();
}

function readRule(rule: JsonObject): Permission {
  return {
    apiGroups: textsAt(rule, "apiGroups"),
    resources: textsAt(rule, "resources"),
    nonResourceURLs: textsAt(rule, "nonResourceURLs"),
    resourceNames: textsAt(rule, "resourceNames"),
    verbs: textsAt(rule, "verbs"),
  };
}

const EMPTY_PERMISSION: Permission = {
  apiGroups: [],
  resources: [],
  nonResourceURLs: [],
  resourceNames: [],
  verbs: [],
};

function expandRule(rule: JsonObject): readonly Permission[] {
  const { apiGroups, resources, nonResourceURLs, resourceNames, verbs } = readRule(rule);
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  return [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          names.map((name) => ({
            ...EMPTY_PERMISSION,
            apiGroups: [group],
            resources: [resource],
            verbs: [verb],
            resourceNames: name,
          })),
        ),
      ),
    ),
    ...nonResourceURLs.flatMap((url) =>
      verbs.map((verb) => ({ ...EMPTY_PERMISSION, nonResourceURLs: [url], verbs: [verb] })),
    ),
  ];
}

function covers(rule: Permission, permission: Permission): boolean {
  return (
    hasAll(rule.verbs, permission.verbs) &&
    hasAll(rule.apiGroups, permission.apiGroups) &&
    permission.resources.every((resource) => coversResource(rule.resources, resource)) &&
    permission.nonResourceURLs.every((url) => rule.nonResourceURLs.some((own) => coversUrl(own, url))) &&
    (rule.resourceNames.length === 0 ||
      (permission.resourceNames.length > 0 &&
        permission.resourceNames.every((name) => rule.resourceNames.includes(name))))
  );
}

function hasAll(held: readonly string[], requested: readonly string[]): boolean {
  return held.includes("*") || requested.every((one) => held.includes(one));
}

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes("*") || held.includes(resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
}

function coversUrl(held: string, url: string): boolean {
  return held === url || (held.endsWith("*") && url.startsWith(held.replace(/(?<!\*)\*+$/, "")));
}

/** Groups verbs on the same resources. */
function mergeVerbs(permissions: readonly Permission[]): readonly Permission[] {
  const groups = Map.groupBy(permissions, ({ verbs: _verbs, ...rest }) => JSON.stringify(rest));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || first.nonResourceURLs.length > 0) return group;
    return [{ ...first, verbs: group.flatMap(({ verbs }) => verbs) }];
  });
}

function formatPermission({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: Permission): string {
  const parts = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ] as const;
  return `{${parts
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:${formatList(list)}`)
    .join(", ")}}`;
}

/** Formats a list of strings as Go quotes it. */
export function formatList(list: readonly string[]): string {
  return `[${list.map((text) => JSON.stringify(text)).join(" ")}]`;
}
