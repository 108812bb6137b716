import { equalJson, type KubeObject, labelOf, ownerReferenceTo, type Stored } from "@oaas/kube-core";
import { create, createDecision, remove, update, type Decision, type Step } from "../loop/decision.ts";
import { isFinished, isReady, isTerminating } from "../objects/pods.ts";
import { ENDPOINT_SLICES, ENDPOINTS } from "../objects/resources.ts";
import { wholeSeconds } from "../objects/time.ts";
import type { Pod, Service, ServicePort, Texts } from "../objects/typed.ts";

export interface ServiceState {
  readonly service: Stored<Service>;
  /** The pods that its selector selects. */
  readonly pods: readonly Stored<Pod>[];
  readonly slices: readonly Stored<EndpointSlice>[];
  readonly endpoints: Stored<KubeObject> | undefined;
  readonly now: number;
}

export interface EndpointSlice extends KubeObject {
  readonly addressType?: string;
  readonly endpoints?: readonly object[];
  readonly ports?: readonly object[];
}

export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
export const SERVICE_NAME = "kubernetes.io/service-name";
export const ENDPOINTS_MANAGED_BY = "endpoints.kubernetes.io/managed-by";
export const ENDPOINTS_CONTROLLER = "endpoint-controller";
const CONTROLLER = "endpointslice-controller.k8s.io";
const TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time";
const HEADLESS = "service.kubernetes.io/headless";
const SLICE_SIZE = 100;

export function selectsPod({ spec }: Service, pod: Pod): boolean {
  const labels = Object.entries(spec?.selector ?? {});
  return labels.length > 0 && labels.every(([key, value]) => labelOf(pod, key) === value);
}

/** EndpointSlices, and Endpoints for older clients. Services without a selector are managed by others. */
export function decideService(state: ServiceState): Decision {
  const { service } = state;
  const isOurs = Object.keys(service.spec?.selector ?? {}).length > 0 && service.spec?.type !== "ExternalName";
  if (!isOurs || service.metadata.deletionTimestamp !== undefined) return createDecision([]);
  const pods = state.pods
    .filter((pod) => pod.status?.podIP !== undefined && !isFinished(pod))
    .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return createDecision([...sliceSteps(state, pods), ...endpointsSteps(state, pods)]);
}

function sliceSteps({ service, slices, now }: ServiceState, pods: readonly Stored<Pod>[]): Step[] {
  const ports = pods[0] ? resolvePorts(service, pods[0]).map((port) => ({ name: "", ...port })) : [];
  const chunks = pods.length === 0 ? [[]] : splitChunks(pods.map((pod) => createEndpoint(service, pod)));
  const desiredSlices = chunks.map((endpoints) => ({ addressType: "IPv4", endpoints, ports }));
  const labels = {
    ...service.metadata.labels,
    [MANAGED_BY]: CONTROLLER,
    [SERVICE_NAME]: service.metadata.name,
    ...headless(service),
  };
  const annotations: Texts = { [TRIGGER]: wholeSeconds(now) };
  const sliceSteps = desiredSlices.map((content, index) => {
    const before = slices[index];
    if (!before) {
      const { namespace, name } = service.metadata;
      const metadata = {
        generateName: `${name}-`,
        namespace,
        labels,
        annotations,
        ownerReferences: [ownerReferenceTo(service)],
      };
      return create(ENDPOINT_SLICES, { ...typeOf(ENDPOINT_SLICES), metadata, ...content });
    }
    const isSame =
      equalJson(
        { endpoints: before.endpoints ?? [], ports: before.ports ?? [] },
        { endpoints: content.endpoints, ports },
      ) && equalJson(before.metadata.labels, labels);
    const metadata = { ...before.metadata, labels, annotations: { ...before.metadata.annotations, ...annotations } };
    return isSame ? undefined : update(ENDPOINT_SLICES, { ...before, metadata, ...content });
  });
  const surplus = slices.slice(desiredSlices.length).map((slice) => remove(ENDPOINT_SLICES, slice));
  return [...sliceSteps.filter((step) => step !== undefined), ...surplus];
}

