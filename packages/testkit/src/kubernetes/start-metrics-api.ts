import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { internal } from "@oaas/foundation";
import { eventually, makeAuthority } from "@oaas/real-components";
import type { KubernetesUnderTest } from "./start-kubernetes.ts";

/** The usage of one pod with one container. */
export interface PodUsage {
  readonly pod: string;
  readonly cpuMillicores: number;
  readonly memoryBytes?: number;
}

/** A stand-in for metrics-server. */
export interface MetricsApi extends AsyncDisposable {
  close(): Promise<void>;
}

/** Returns the usage of the pods that match a label selector of a namespace. Pods that are not returned have no metrics. */
type UsageOf = (namespace: string, labelSelector: string) => Promise<readonly PodUsage[]> | readonly PodUsage[];

const GROUP = "metrics.k8s.io";
const VERSION = `${GROUP}/v1beta1`;

/** Serves `metrics.k8s.io` on loopback behind the API server, so that autoscalers of a real cluster act on given usage. */
export async function startMetricsApi(cluster: KubernetesUnderTest, usageOf: UsageOf): Promise<MetricsApi> {
  const { certificate, key } = makeAuthority("metrics").issue({ commonName: "metrics", hosts: ["localhost"] });
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const url = new URL(request.url ?? "/", "https://localhost");
    void answer(url, usageOf).then((body) => {
      response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(body ?? { kind: "Status", apiVersion: "v1", status: "Failure", code: 404 }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  try {
    await registerMetricsApi(cluster, (server.address() as AddressInfo).port);
  } catch (error) {
    await close();
    throw error;
  }
  return { close, [Symbol.asyncDispose]: close };
}

async function answer(url: URL, usageOf: UsageOf): Promise<object | undefined> {
  if (url.pathname === `/apis/${VERSION}`) {
    const pods = { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["get", "list"] };
    return { kind: "APIResourceList", apiVersion: "v1", groupVersion: VERSION, resources: [pods] };
  }
  const namespace = /\/namespaces\/([^/]+)\/pods$/.exec(url.pathname)?.[1];
  if (namespace === undefined) return undefined;
  const usages = await usageOf(namespace, url.searchParams.get("labelSelector") ?? "");
  const timestamp = new Date().toISOString();
  return {
    kind: "PodMetricsList",
    apiVersion: VERSION,
    metadata: {},
    items: usages.map(({ pod, cpuMillicores, memoryBytes = 0 }) => ({
      metadata: { name: pod, namespace },
      timestamp,
      window: "1s",
      containers: [{ name: "main", usage: { cpu: `${cpuMillicores}m`, memory: String(memoryBytes) } }],
    })),
  };
}

/**
 * Registers a server on loopback as the metrics API, and waits until the API server serves it. Endpoints must not have
 * loopback addresses, so the Service is an external name.
 */
export async function registerMetricsApi({ kubectl }: KubernetesUnderTest, port: number): Promise<void> {
  const name = `v1beta1.${GROUP}`;
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: "metrics", namespace: "kube-system" },
    spec: { type: "ExternalName", externalName: "localhost" },
  };
  const api = {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name },
    spec: {
      group: GROUP,
      version: "v1beta1",
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service: { name: service.metadata.name, namespace: service.metadata.namespace, port },
    },
  };
  const list = { apiVersion: "v1", kind: "List", items: [service, api] };
  const applied = await kubectl(["apply", "-f", "-"], { stdin: JSON.stringify(list) });
  if (applied.exitCode !== 0) throw internal(`registering the metrics API: ${applied.stderr.trim()}`);
  const isServed = async (): Promise<boolean> => (await kubectl(["get", "--raw", `/apis/${VERSION}`])).exitCode === 0;
  await eventually(isServed, { what: `${name} being served` });
}
