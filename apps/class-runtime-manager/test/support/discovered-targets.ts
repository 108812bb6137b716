import type { Manifest } from "../../src/rendering/model/rendered.ts";

type Labels = Readonly<Record<string, string>>;

interface PodTemplate {
  readonly metadata: { readonly labels: Labels; readonly annotations?: Labels };
  readonly spec: {
    readonly containers: readonly { readonly ports?: readonly { name: string; containerPort: number }[] }[];
  };
}

interface Pod {
  readonly name: string;
  readonly ip: string;
  readonly template: PodTemplate;
}

interface ServiceSpec {
  readonly selector: Labels;
  readonly ports: readonly { readonly name: string; readonly targetPort: number }[];
}

/** A target before relabelling: its address and what Prometheus knows about it. */
export type DiscoveredTarget = Labels;

/** The pods of all workloads, as their controllers name them. */
function podsOf(children: readonly Manifest[]): readonly Pod[] {
  return children
    .filter(({ kind }) => kind === "Deployment" || kind === "StatefulSet")
    .flatMap(({ metadata, spec }, workload) => {
      const { replicas = 1, template } = spec as { replicas?: number; template: PodTemplate };
      return Array.from({ length: replicas }, (_, index) => ({
        name: `${metadata.name}-${index}`,
        ip: `10.0.${workload}.${index}`,
        template,
      }));
    });
}

/** The targets that Prometheus discovers with `role: endpoints`: one for each address and port of each Service. */
export function endpointTargets(children: readonly Manifest[], namespace: string): readonly DiscoveredTarget[] {
  const pods = podsOf(children);
  return children
    .filter(({ apiVersion, kind }) => apiVersion === "v1" && kind === "Service")
    .flatMap(({ metadata, spec }) => {
      const { selector, ports } = spec as ServiceSpec;
      const selected = pods.filter(({ template }) =>
        Object.entries(selector).every(([key, value]) => template.metadata.labels[key] === value),
      );
      return selected.flatMap((pod) =>
        ports.map(({ name, targetPort }) => ({
          __address__: `${pod.ip}:${targetPort}`,
          __meta_kubernetes_endpoint_port_name: name,
          __meta_kubernetes_service_name: metadata.name ?? "",
          ...metaLabels("service_label", metadata.labels),
          ...metaLabels("service_annotation", metadata.annotations),
          ...podMeta(pod, namespace),
        })),
      );
    });
}

/** The targets that Prometheus discovers with `role: pod`: one for each container port. */
export function podTargets(children: readonly Manifest[], namespace: string): readonly DiscoveredTarget[] {
  return podsOf(children).flatMap((pod) =>
    pod.template.spec.containers
      .flatMap(({ ports = [] }) => ports)
      .map(({ name, containerPort }) => ({
        __address__: `${pod.ip}:${containerPort}`,
        __meta_kubernetes_pod_container_port_name: name,
        ...podMeta(pod, namespace),
      })),
  );
}

function podMeta({ name, ip, template }: Pod, namespace: string): Labels {
  return {
    __meta_kubernetes_namespace: namespace,
    __meta_kubernetes_pod_name: name,
    __meta_kubernetes_pod_ip: ip,
    ...metaLabels("pod_label", template.metadata.labels),
  };
}

function metaLabels(kind: string, values: Labels = {}): Labels {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      const name = key.replaceAll(/[^a-zA-Z0-9_]/g, "_");
      return [
        [`__meta_kubernetes_${kind}_${name}`, value],
        [`__meta_kubernetes_${kind}present_${name}`, "true"],
      ];
    }),
  );
}