function typeOf({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): object {
  return { apiVersion, kind };
}

function headless({ spec }: Service): Texts {
  return spec?.clusterIP === "None" ? { [HEADLESS]: "" } : {};
}

function splitChunks(endpoints: readonly object[]): readonly (readonly object[])[] {
  const count = Math.ceil(endpoints.length / SLICE_SIZE);
  return Array.from({ length: count }, (_, index) => endpoints.slice(index * SLICE_SIZE, (index + 1) * SLICE_SIZE));
}

function createEndpoint(service: Service, pod: Stored<Pod>): object {
  const serving = isReady(pod);
  const terminating = isTerminating(pod);
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  return {
    addresses: [pod.status?.podIP ?? ""],
    conditions: { ready, serving, terminating },
    ...hostnameOf(service, pod),
    ...(pod.spec?.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: createTargetReference(pod),
  };
}

function createTargetReference({ metadata }: Stored<Pod>): object {
  return { kind: "Pod", name: metadata.name, namespace: metadata.namespace, uid: metadata.uid };
}

function hostnameOf({ metadata }: Service, { spec }: Pod): { readonly hostname?: string } {
  return spec?.hostname !== undefined && spec.subdomain === metadata.name ? { hostname: spec.hostname } : {};
}

interface EndpointPort {
  readonly name?: string;
  readonly port: number;
  readonly protocol: string;
  readonly appProtocol?: string;
}

/** Named target ports are looked up in the pod's containers; unknown names are skipped. */
function resolvePorts({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap((port) => {
    const number = resolveTargetPort(port, pod);
    if (number === undefined) return [];
    const { name, protocol = "TCP", appProtocol } = port;
    return [
      {
        ...(name === undefined ? {} : { name }),
        port: number,
        protocol,
        ...(appProtocol === undefined ? {} : { appProtocol }),
      },
    ];
  });
}

function resolveTargetPort(
  { port, targetPort: target = port, protocol = "TCP" }: ServicePort,
  pod: Pod,
): number | undefined {
  if (typeof target === "number") return target === 0 ? port : target;
  const ports = (pod.spec?.containers ?? []).flatMap((container) => container.ports ?? []);
  return ports.find((one) => one.name === target && (one.protocol ?? "TCP") === protocol)?.containerPort;
}

function endpointsSteps({ service, endpoints, now }: ServiceState, pods: readonly Stored<Pod>[]): Step[] {
  const alive = pods.filter((pod) => !isTerminating(pod));
  const isReadyHere = (pod: Pod): boolean => service.spec?.publishNotReadyAddresses === true || isReady(pod);
  const ready = alive.filter(isReadyHere).map((pod) => addressOf(service, pod));
  const notReady = alive.filter((pod) => !isReadyHere(pod)).map((pod) => addressOf(service, pod));
  const ports = pods[0] ? resolvePorts(service, pods[0]) : [];
  const subset = {
    ...(ready.length === 0 ? {} : { addresses: ready }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(ports.length === 0 ? {} : { ports }),
  };
  const subsets = alive.length === 0 ? [] : [subset];
  const labels = {
    ...service.metadata.labels,
    [ENDPOINTS_MANAGED_BY]: ENDPOINTS_CONTROLLER,
    ...headless(service),
  };
  const { namespace, name } = service.metadata;
  const before = endpoints && {
    subsets: "subsets" in endpoints ? endpoints.subsets : [],
    labels: endpoints.metadata.labels,
  };
  if (before && equalJson(before, { subsets, labels })) return [];
  const content = subsets.length === 0 ? {} : { subsets };
  const metadata = { name, namespace, labels, annotations: { [TRIGGER]: wholeSeconds(now) } };
  if (!endpoints) return [create(ENDPOINTS, { ...typeOf(ENDPOINTS), metadata, ...content })];
  return [update(ENDPOINTS, { ...typeOf(ENDPOINTS), metadata: { ...endpoints.metadata, ...metadata }, ...content })];
}

function addressOf(service: Service, pod: Stored<Pod>): object {
  return {
    ip: pod.status?.podIP ?? "",
    ...hostnameOf(service, pod),
    ...(pod.spec?.nodeName === undefined ? {} : { nodeName: pod.spec.nodeName }),
    targetRef: createTargetReference(pod),
  };
}
