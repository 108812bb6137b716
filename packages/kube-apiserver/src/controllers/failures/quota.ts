import { addQuantities, formatQuantity, type KubeObject, type Quantity, type Status } from "@oaas/kube-core";
import { isFinished, plus, podLimits, podRequests, quantity, type Sums } from "../objects/pods.ts";
import { resourceKey, type Resource } from "../objects/resources.ts";
import type { ClusterView } from "../objects/cluster-view.ts";
import type { ServedKind } from "../cluster-objects.ts";
import type { Claim, Container, Pod, Quota, Service } from "../objects/typed.ts";

/** What a quota counts of one object: `pods`, `requests.cpu`, `count/deployments.apps`, and so on. */
export function quotaUsage(kind: Pick<Resource, "group" | "resource">, object: KubeObject): Sums {
  const counted = { [`count/${kind.resource}${kind.group === "" ? "" : `.${kind.group}`}`]: ONE };
  switch (resourceKey(kind)) {
    case "/pods":
      return { ...counted, ...podUsage(object) };
    case "/services":
      return { ...counted, services: ONE, ...serviceUsage(object) };
    case "/persistentvolumeclaims":
      return { ...counted, persistentvolumeclaims: ONE, "requests.storage": storage(object) };
    case "/configmaps":
    case "/secrets":
    case "/replicationcontrollers":
    case "/resourcequotas":
      return { ...counted, [kind.resource]: ONE };
    default:
      return counted;
  }
}

const ONE: Quantity = quantity(1);

/** Finished pods use only their object count. */
function podUsage(pod: Pod): Sums {
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

function serviceUsage({ spec }: Service): Sums {
  if (spec?.type === "LoadBalancer") return { "services.loadbalancers": ONE };
  return spec?.type === "NodePort" ? { "services.nodeports": ONE } : {};
}

function storage({ spec }: Claim): Quantity {
  return quantity(spec?.resources?.requests?.["storage"]);
}

/**
 * The rejection of an object that would exceed a quota of its namespace, in the words of the real admission plug-in.
 */
export function exceededQuota(
  kind: Pick<Resource, "group" | "resource">,
  object: KubeObject,
  quotas: readonly Quota[],
): Status | undefined {
  const requested = quotaUsage(kind, object);
  for (const quota of quotas) {
    const hard = quota.status?.hard ?? quota.spec?.hard ?? {};
    const missing = resourceKey(kind) === "/pods" ? unspecified(object, Object.keys(hard)) : [];
    if (missing.length > 0) {
      return forbidden(kind, object, `failed quota: ${quota.metadata.name}: must specify ${missing.join("; ")}`);
    }
    const over = Object.keys(hard).filter((name) => {
      const wanted = requested[name];
      const used = quantity(quota.status?.used?.[name]);
      return wanted !== undefined && addQuantities(used, wanted).nano > quantity(hard[name]).nano;
    });
    if (over.length === 0) continue;
    const list = (amount: (name: string) => string): string =>
      over
        .sort()
        .map((name) => `${name}=${amount(name)}`)
        .join(",");
    const text = `exceeded quota: ${quota.metadata.name}, requested: ${list((name) => formatQuantity(requested[name] ?? ONE))}, used: ${list((name) => formatQuantity(quantity(quota.status?.used?.[name])))}, limited: ${list((name) => formatQuantity(quantity(hard[name])))}`;
    return forbidden(kind, object, text);
  }
  return undefined;
}

/** Every container must request what a quota limits. */
function unspecified({ spec }: Pod, bounded: readonly string[]): readonly string[] {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return bounded
    .filter((name) => /^((requests|limits)\.)?(cpu|memory)$/.test(name))
    .sort()
    .flatMap((name) => {
      const amount = name.split(".").at(-1) ?? name;
      const isLacking = ({ resources }: Container): boolean =>
        resources?.limits?.[amount] === undefined &&
        (name.startsWith("limits.") || resources?.requests?.[amount] === undefined);
      const lacking = containers.filter(isLacking).map((container) => container.name);
      return lacking.length === 0 ? [] : [`${name} for: ${lacking.sort().join(",")}`];
    });
}

export function forbidden(kind: Pick<Resource, "group" | "resource">, object: KubeObject, why: string): Status {
  const name = object.metadata.name ?? object.metadata.generateName ?? "";
  const plural = kind.group === "" ? kind.resource : `${kind.resource}.${kind.group}`;
  return {
    status: "Failure",
    reason: "Forbidden",
    code: 403,
    message: `${plural} "${name}" is forbidden: ${why}`,
    details: { name, kind: kind.resource, ...(kind.group === "" ? {} : { group: kind.group }) },
  };
}

/** The usage in a namespace of the resources that these names refer to. */
export function usageIn(namespace: string, names: readonly string[], view: ClusterView): Sums {
  return view
    .kinds()
    .filter((kind) => kind.isNamespaced && isCounted(kind, names))
    .flatMap((kind) => view.list<KubeObject>(kind, namespace).map((object) => quotaUsage(kind, object)))
    .reduce(plus, {});
}

/** Whether any of these names may refer to this kind. */
function isCounted({ group, resource }: ServedKind, names: readonly string[]): boolean {
  const counted = `count/${resource}${group === "" ? "" : `.${group}`}`;
  const isByAmount =
    group === "" && (resource === "pods" || resource === "services" || resource === "persistentvolumeclaims");
  return names.some((name) => name === counted || name === resource || (isByAmount && !name.startsWith("count/")));
}
