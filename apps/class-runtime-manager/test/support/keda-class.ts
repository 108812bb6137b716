import type { KubeObject } from "@oaas/kube-core";
import { classManifest, type ControllerFixture } from "./controller-fixture.ts";

/** KEDA's ScaledObject. */
export interface ScaledObject extends KubeObject {
  readonly spec: { readonly minReplicaCount?: number; readonly maxReplicaCount?: number };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const CPU_TRIGGER = { type: "cpu", metricType: "Utilization", metadata: { value: "60" } };

/** A ScaledObject that scales a Deployment on CPU. */
export function scaledObject(metadata: object, target: string, spec: object = {}): object {
  return {
    apiVersion: "keda.sh/v1alpha1",
    kind: "ScaledObject",
    metadata,
    spec: { scaleTargetRef: { name: target }, triggers: [CPU_TRIGGER], ...spec },
  };
}

const TEMPLATE = "with-keda";

/** A trigger that has a value without pods. */
export const PROMETHEUS_TRIGGER = {
  type: "prometheus",
  metadata: { serverAddress: "http://127.0.0.1:9", query: "requests", threshold: "5" },
};

/** A user template whose functions KEDA scales; `spec` overrides fields of the ScaledObject. */
export function kedaTemplate(name: string = TEMPLATE, trigger: object = CPU_TRIGGER, spec: object = {}): object {
  const minReplicaCount = "{{ function.replicas }}";
  return {
    apiVersion: "oaas.io/v1alpha1",
    kind: "DeploymentTemplate",
    metadata: { name },
    spec: {
      template_type: "Deployment",
      manifests: [
        { apiVersion: "apps/v1", kind: "Deployment" },
        scaledObject({ name: "{{ function.name }}" }, "{{ function.name }}", {
          minReplicaCount,
          triggers: [trigger],
          ...spec,
        }),
      ],
    },
  };
}

/** A class under enforcement of its replicas. */
export function kedaClass(name: string, provision: object, template = TEMPLATE, limits: object = {}): object {
  const fn = { function_key: "f", provision_config: { container_image: "example.test/fn:1", ...provision } };
  const enforcement = { mode: "enforce", dimensions: ["replicas"], ...limits };
  return classManifest(name, { functions: [fn], enforcement, selected_template: template });
}

/** The fields of one manager. */
interface ManagedFields {
  readonly "f:spec"?: Readonly<Record<string, unknown>>;
}

/** The managers of a field of the spec of an object. */
export async function managersOf(
  fixture: ControllerFixture,
  namespace: string,
  object: string,
  field: string,
): Promise<readonly string[]> {
  const text = await fixture.kubectl(`get ${object} -n ${namespace} -o json --show-managed-fields`);
  const { managedFields } = (JSON.parse(text) as KubeObject).metadata;
  return (managedFields ?? [])
    .filter(({ fieldsV1 }) => Object.hasOwn((fieldsV1 as ManagedFields)["f:spec"] ?? {}, `f:${field}`))
    .map(({ manager }) => manager ?? "");
}
