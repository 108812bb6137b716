import { addQuantities, compareQuantities, formatQuantity, type JsonObject, type Quantity } from "@oaas/kube-core";
import type { AdmissionContext } from "../../kind.ts";
import { changedAt, member, objectAt, objectsAt, textAt, withMember } from "../../json-access.ts";
import { amountsAt } from "../../validation/resources.ts";

const LIMIT_RANGES = { group: "", resource: "limitranges" };
const ANNOTATION = "kubernetes.io/limit-ranger";

type Amounts = ReadonlyMap<string, Quantity>;

/** The limit ranges of the object's namespace. */
export function limitsFor(object: JsonObject, { objects }: Pick<AdmissionContext, "objects">): readonly JsonObject[] {
  const namespace = textAt(objectAt(object, "metadata"), "namespace");
  return objects(LIMIT_RANGES, namespace).flatMap((range) => objectsAt(objectAt(range, "spec"), "limits"));
}

/** Applies the namespace's default requests and limits to a pod; an annotation records them. */
export function withDefaultLimits(pod: JsonObject, limits: readonly JsonObject[]): JsonObject {
  const ofContainers = limits.filter((limit) => textAt(limit, "type") === "Container");
  const byDefault = (name: string): JsonObject =>
    Object.assign({}, ...ofContainers.map((limit) => objectAt(limit, name))) as JsonObject;
  const defaults = { limits: byDefault("default"), requests: byDefault("defaultRequest") };
  const notes: string[] = [];
  const spec = [["containers", "container"] as const, ["initContainers", "init container"] as const].reduce(
    (result, [list, word]) => {
      if (member(result, list) === undefined) return result;
      return withMember(
        result,
        list,
        objectsAt(result, list).map((container) => withDefaults(container, defaults, word, notes)),
      );
    },
    objectAt(pod, "spec"),
  );
  if (notes.length === 0) return pod;
  return changedAt(withMember(pod, "spec", spec), "metadata", (metadata) =>
    changedAt(metadata, "annotations", (own) => ({
      ...own,
      [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}`,
    })),
  );
}

function withDefaults(
  container: JsonObject,
  defaults: { readonly limits: JsonObject; readonly requests: JsonObject },
  word: string,
  notes: string[],
): JsonObject {
  const resources = objectAt(container, "resources");
  const added = (name: "requests" | "limits"): readonly string[] =>
    Object.keys(defaults[name])
      .filter((key) => !Object.hasOwn(objectAt(resources, name), key))
      .toSorted();
  const [requests, limits] = [added("requests"), added("limits")];
  for (const [names, what] of [[requests, "request"] as const, [limits, "limit"] as const]) {
    if (names.length > 0) notes.push(`${names.join(", ")} ${what} for ${word} ${textAt(container, "name")}`);
  }
  if (requests.length + limits.length === 0) return container;
  const merged = {
    ...resources,
    limits: { ...defaults.limits, ...objectAt(resources, "limits") },
    requests: { ...defaults.requests, ...objectAt(resources, "requests") },
  };
  return withMember(container, "resources", merged);
}

/** Violations of limit ranges by a pod, in the words of the real admission plug-in. */
export function podLimitRefusal(pod: JsonObject, limits: readonly JsonObject[]): string | undefined {
  const spec = objectAt(pod, "spec");
  const [containers, first] = [objectsAt(spec, "containers"), objectsAt(spec, "initContainers")];
  const problems = limits.flatMap((limit) => {
    switch (textAt(limit, "type")) {
      case "Container":
        return [...containers, ...first].flatMap((container) =>
          againstLimit(limit, amountsOf(container, "requests"), amountsOf(container, "limits")),
        );
      case "Pod":
        return againstLimit(limit, podAmounts(containers, first, "requests"), podAmounts(containers, first, "limits"));
      default:
        return [];
    }
  });
  return together(problems);
}

/** The same for a claim: only requests count. */
export function claimLimitRefusal(claim: JsonObject, limits: readonly JsonObject[]): string | undefined {
  const requests = new Map(amountsAt(objectAt(claim, "spec", "resources"), "requests"));
  const problems = limits.flatMap((limit) =>
    textAt(limit, "type") === "PersistentVolumeClaim"
      ? [...minimumProblems(limit, requests, new Map()), ...maximumProblems(limit, requests, requests)]
      : [],
  );
  return together(
    problems.map((problem) => problem.replace("but limit is", "but request is").replace("No limit", "No request")),
  );
}

function together(problems: readonly string[]): string | undefined {
  if (problems.length === 0) return undefined;
  return problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`;
}

function againstLimit(limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return [
    ...minimumProblems(limit, requests, limits),
    ...maximumProblems(limit, requests, limits),
    ...ratioProblems(limit, requests, limits),
  ];
}

function minimumProblems(limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return amountsAt(limit, "min").flatMap(([name, least]) => {
    const text = `minimum ${name} usage per ${textAt(limit, "type")} is ${formatQuantity(least)}`;
    const [request, most] = [requests.get(name), limits.get(name)];
    if (request === undefined) return [`${text}.  No request is specified`];
    if (compareQuantities(request, least) < 0) return [`${text}, but request is ${formatQuantity(request)}`];
    return most !== undefined && compareQuantities(most, least) < 0
      ? [`${text}, but limit is ${formatQuantity(most)}`]
      : [];
  });
}

function maximumProblems(limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return amountsAt(limit, "max").flatMap(([name, most]) => {
    const text = `maximum ${name} usage per ${textAt(limit, "type")} is ${formatQuantity(most)}`;
    const [request, own] = [requests.get(name), limits.get(name)];
    if (own === undefined) return [`${text}.  No limit is specified`];
    if (compareQuantities(own, most) > 0) return [`${text}, but limit is ${formatQuantity(own)}`];
    return request !== undefined && compareQuantities(request, most) > 0
      ? [`${text}, but request is ${formatQuantity(request)}`]
      : [];
  });
}

function ratioProblems(limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return amountsAt(limit, "maxLimitRequestRatio").flatMap(([name, ratio]) => {
    const text = `${name} max limit to request ratio per ${textAt(limit, "type")} is ${formatQuantity(ratio)}`;
    const [request, own] = [requests.get(name)?.nano ?? 0n, limits.get(name)?.nano ?? 0n];
    if (request === 0n) return [`${text}, but no request is specified or request is 0`];
    if (own === 0n) return [`${text}, but no limit is specified or limit is 0`];
    const observed = Number(own) / Number(request);
    return observed > Number(ratio.nano) / 1e9 ? [`${text}, but provided ratio is ${observed.toFixed(6)}`] : [];
  });
}

function amountsOf(container: JsonObject, name: string): Amounts {
  return new Map(amountsAt(objectAt(container, "resources"), name));
}

/** The sum of all containers, or a larger init container. */
function podAmounts(containers: readonly JsonObject[], first: readonly JsonObject[], name: string): Amounts {
  const sums = new Map<string, Quantity>();
  for (const [key, value] of containers.flatMap((container) => [...amountsOf(container, name)])) {
    const before = sums.get(key);
    sums.set(key, before === undefined ? value : addQuantities(before, value));
  }
  for (const [key, value] of first.flatMap((container) => [...amountsOf(container, name)])) {
    const before = sums.get(key);
    if (before === undefined || compareQuantities(value, before) > 0) sums.set(key, value);
  }
  return sums;
}
