import { addQuantities, compareQuantities, formatQuantity, type JsonObject, type Quantity } from "@oaas/kube-core";
import type { AdmissionContext } from "../../kind.ts";
import { updateAt, member, objectAt, objectsAt, textAt, withMember } from "../../json-access.ts";
import { readQuantities } from "../../validation/resources.ts";

const LIMIT_RANGES = { group: "", resource: "limitranges" };
const ANNOTATION = "kubernetes.io/limit-ranger";

type Amounts = ReadonlyMap<string, Quantity>;

/** The limit ranges of the object's namespace. */
export function listLimits(object: JsonObject, { objects }: Pick<AdmissionContext, "objects">): readonly JsonObject[] {
  const namespace = textAt(objectAt(object, "metadata"), "namespace");
  return objects(LIMIT_RANGES, namespace).flatMap((range) => objectsAt(objectAt(range, "spec"), "limits"));
}

/** Applies the namespace's default requests and limits to a pod; an annotation records them. */
export function applyDefaultLimits(pod: JsonObject, limits: readonly JsonObject[]): JsonObject {
  const containerLimits = limits.filter((limit) => textAt(limit, "type") === "Container");
  const mergeDefaults = (name: string): JsonObject =>
    Object.assign({}, ...containerLimits.map((limit) => objectAt(limit, name))) as JsonObject;
  const defaults = { limits: mergeDefaults("default"), requests: mergeDefaults("defaultRequest") };
  const notes: string[] = [];
  const spec = [["containers", "container"] as const, ["initContainers", "init container"] as const].reduce(
    (result, [list, word]) => {
      if (member(result, list) === undefined) return result;
      return withMember(
        result,
        list,
        objectsAt(result, list).map((container) => applyContainerDefaults(container, defaults, word, notes)),
      );
    },
    objectAt(pod, "spec"),
  );
  if (notes.length === 0) return pod;
  return updateAt(withMember(pod, "spec", spec), "metadata", (metadata) =>
    updateAt(metadata, "annotations", (actual) => ({
      ...actual,
      [ANNOTATION]: `LimitRanger plugin set: ${notes.join("; ")}`,
    })),
  );
}

function applyContainerDefaults(
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

/** Violations of limit ranges by a pod, with the messages of the real admission plug-in. */
export function checkPodLimits(pod: JsonObject, limits: readonly JsonObject[]): string | undefined {
  const spec = objectAt(pod, "spec");
  const [containers, initContainers] = [objectsAt(spec, "containers"), objectsAt(spec, "initContainers")];
  const problems = limits.flatMap((limit) => {
    switch (textAt(limit, "type")) {
      case "Container":
        return [...containers, ...initContainers].flatMap((container) =>
          findLimitProblems(limit, readAmounts(container, "requests"), readAmounts(container, "limits")),
        );
      case "Pod":
        return findLimitProblems(
          limit,
          sumPodAmounts(containers, initContainers, "requests"),
          sumPodAmounts(containers, initContainers, "limits"),
        );
      default:
        return [];
    }
  });
  return joinProblems(problems);
}

/** The same for a claim: only requests count. */
export function checkClaimLimits(claim: JsonObject, limits: readonly JsonObject[]): string | undefined {
  const requests = new Map(readQuantities(objectAt(claim, "spec", "resources"), "requests"));
  const problems = limits.flatMap((limit) =>
    textAt(limit, "type") === "PersistentVolumeClaim"
      ? [...findMinimumProblems(limit, requests, new Map()), ...findMaximumProblems(limit, requests, requests)]
      : [],
  );
  return joinProblems(
    problems.map((problem) => problem.replace("but limit is", "but request is").replace("No limit", "No request")),
  );
}

function joinProblems(problems: readonly string[]): string | undefined {
  if (problems.length === 0) return undefined;
  return problems.length === 1 ? problems[0] : `[${problems.join(", ")}]`;
}

function findLimitProblems(limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return [
    ...findMinimumProblems(limit, requests, limits),
    ...findMaximumProblems(limit, requests, limits),
    ...findRatioProblems(limit, requests, limits),
  ];
}

function findMinimumProblems(limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return readQuantities(limit, "min").flatMap(([name, min]) => {
    const text = `minimum ${name} usage per ${textAt(limit, "type")} is ${formatQuantity(min)}`;
    const [request, max] = [requests.get(name), limits.get(name)];
    if (request === undefined) return [`${text}.  No request is specified`];
    if (compareQuantities(request, min) < 0) return [`${text}, but request is ${formatQuantity(request)}`];
    return max !== undefined && compareQuantities(max, min) < 0 ? [`${text}, but limit is ${formatQuantity(max)}`] : [];
  });
}

function findMaximumProblems(limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return readQuantities(limit, "max").flatMap(([name, max]) => {
    const text = `maximum ${name} usage per ${textAt(limit, "type")} is ${formatQuantity(max)}`;
    const [request, actual] = [requests.get(name), limits.get(name)];
    if (actual === undefined) return [`${text}.  No limit is specified`];
    if (compareQuantities(actual, max) > 0) return [`${text}, but limit is ${formatQuantity(actual)}`];
    return request !== undefined && compareQuantities(request, max) > 0
      ? [`${text}, but request is ${formatQuantity(request)}`]
      : [];
  });
}

function findRatioProblems(limit: JsonObject, requests: Amounts, limits: Amounts): readonly string[] {
  return readQuantities(limit, "maxLimitRequestRatio").flatMap(([name, ratio]) => {
    const text = `${name} max limit to request ratio per ${textAt(limit, "type")} is ${formatQuantity(ratio)}`;
    const [request, actual] = [requests.get(name)?.nano ?? 0n, limits.get(name)?.nano ?? 0n];
    if (request === 0n) return [`${text}, but no request is specified or request is 0`];
    if (actual === 0n) return [`${text}, but no limit is specified or limit is 0`];
    const observed = Number(actual) / Number(request);
    return observed > Number(ratio.nano) / 1e9 ? [`${text}, but provided ratio is ${observed.toFixed(6)}`] : [];
  });
}

function readAmounts(container: JsonObject, name: string): Amounts {
  return new Map(readQuantities(objectAt(container, "resources"), name));
}

/** The sum of all containers, or a larger init container. */
function sumPodAmounts(
  containers: readonly JsonObject[],
  initContainers: readonly JsonObject[],
  name: string,
): Amounts {
  const sums = new Map<string, Quantity>();
  for (const [key, value] of containers.flatMap((container) => [...readAmounts(container, name)])) {
    const before = sums.get(key);
    sums.set(key, before === undefined ? value : addQuantities(before, value));
  }
  for (const [key, value] of initContainers.flatMap((container) => [...readAmounts(container, name)])) {
    const before = sums.get(key);
    if (before === undefined || compareQuantities(value, before) > 0) sums.set(key, value);
  }
  return sums;
}
