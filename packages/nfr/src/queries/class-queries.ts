import { quoteLabel } from "./promql-text.ts";

/*
 * Queries about one class, as the design documents write them, for dashboards, alerts and people. The analyzer uses
 * `buildQuery` instead: one query per signal for all classes.
 */

export interface ClassSelector {
  readonly namespace: string;
  /** The name of the Knative Service, or the value of `oaas_owner`. */
  readonly name: string;
}

/** Requests per second of a Knative class, seen by the activator. */
export function knativeRequestsPerSecond({ namespace, name }: ClassSelector): string {
  return `sum(rate(activator_request_count{namespace_name=${quoteLabel(namespace)}, configuration_name=${quoteLabel(name)}}[1m]))`;
}

/** Latency of the slowest revision of a Knative class, for a histogram in seconds. Up to 1.18 Knative's is in milliseconds. */
export function knativeLatencyP99Ms({ namespace, name }: ClassSelector): string {
  return `1000 * max(histogram_quantile(0.99, sum(rate(activator_request_latencies_bucket{namespace_name=${quoteLabel(namespace)}, configuration_name=${quoteLabel(name)}}[1m])) by (revision_name, le)))`;
}

/** Latency of a class with Deployments or StatefulSets. */
export function httpLatencyP99Ms({ namespace, name }: ClassSelector): string {
  return `1000 * histogram_quantile(0.99, sum(rate(http_server_requests_seconds_bucket{oaas_owner=${quoteLabel(name)}, namespace=${quoteLabel(namespace)}}[5m])) by (le))`;
}

/** Pods of one component. */
export interface PodSelector {
  readonly namespace: string;
  /** Regular expression of the pod names; PromQL anchors it. */
  readonly podPattern: string;
}

/** CPU of the pods of a component. */
export function podsCpuMillicores({ namespace, podPattern }: PodSelector): string {
  return `1000 * sum(rate(container_cpu_usage_seconds_total{pod=~${quoteLabel(podPattern)},container!="",namespace=${quoteLabel(namespace)}}[5m]))`;
}

/** Memory of the pods of a component. */
export function podsMemoryBytes({ namespace, podPattern }: PodSelector): string {
  return `sum(container_memory_working_set_bytes{pod=~${quoteLabel(podPattern)},container!="",namespace=${quoteLabel(namespace)}})`;
}

/** Latency of a deployment, in seconds. */
export function deploymentLatencyP95(deploymentId: string): string {
  return `histogram_quantile(0.95, rate(http_request_duration_seconds_bucket{deployment_id=${quoteLabel(deploymentId)}}[5m]))`;
}

/** Requests per second of each series of a deployment. */
export function deploymentThroughput(deploymentId: string): string {
  return `rate(http_requests_total{deployment_id=${quoteLabel(deploymentId)}}[5m])`;
}

/** CPU of each series of a deployment, in percent of a core. */
export function deploymentCpuPercent(deploymentId: string): string {
  return `rate(container_cpu_usage_seconds_total{deployment_id=${quoteLabel(deploymentId)}}[5m]) * 100`;
}
