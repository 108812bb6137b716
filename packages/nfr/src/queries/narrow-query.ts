import type { Signal } from "../samples.ts";
import type { ComponentTarget } from "./assign-series.ts";
import { quoteLabel, quotePattern } from "./promql-text.ts";
import type { QueryTemplate } from "./templates.ts";

/** Labels that name the class or the workload of a series, other than the pod. */
const WORKLOAD_LABELS = [
  "deployment",
  "statefulset",
  "k8s_deployment_name",
  "k8s_statefulset_name",
  "configuration_name",
  "kn_configuration_name",
];
const POD_LABELS = ["pod", "k8s_pod_name"];

/** Signals that the default templates measure by pod; on other series the label names the exporter. */
const BY_POD: ReadonlySet<Signal> = new Set([
  "cpu_millicores",
  "cpu_throttled_ratio",
  "memory_bytes",
  "restarts",
  "oom_kills",
]);

/** A matcher of the namespaces; a template may write it with spaces. */
const NAMESPACES = /=~\s*\$namespaces/g;

/** What Kubernetes keeps of the name of a workload in the names of its pods and revisions. */
const LONGEST_PREFIX = 46;

/**
 * A template that selects only series which can belong to the components of one class, so that the size of its result does
 * not depend on the other classes of the namespace. A label that a series does not have matches, and names are compared by
 * what those of the components have in common: `assignSeries` decides.
 */
export function narrowTemplate(
  template: QueryTemplate,
  signal: Signal,
  targets: readonly ComponentTarget[],
): QueryTemplate {
  const names = targets.flatMap(({ workloads, pods = [] }) => [...workloads.map(({ name }) => name), ...pods]);
  const prefix = `${quotePattern(commonPrefix(names).slice(0, LONGEST_PREFIX))}.*`;
  const owners = new Set(targets.map(({ owner }) => quotePattern(owner)));
  const added = BY_POD.has(signal)
    ? POD_LABELS.map((label) => matcher(label, [prefix]))
    : [...WORKLOAD_LABELS.map((label) => matcher(label, [prefix])), matcher("oaas_owner", [...owners])];
  return template.replaceAll(NAMESPACES, () => `=~$namespaces,${added.join(",")}`);
}

function matcher(label: string, patterns: readonly string[]): string {
  return `${label}=~${quoteLabel(["", ...patterns].join("|"))}`;
}

function commonPrefix([first = "", ...others]: readonly string[]): string {
  return others.reduce((prefix, name) => {
    let length = 0;
    while (length < prefix.length && prefix[length] === name[length]) length += 1;
    return prefix.slice(0, length);
  }, first);
}
