import type { KubeObject, Stored } from "@oaas/kube-core";
import type { Controller } from "../loop/controller.ts";
import { createDecision, remove, SETTLED, type Decision } from "../loop/decision.ts";
import { typed, type ClusterView } from "../objects/cluster-view.ts";
import { ENDPOINT_SLICES, ENDPOINTS, keyOf, nameOfKey, objectKey, PODS, SERVICES } from "../objects/resources.ts";
import type { Pod, Service } from "../objects/typed.ts";
import {
  decideService,
  ENDPOINTS_CONTROLLER,
  ENDPOINTS_MANAGED_BY,
  MANAGED_BY,
  selectsPod,
  SERVICE_NAME,
  type EndpointSlice,
} from "./endpoints.ts";

export function serviceController(): Controller {
  return {
    name: "services",
    reporter: "endpoint-slice-controller",
    writer: "kube-controller-manager",
    watches: [
      { kind: SERVICES, keys: (object) => [keyOf(typed<KubeObject>(object))] },
      { kind: PODS, isSecondary: true, keys: (object, view) => servicesOf(typed(object), view) },
      { kind: ENDPOINTS, isSecondary: true, keys: (object) => [keyOf(typed<KubeObject>(object))] },
      { kind: ENDPOINT_SLICES, isSecondary: true, keys: (object) => serviceOfSlice(typed(object)) },
    ],
    decide(key, { view, now }) {
      const { namespace, name } = nameOfKey(key);
      const service = view.get<Service>(SERVICES, namespace, name);
      if (!service) return deleteLeftovers(view.get(ENDPOINTS, namespace, name));
      return decideService({
        service,
        pods: view.list<Pod>(PODS, namespace).filter((pod) => selectsPod(service, pod)),
        slices: view
          .controlled<EndpointSlice>(service, ENDPOINT_SLICES)
          .filter(
            ({ metadata }) => metadata.labels?.[MANAGED_BY] !== undefined && metadata.deletionTimestamp === undefined,
          ),
        endpoints: view.get(ENDPOINTS, namespace, name),
        now,
      });
    },
  };
}

/** Slices are owned by their Service; Endpoints are not and must be deleted. Endpoints of others stay. */
function deleteLeftovers(endpoints: Stored<KubeObject> | undefined): Decision {
  const isOurs = endpoints?.metadata.labels?.[ENDPOINTS_MANAGED_BY] === ENDPOINTS_CONTROLLER;
  return endpoints && isOurs ? createDecision([remove(ENDPOINTS, endpoints)]) : SETTLED;
}

function servicesOf(pod: Pod, view: ClusterView): string[] {
  return view
    .list<Service>(SERVICES, pod.metadata.namespace)
    .filter((service) => selectsPod(service, pod))
    .map(keyOf);
}

function serviceOfSlice({ metadata }: EndpointSlice): string[] {
  const name = metadata.labels?.[SERVICE_NAME];
  return name === undefined ? [] : [objectKey(metadata.namespace, name)];
}
