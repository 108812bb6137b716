import {
  addQuantities,
  formatQuantity,
  type KubeObject,
  type Quantity,
  type Status,
  subtractQuantities,
  ZERO_QUANTITY,
} from "@oaas/kube-core";
import { isFinished, addSums, podLimits, podRequests, quantity, type Sums } from "../objects/pods.ts";
import { resourceKey, type Resource } from "../objects/resources.ts";
import type { ClusterView } from "../objects/cluster-view.ts";
import type { ServedKind } from "../cluster-objects.ts";
import type { Claim, Container, Pod, Quota, Service } from "../objects/typed.ts";

/** What a quota counts of one object: `pods`, `requests.cpu`, `count/deployments.apps`, and so on. */
export function computeQuotaUsage(kind: Pick<Resource, "group" | "resource">, object: KubeObject): Sums {
  const objectCount = { [`count/${kind.resource}${kind.group === "" ? "" : `.${kind.group}`}`]: ONE };
  switch (resourceKey(kind)) {
    case "/pods":
      return { ...objectCount, ...computePodUsage(object) };
    case "/services":
      return { ...objectCount, services: ONE, ...computeServiceUsage(object) };
    case "/persistentvolumeclaims":
      return { ...objectCount, persistentvolumeclaims: ONE, "requests.storage": getStorageRequest(object) };
    case "/configmaps":
    case "/secrets":
    case "/replicationcontrollers":
    case "/resourcequotas":
      return { ...objectCount, [kind.resource]: ONE };
    default:
      return objectCount;
  }
}

const ONE: Quantity = quantity(1);

/** Finished pods use only their object count. */
function computePodUsage(pod: Pod): Sums {
  if (isFinished(pod)) return {};
  const requests = podRequests(pod);
  const limits = podLimits(pod);
  return {
    pods: ONE,
    ...Object.fromEntries(Object.entries(requests).flatMap(([name, amount]) => [[`requests.${name}`, amount]])),
    ...Object.fromEntries(Object.entries(limits).map(([name, amount]) => [`limits.${name}`, amount])),
    ...(requests["cpu"] === undefined ? {} : { cpu: requests["cpu"] }),
    ...(requests["memory"] === undefined ? {} : { memory: requests["memory"] }),
  };
}

function computeServiceUsage({ spec }: Service): Sums {
  if (spec?.type === "LoadBalancer") return { "services.loadbalancers": ONE };
  return spec?.type === "NodePort" ? { "services.nodeports": ONE } : {};
}

function getStorageRequest({ spec }: Claim): Quantity {
  return quantity(spec?.resources?.requests?.["storage"]);
}

/**
 * The rejection of an object that would exceed a quota of its namespace, with the messages of the real admission plug-in.
 * For a change of a live object only the increase counts.
 */
export function checkQuotas(
  kind: Pick<Resource, "group" | "resource">,
  object: KubeObject,
  quotas: readonly Quota[],
  live?: KubeObject,
): Status | undefined {
  const requested = computeIncrease(computeQuotaUsage(kind, object), live && computeQuotaUsage(kind, live));
  for (const quota of quotas) {
    const hard = quota.status?.hard ?? quota.spec?.hard ?? {};
    const missing = resourceKey(kind) === "/pods" ? findUnspecified(object, Object.keys(hard)) : [];
    if (missing.length > 0) {
      return forbidden(kind, object, `failed quota: ${quota.metadata.name}: must specify ${missing.join("; ")}`);
    }
    const exceeded = Object.keys(hard).filter((name) => {
      const requestedAmount = requested[name];
      const used = quantity(quota.status?.used?.[name]);
      return requestedAmount !== undefined && addQuantities(used, requestedAmount).nano > quantity(hard[name]).nano;
    });
    if (exceeded.length === 0) continue;
    const list = (amount: (name: string) => string): string =>
      exceeded
        .sort()
        .map((name) => `${name}=${amount(name)}`)
        .join(",");
    const text = `exceeded quota: ${quota.metadata.name}, requested: ${list((name) => formatQuantity(requested[name] ?? ONE))}, used: ${list((name) => formatQuantity(quantity(quota.status?.used?.[name])))}, limited: ${list((name) => formatQuantity(quantity(hard[name])))}`;
    return forbidden(kind, object, text);
  }
  return undefined;
}

/** What a change adds: a new object all of its usage. */
function computeIncrease(next: Sums, before: Sums = {}): Sums {
  const increases = Object.entries(next).map(
    ([name, amount]) => [name, subtractQuantities(amount, before[name] ?? ZERO_QUANTITY)] as const,
  );
  return Object.fromEntries(increases.filter(([, { nano }]) => nano > 0n));
}

/** Every container must request what a quota limits. */
function findUnspecified({ spec }: Pod, bounded: readonly string[]): readonly string[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return bounded
    .filter((name) => /^((requests|limits)\.)?(cpu|memory)$/.test(name))
    .sort()
    .flatMap((name) => {
      const amount = name.split(".").at(-1) ?? name;
      const lacksAmount = ({ resources }: Container): boolean =>
        resources?.limits?.[amount] === undefined &&
        (name.startsWith("limits.") || resources?.requests?.[amount] === undefined);
      const withoutAmount = containers.filter(lacksAmount).map((container) => container.name);
      return withoutAmount.length === 0 ? [] : [`${name} for: ${withoutAmount.sort().join(",")}`];
    });
}

export function forbidden(kind: Pick<Resource, "group" | "resource">, object: KubeObject, reason: string): Status {
  const name = object.metadata.name ?? object.metadata.generateName ?? "";
  const plural = kind.group === "" ? kind.resource : `${kind.resource}.${kind.group}`;
  return {
    status: "Failure",
    reason: "Forbidden",
    code: 403,
    message: `${plural} "${name}" is forbidden: ${reason}`,
    details: { name, kind: kind.resource, ...(kind.group === "" ? {} : { group: kind.group }) },
  };
}

/** The usage in a namespace of the resources that these names refer to. */
export function computeUsage(namespace: string, names: readonly string[], view: ClusterView): Sums {
  return view
    .kinds()
    .filter((kind) => kind.isNamespaced && isCounted(kind, names))
    .flatMap((kind) => view.list<KubeObject>(kind, namespace).map((object) => computeQuotaUsage(kind, object)))
    .reduce(addSums, {});
}

/** Whether any of these names may refer to this kind. */
function isCounted({ group, resource }: ServedKind, names: readonly string[]): boolean {
  const objectCount = `count/${resource}${group === "" ? "" : `.${group}`}`;
  const isByAmount =
    group === "" && (resource === "pods" || resource === "services" || resource === "persistentvolumeclaims");
  return names.some((name) => name === objectCount || name === resource || (isByAmount && !name.startsWith("count/")));
}
