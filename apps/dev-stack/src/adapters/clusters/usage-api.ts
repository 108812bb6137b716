import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import type { Clock } from "@oaas/foundation";
import { matchesLabels, parseLabelSelector, type KubeObject } from "@oaas/kube-core";
import { resourceType, type KubeClient } from "@oaas/kube-runtime";
import { makeAuthority } from "@oaas/real-components";
import type { PodUsage } from "../../load/function-load.ts";

const GROUP = "metrics.k8s.io";
const VERSION = "v1beta1";
const BASE = `/apis/${GROUP}/${VERSION}`;
const HOST = "localhost";
const SERVICE = "oaas-usage";
const NAMESPACE = "kube-system";
/** The name that the API server expects in the certificate. */
const TLS_NAME = `${SERVICE}.${NAMESPACE}.svc`;
const FIELD_MANAGER = "oaas-local-stack";
const VALID_DAYS = 3650;

const SERVICES = resourceType<KubeObject>({
  group: "",
  version: "v1",
  kind: "Service",
  resource: "services",
  namespaced: true,
});
const API_SERVICES = resourceType<KubeObject>({
  group: "apiregistration.k8s.io",
  version: "v1",
  kind: "APIService",
  resource: "apiservices",
  namespaced: false,
});

export interface UsagePorts {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly pods: () => readonly unknown[];
  readonly usageOf: (pod: KubeObject) => PodUsage | undefined;
}

/** Serves the simulated usage of pods as `metrics.k8s.io` behind a real API server, so that its autoscalers act. */
export async function startUsageApi(ports: UsagePorts): Promise<{ close(): Promise<void> }> {
  const authority = makeAuthority("oaas-usage", VALID_DAYS);
  const { certificate, key } = authority.issue({ commonName: TLS_NAME, hosts: [TLS_NAME] });
  const server = createServer({ cert: certificate, key }, (request, response) => {
    const body = request.method === "GET" ? answerUsage(request.url ?? "/", ports) : undefined;
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { kind: "Status", apiVersion: "v1", status: "Failure", code: 404 }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await register(ports.client, (server.address() as AddressInfo).port, authority.certificate);
  } catch (thrown) {
    await closeServer(server);
    throw thrown;
  }
  return { close: () => closeServer(server) };
}

async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** The response to a request of the API server; undefined for paths that are not served. */
export function answerUsage(target: string, { clock, pods, usageOf }: Omit<UsagePorts, "client">): object | undefined {
  const url = URL.parse(target, `https://${HOST}`);
  if (url === null) return undefined;
  if (url.pathname === BASE) {
    const resource = { name: "pods", singularName: "", namespaced: true, kind: "PodMetrics", verbs: ["list"] };
    return { kind: "APIResourceList", apiVersion: "v1", groupVersion: `${GROUP}/${VERSION}`, resources: [resource] };
  }
  const namespace = url.pathname.startsWith(`${BASE}/namespaces/`) ? url.pathname.split("/")[5] : undefined;
  const scope = namespace === undefined ? "" : `/namespaces/${namespace}`;
  if (url.pathname !== `${BASE}${scope}/pods`) return undefined;
  const selector = parseLabelSelector(url.searchParams.get("labelSelector") ?? "");
  if (!selector.ok) return undefined;
  const timestamp = new Date(clock.now()).toISOString();
  const items = (pods() as readonly KubeObject[]).flatMap((pod) => {
    const { metadata } = pod;
    const usage = usageOf(pod);
    if (usage === undefined || (namespace !== undefined && metadata.namespace !== namespace)) return [];
    if (!matchesLabels(selector.value, metadata.labels)) return [];
    const { name, namespace: of, labels } = metadata;
    return [
      { metadata: { name, namespace: of, labels }, timestamp, window: "5s", containers: [containerOf(pod, usage)] },
    ];
  });
  return { kind: "PodMetricsList", apiVersion: `${GROUP}/${VERSION}`, metadata: {}, items };
}

function containerOf(pod: KubeObject, { cpuMillicores, memoryBytes }: PodUsage): object {
  const { spec } = pod as KubeObject & {
    readonly spec?: { readonly containers?: readonly { readonly name: string }[] };
  };
  const cpu = `${Math.round(cpuMillicores * 1e6)}n`;
  return { name: spec?.containers?.[0]?.name ?? "", usage: { cpu, memory: String(Math.round(memoryBytes)) } };
}

/** Endpoints must not have loopback addresses, so the Service is an external name. */
async function register(client: KubeClient, port: number, certificate: string): Promise<void> {
  const service = { name: SERVICE, namespace: NAMESPACE };
  const applied = { fieldManager: FIELD_MANAGER, force: true };
  await client.resource(SERVICES).apply(
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: service,
      spec: { type: "ExternalName", externalName: HOST },
    } as KubeObject,
    applied,
  );
  await client.resource(API_SERVICES).apply(
    {
      apiVersion: "apiregistration.k8s.io/v1",
      kind: "APIService",
      metadata: { name: `${VERSION}.${GROUP}` },
      spec: {
        group: GROUP,
        version: VERSION,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        caBundle: Buffer.from(certificate).toString("base64"),
        service: { ...service, port },
      },
    } as KubeObject,
    applied,
  );
}
