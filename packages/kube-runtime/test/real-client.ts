import { realAmbient } from "@oaas/foundation/real";
import type { KubeObject } from "@oaas/kube-core";
import type { KubernetesUnderTest } from "@oaas/testkit";
import { createUndiciTransport, loadAccess } from "../src/adapters/index.ts";
import { KubeClient } from "../src/client/kube-client.ts";
import type { RequesterOptions } from "../src/client/requester.ts";
import { resourceType } from "../src/client/resource-type.ts";
import type { Transport } from "../src/client/transport.ts";

/** Core API fields that the tests use. */
export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** apps/v1 fields that the tests use. */
export interface Deployment extends KubeObject {
  readonly spec?: { readonly replicas?: number; readonly [field: string]: unknown };
  readonly status?: {
    readonly replicas?: number;
    readonly readyReplicas?: number;
    readonly observedGeneration?: number;
  };
}

/** A kind with data and without status. */
export const CONFIG_MAPS = resourceType<ConfigMap>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  resource: "configmaps",
  namespaced: true,
});
/** A cluster-scoped kind. */
export const NAMESPACES = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Namespace",
  resource: "namespaces",
  namespaced: false,
});
/** A kind with status and scale. */
export const DEPLOYMENTS = resourceType<Deployment>({
  group: "apps",
  version: "v1",
  kind: "Deployment",
  resource: "deployments",
  namespaced: true,
});

/** Connection settings of a real API server, as its admin. */
export function realTransport(cluster: Pick<KubernetesUnderTest, "kubeconfig">): Transport {
  return createUndiciTransport(loadAccess({ env: {}, kubeconfig: cluster.kubeconfig }), realAmbient);
}

/** A client of a real API server, as its admin. */
export function realClient(
  cluster: Pick<KubernetesUnderTest, "kubeconfig">,
  options: Partial<RequesterOptions> = {},
): KubeClient {
  return new KubeClient({ transport: realTransport(cluster), ambient: realAmbient, ...options });
}

/** A ConfigMap to create or apply. */
export function configMap(namespace: string, name: string, data: Record<string, string>): ConfigMap {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { namespace, name }, data };
}

/** A valid Deployment. */
export function deployment(namespace: string, name: string, replicas: number): Deployment {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace, name, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "example.test/app:1" }] } },
    },
  };
}
