import { formatQuantity, matchesLabels, parseLabelSelector, quantityOf, type JsonObject } from "@oaas/kube-core";
import type { Clock } from "@oaas/foundation";
import type { ApiResponse } from "../api.ts";
import type { ClusterObjects } from "../controllers/cluster-objects.ts";
import { typed } from "../controllers/objects/cluster-view.ts";
import { NODES, PODS } from "../controllers/objects/resources.ts";
import { wholeSeconds } from "../controllers/objects/time.ts";
import type { Pod } from "../controllers/objects/typed.ts";
import { containerUsages, METRICS_WINDOW_MS, type Usage, type UsageSource } from "../controllers/usage/pod-usage.ts";
import { objectResponse, statusResponse } from "../request/response/responses.ts";
import { badRequest, methodNotAllowed, notFound } from "../request/response/status-errors.ts";
import { parseResourcePath } from "../request/routing/resource-path.ts";
import type { PathHandler } from "../request/routing/router.ts";
import { METRICS_GROUP, METRICS_KINDS, METRICS_VERSION } from "./metrics-kinds.ts";

const API_VERSION = `${METRICS_GROUP}/${METRICS_VERSION}`;
const JSON_FORM = { syntax: "json", isPretty: false } as const;

export interface MetricsPorts {
  readonly objects: () => ClusterObjects;
  readonly usage: UsageSource;
  readonly clock: Clock;
}

/** `metrics.k8s.io/v1beta1`, as a metrics server answers it: PodMetrics and NodeMetrics, get and list. */
export function metricsPages(ports: MetricsPorts): PathHandler {
  return {
    handle(request, path, query) {
      const target = parseResourcePath(path);
      if (target?.group !== METRICS_GROUP || target.version !== METRICS_VERSION) return undefined;
      const kind = METRICS_KINDS.find(({ resource }) => resource === target.resource);
      if (!kind || target.subresource !== undefined) return undefined;
      if (request.method !== "GET") return statusResponse(methodNotAllowed());
      const all = kind.resource === "pods" ? podMetrics(ports, target.namespace) : nodeMetrics(ports);
      if (target.name === undefined) return listMetrics(kind.listKind, all, query.get("labelSelector") ?? "");
      const found = all.find(({ metadata }) => metadata.name === target.name);
      return found
        ? objectResponse(200, asObject(found, kind.kind), JSON_FORM)
        : statusResponse(notFound(kind, target.name));
    },
  };
}

/** Measured values of one object. */
interface Measurement {
  readonly metadata: JsonObject & { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly values: JsonObject;
}

function listMetrics(kind: string, all: readonly Measurement[], selector: string): ApiResponse {
  const requirements = parseLabelSelector(selector);
  if (!requirements.ok) return statusResponse(badRequest(requirements.error.message));
  const items = all.filter(({ metadata }) => matchesLabels(requirements.value, metadata.labels));
  return objectResponse(
    200,
    { kind, apiVersion: API_VERSION, metadata: {}, items: items.map((item) => asObject(item)) },
    JSON_FORM,
  );
}

function asObject({ metadata, values }: Measurement, kind?: string): JsonObject {
  return { ...(kind === undefined ? {} : { kind, apiVersion: API_VERSION }), metadata, ...values };
}

function podMetrics({ objects, usage, clock }: MetricsPorts, namespace: string | undefined): readonly Measurement[] {
  return objects()
    .list(PODS, namespace)
    .flatMap((object) => {
      const pod = typed<Pod>(object);
      const usages = containerUsages(pod, usage, clock.now());
      if (!usages) return [];
      const containers = usages.map((one) => ({ name: one.container, usage: usageJson(one) }));
      return [{ metadata: metadataOf(pod, clock.now()), values: { ...times(clock.now()), containers } }];
    });
}

/** The sum of the pods of each node. */
function nodeMetrics({ objects, usage, clock }: MetricsPorts): readonly Measurement[] {
  const pods = objects()
    .list(PODS)
    .map((object) => typed<Pod>(object));
  const byNode = Map.groupBy(pods, (pod) => pod.spec?.nodeName ?? "");
  return objects()
    .list(NODES)
    .map((object) => {
      const node = typed(object);
      const own = byNode.get(node.metadata.name ?? "") ?? [];
      const usages = own.flatMap((pod) => containerUsages(pod, usage, clock.now()) ?? []);
      const total = usages.reduce<Usage>(addUsage, { cpuMillicores: 0, memoryBytes: 0 });
      return { metadata: metadataOf(node, clock.now()), values: { ...times(clock.now()), usage: usageJson(total) } };
    });
}

function addUsage(one: Usage, other: Usage): Usage {
  return {
    cpuMillicores: one.cpuMillicores + other.cpuMillicores,
    memoryBytes: one.memoryBytes + other.memoryBytes,
  };
}

function metadataOf({ metadata }: Pick<Pod, "metadata">, now: number): Measurement["metadata"] {
  const { name = "", namespace, labels } = metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    creationTimestamp: wholeSeconds(now),
    ...(labels === undefined ? {} : { labels }),
  };
}

function times(now: number): JsonObject {
  return { timestamp: wholeSeconds(now), window: `${METRICS_WINDOW_MS / 1000}s` };
}

function usageJson({ cpuMillicores, memoryBytes }: Usage): JsonObject {
  return {
    cpu: formatQuantity({ nano: BigInt(Math.round(cpuMillicores)) * 1_000_000n, format: "DecimalSI" }),
    memory: formatQuantity(quantityOf(Math.round(memoryBytes), "BinarySI")),
  };
}
