import type { Signal } from "@oaas/nfr";
import { QUERY_TEMPLATES } from "@oaas/nfr/queries";

/** The label that names the class or its workload, by the prefix of the metric. */
const WORKLOAD_LABELS: readonly (readonly [RegExp, string])[] = [
  [/^(revision|activator)_/, "configuration_name"],
  [/^kube_deployment_/, "deployment"],
  [/^kube_statefulset_/, "statefulset"],
  [/^kube_horizontalpodautoscaler_/, "horizontalpodautoscaler"],
  [/^(container|kube_pod)_/, "pod"],
  [/^http_/, "oaas_owner"],
];

/**
 * The query of a signal with the variables of a dashboard: namespace, cluster and class. Names of workloads start with
 * the name of their class, so `web` also shows the workloads of `web-api`.
 */
export function signalQuery(signal: Signal): string {
  return selectClass(QUERY_TEMPLATES.prometheus[signal]);
}

/** Replaces the placeholders of a template, and adds matchers of the variables to each selector. */
export function selectClass(template: string): string {
  return template
    .replaceAll("$namespaces", '"$namespace"')
    .replaceAll("$window", "$__rate_interval")
    .replaceAll(/(?<metric>\w+)\{(?<matchers>[^}]*)\}/g, (...match) => {
      const { metric = "", matchers = "" } = match.at(-1) as Record<string, string>;
      return `${metric}{${matchers},cluster=~"$cluster",${classMatcher(metric)}}`;
    });
}

function classMatcher(metric: string): string {
  const label = WORKLOAD_LABELS.find(([prefix]) => prefix.test(metric))?.[1];
  if (label === undefined) throw new Error(`no label of ${metric} names a class; add it to WORKLOAD_LABELS`);
  return label === "oaas_owner" ? 'oaas_owner=~"$class"' : `${label}=~"($class)(-.*)?"`;
}
