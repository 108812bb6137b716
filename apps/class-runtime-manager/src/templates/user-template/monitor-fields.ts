import { pathOf, ROOT_PATH, violationsUnder, type Violation } from "@oaas/foundation";
import { isJsonObject } from "@oaas/kube-core";

type Json = Readonly<Record<string, unknown>>;

/**
 * Fields that a template may set in the monitors of the Prometheus operator. The others make Prometheus read its own
 * files or Secrets, send requests to other addresses, or write the metrics of other targets.
 */
const MONITOR_FIELDS: Readonly<Record<string, { readonly list: string; readonly spec: readonly string[] }>> = {
  "monitoring.coreos.com/v1/ServiceMonitor": { list: "endpoints", spec: ["targetLabels", "podTargetLabels"] },
  "monitoring.coreos.com/v1/PodMonitor": { list: "podMetricsEndpoints", spec: ["podTargetLabels"] },
};
const MONITOR_SPEC_FIELDS = [
  "selector",
  "jobLabel",
  "sampleLimit",
  "targetLimit",
  "labelLimit",
  "labelNameLengthLimit",
  "labelValueLengthLimit",
];
const ENDPOINT_FIELDS = [
  "port",
  "portNumber",
  "targetPort",
  "path",
  "params",
  "scheme",
  "interval",
  "scrapeTimeout",
  "enableHttp2",
  "filterRunning",
  "honorTimestamps",
];

/** Returns the fields of a monitor that a template must not set. Paths start at the manifest. */
export function checkMonitor(object: Json): readonly Violation[] {
  const kind = String(object["kind"]);
  const monitor = MONITOR_FIELDS[`${String(object["apiVersion"])}/${kind}`];
  if (monitor === undefined) return [];
  const spec = jsonOf(object["spec"]);
  const allowed = [...MONITOR_SPEC_FIELDS, ...monitor.spec, monitor.list];
  const endpoints = spec[monitor.list] ?? [];
  if (!Array.isArray(endpoints)) {
    return [{ path: pathOf(ROOT_PATH, "spec", monitor.list), message: `${monitor.list} is not a list` }];
  }
  return [
    ...violationsUnder(pathOf(ROOT_PATH, "spec"), fieldViolations(spec, allowed, kind)),
    ...endpoints.flatMap((endpoint: unknown, index) =>
      violationsUnder(
        pathOf(ROOT_PATH, "spec", monitor.list, index),
        fieldViolations(jsonOf(endpoint), ENDPOINT_FIELDS, kind),
      ),
    ),
  ];
}

function fieldViolations(object: Json, allowed: readonly string[], kind: string): readonly Violation[] {
  return Object.keys(object)
    .filter((field) => !allowed.includes(field))
    .map((field) => ({
      path: pathOf(ROOT_PATH, field),
      message: `a template cannot set ${field} of a ${kind}`,
      fix: `use only ${allowed.join(", ")}`,
    }));
}

function jsonOf(value: unknown): Json {
  return isJsonObject(value) ? value : {};
}
