import type { JsonObject } from "@oaas/kube-core";
import { textsAt } from "../../kinds/json-access.ts";

/** One permission: a rule with one value per list. */
interface Right {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly nonResourceURLs: readonly string[];
  readonly resourceNames: readonly string[];
  readonly verbs: readonly string[];
}

/**
 * Permissions that are not covered by others, in the real server's words and order; empty when nothing would be
 * escalated.
 */
export function rightsNotHeld(held: readonly JsonObject[], wanted: readonly JsonObject[]): readonly string[] {
  const missing = wanted.flatMap(rightsOf).filter((right) => !held.some((rule) => covers(ruleOf(rule), right)));
  return [...new Set(compacted(missing).map(textOf))].sort();
}

function ruleOf(rule: JsonObject): Right {
  return {
    apiGroups: textsAt(rule, "apiGroups"),
    resources: textsAt(rule, "resources"),
    nonResourceURLs: textsAt(rule, "nonResourceURLs"),
    resourceNames: textsAt(rule, "resourceNames"),
    verbs: textsAt(rule, "verbs"),
  };
}

const NOTHING: Right = { apiGroups: [], resources: [], nonResourceURLs: [], resourceNames: [], verbs: [] };

function rightsOf(rule: JsonObject): readonly Right[] {
  const { apiGroups, resources, nonResourceURLs, resourceNames, verbs } = ruleOf(rule);
  const names = resourceNames.length === 0 ? [[]] : resourceNames.map((name) => [name]);
  return [
    ...apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) =>
          names.map((name) => ({
            ...NOTHING,
            apiGroups: [group],
            resources: [resource],
            verbs: [verb],
            resourceNames: name,
          })),
        ),
      ),
    ),
    ...nonResourceURLs.flatMap((url) => verbs.map((verb) => ({ ...NOTHING, nonResourceURLs: [url], verbs: [verb] }))),
  ];
}

function covers(rule: Right, right: Right): boolean {
  return (
    hasAll(rule.verbs, right.verbs) &&
    hasAll(rule.apiGroups, right.apiGroups) &&
    right.resources.every((resource) => coversResource(rule.resources, resource)) &&
    right.nonResourceURLs.every((url) => rule.nonResourceURLs.some((own) => coversUrl(own, url))) &&
    (rule.resourceNames.length === 0 ||
      (right.resourceNames.length > 0 && right.resourceNames.every((name) => rule.resourceNames.includes(name))))
  );
}

function hasAll(held: readonly string[], wanted: readonly string[]): boolean {
  return held.includes("*") || wanted.every((one) => held.includes(one));
}

function coversResource(held: readonly string[], resource: string): boolean {
  if (held.includes("*") || held.includes(resource)) return true;
  const slash = resource.indexOf("/");
  return slash >= 0 && held.includes(`*${resource.slice(slash)}`);
}

function coversUrl(held: string, url: string): boolean {
  return held === url || (held.endsWith("*") && url.startsWith(held.replace(/\*+$/, "")));
}

/** Groups verbs on the same resources. */
function compacted(rights: readonly Right[]): readonly Right[] {
  const groups = Map.groupBy(rights, ({ verbs: _verbs, ...rest }) => JSON.stringify(rest));
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined || first.nonResourceURLs.length > 0) return group;
    return [{ ...first, verbs: group.flatMap(({ verbs }) => verbs) }];
  });
}

function textOf({ apiGroups, resources, nonResourceURLs, resourceNames, verbs }: Right): string {
  const parts = [
    ["APIGroups", apiGroups],
    ["Resources", resources],
    ["NonResourceURLs", nonResourceURLs],
    ["ResourceNames", resourceNames],
    ["Verbs", verbs],
  ] as const;
  return `{${parts
    .filter(([, list]) => list.length > 0)
    .map(([name, list]) => `${name}:${quotedList(list)}`)
    .join(", ")}}`;
}

/** Formats a list of strings as Go quotes it. */
export function quotedList(list: readonly string[]): string {
  return `[${list.map((text) => JSON.stringify(text)).join(" ")}]`;
}
