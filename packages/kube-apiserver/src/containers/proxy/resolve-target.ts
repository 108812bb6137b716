import { err, ok, type Result } from "@oaas/foundation";
import type { KubeObject, Status, Stored } from "@oaas/kube-core";
import type { ClusterView } from "../../controllers/objects/cluster-view.ts";
import { ENDPOINTS, PODS, SERVICES } from "../../controllers/objects/resources.ts";
import type { Container, Pod, Service } from "../../controllers/objects/typed.ts";
import { badRequest, notFound, serviceUnavailable } from "../../request/response/status-errors.ts";
import type { ProxiedName } from "./proxied-name.ts";

/** Where a proxied request goes. */
export interface ProxyTarget {
  readonly scheme: string;
  readonly address: string;
  readonly port: number;
  /** Undefined when no pod has the address. */
  readonly pod: Stored<Pod> | undefined;
}

interface Endpoints extends KubeObject {
  readonly subsets?: readonly Subset[];
}

interface Subset {
  readonly addresses?: readonly EndpointAddress[];
  readonly ports?: readonly { readonly name?: string; readonly port: number }[];
}

interface EndpointAddress {
  readonly ip: string;
  readonly targetRef?: { readonly kind?: string; readonly name?: string };
}

/** The next position in a list of so many endpoints. */
export type ChooseEndpoint = (count: number) => number;

/** A ready endpoint of a Service. `id` is the name as in the path. */
export function resolveService(
  view: ClusterView,
  namespace: string,
  { id, name, port, scheme }: ProxiedName & { readonly id: string },
  choose: ChooseEndpoint,
): Result<ProxyTarget, Status> {
  const portName = /^\d+$/.test(port)
    ? findPortName(view.get<Service>(SERVICES, namespace, name), name, port)
    : ok(port);
  if (!portName.ok) return portName;
  const endpoints = view.get<Endpoints>(ENDPOINTS, namespace, name);
  if (!endpoints) return err(notFound(SERVICES, name));
  const subsets = endpoints.subsets ?? [];
  if (subsets.length === 0)
    return err(serviceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`));
  const candidates = subsets.flatMap(({ addresses = [], ports = [] }) => {
    const found = ports.find((one) => (one.name ?? "") === portName.value);
    return found ? addresses.map((address) => ({ address, port: found.port })) : [];
  });
  const chosen = candidates[choose(candidates.length)];
  if (!chosen) return err(serviceUnavailable(`no endpoints available for service ${JSON.stringify(id)}`));
  const { targetRef } = chosen.address;
  const pod = targetRef?.kind === "Pod" ? view.get<Pod>(PODS, namespace, targetRef.name ?? "") : undefined;
  return ok({ scheme, address: chosen.address.ip, port: chosen.port, pod });
}

/** A port number means the port of the Service with that number. */
function findPortName(service: Stored<Service> | undefined, name: string, port: string): Result<string, Status> {
  if (!service) return err(notFound(SERVICES, name));
  const found = service.spec?.ports?.find((one) => one.port === Number(port));
  if (found) return ok(found.name ?? "");
  return err(serviceUnavailable(`no service port ${port} found for service ${JSON.stringify(name)}`));
}

/** A pod by name, at the given port or the first one that it declares. */
export function resolvePod(
  view: ClusterView,
  namespace: string,
  { name, port, scheme }: ProxiedName,
): Result<ProxyTarget, Status> {
  const pod = view.get<Pod>(PODS, namespace, name);
  if (!pod) return err(notFound(PODS, name));
  const address = pod.status?.podIP;
  if (address === undefined) return err(badRequest("address not allowed"));
  const first = (pod.spec?.containers ?? []).flatMap(({ ports = [] }) => ports)[0]?.containerPort;
  return ok({ scheme, address, port: port === "" ? (first ?? 80) : Number(port), pod });
}

/** The running container behind a port: the one that declares it, or the first one of a pod that declares no ports. */
export function findListener(pod: Stored<Pod>, port: number): Container | undefined {
  const containers = pod.spec?.containers ?? [];
  const declares = containers.some(({ ports = [] }) => ports.length > 0);
  const found = declares
    ? containers.find(({ ports = [] }) => ports.some(({ containerPort }) => containerPort === port))
    : containers[0];
  const status = pod.status?.containerStatuses?.find(({ name }) => name === found?.name);
  return status?.state.running ? found : undefined;
}
