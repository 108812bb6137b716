import type { JsonObject } from "@oaas/kube-core";
import type { Column } from "../kinds/kind.ts";
import { hasObject, numberAt, objectAt, objectsAt, textAt } from "../kinds/json-access.ts";
import { AGE, column, NAME, orElse, type Cell } from "./cells.ts";

const SOURCES: Readonly<Record<string, string>> = {
  External: "external",
  Pods: "pods",
  Object: "object",
  Resource: "resource",
  ContainerResource: "containerResource",
};
const MAX_METRICS = 2;

/** Autoscalers in version 2; version 1 is converted first. */
export function autoscalerColumns(toV2: (object: JsonObject) => JsonObject): readonly Column[] {
  const cell =
    (read: Cell): Cell =>
    (object, now) =>
      read(toV2(object), now);
  return [
    NAME,
    column(
      "Reference",
      cell((object) => {
        const target = objectAt(object, "spec", "scaleTargetRef");
        return `${textAt(target, "kind")}/${textAt(target, "name")}`;
      }),
    ),
    column("Targets", cell(metricsText)),
    column(
      "MinPods",
      cell((object) => String(numberAt(objectAt(object, "spec"), "minReplicas") ?? "<unset>")),
    ),
    column(
      "MaxPods",
      cell((object) => numberAt(objectAt(object, "spec"), "maxReplicas") ?? 0),
    ),
    column(
      "Replicas",
      cell((object) => numberAt(objectAt(object, "status"), "currentReplicas") ?? 0),
    ),
    AGE,
  ];
}

function metricsText(object: JsonObject): string {
  const metrics = objectsAt(objectAt(object, "spec"), "metrics");
  const current = objectsAt(objectAt(object, "status"), "currentMetrics");
  if (metrics.length === 0) return "<none>";
  const texts = metrics.map((metric, index) => metricText(metric, current[index] ?? {}));
  const visible = texts.slice(0, MAX_METRICS).join(", ");
  return texts.length > MAX_METRICS ? `${visible} + ${texts.length - MAX_METRICS} more...` : visible;
}

function metricText(metric: JsonObject, status: JsonObject): string {
  const source = SOURCES[textAt(metric, "type")];
  if (source === undefined) return "<unknown type>";
  const target = objectAt(metric, source, "target");
  const current = objectAt(status, source, "current");
  const isKnown = hasObject(status, source);
  const value = (name: string): string => (isKnown ? orElse(textAt(current, name), "0") : "<unknown>");
  const isAverage = textAt(target, "averageValue") !== "";
  const resource = textAt(objectAt(metric, source), "name");
  switch (source) {
    case "external":
    case "object":
      return isAverage
        ? `${orElse(textAt(current, "averageValue"), "<unknown>")}/${textAt(target, "averageValue")} (avg)`
        : `${value("value")}/${textAt(target, "value")}`;
    case "pods":
      return `${value("averageValue")}/${textAt(target, "averageValue")}`;
    default:
      return `${resource}: ${isAverage ? `${value("averageValue")}/${textAt(target, "averageValue")}` : usageText(current, target)}`;
  }
}

function usageText(current: JsonObject, target: JsonObject): string {
  const percent = (holder: JsonObject, unknown: string): string => {
    const use = numberAt(holder, "averageUtilization");
    return use === undefined ? unknown : `${use}%`;
  };
  return `${percent(current, "<unknown>")}/${percent(target, "<auto>")}`;
}
