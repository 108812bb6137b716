import type { JsonObject } from "@oaas/kube-core";
import type { Column } from "../kinds/kind.ts";
import { hasObject, isSet, member, numberAt, objectAt, objectsAt, textAt } from "../kinds/json-access.ts";
import { ageText } from "../kinds/custom/crd-kinds.ts";
import {
  AGE,
  column,
  containerColumns,
  isTerminating,
  labelsText,
  NAME,
  orElse,
  selectorText,
  formatAge,
  type Cell,
} from "./cells.ts";

const spec = (object: JsonObject): JsonObject => objectAt(object, "spec");
const status = (object: JsonObject): JsonObject => objectAt(object, "status");
const statusCount =
  (name: string): Cell =>
  (object) =>
    numberAt(status(object), name) ?? 0;
const specCount =
  (name: string): Cell =>
  (object) =>
    numberAt(spec(object), name) ?? 0;
const INTEGER = { type: "integer" } as const;

const templateColumns = containerColumns((object) => objectAt(object, "spec", "template", "spec"));
const selectorColumn = column(
  "Selector",
  (object) => selectorText(hasObject(spec(object), "selector") ? objectAt(object, "spec", "selector") : undefined),
  { isWide: true },
);
const readyColumn = column(
  "Ready",
  (object) => `${numberAt(status(object), "readyReplicas") ?? 0}/${numberAt(spec(object), "replicas") ?? 0}`,
);

export const deploymentColumns: readonly Column[] = [
  NAME,
  readyColumn,
  column("Up-to-date", statusCount("updatedReplicas")),
  column("Available", statusCount("availableReplicas")),
  AGE,
  ...templateColumns,
  selectorColumn,
];

export const replicaSetColumns: readonly Column[] = [
  NAME,
  column("Desired", specCount("replicas"), INTEGER),
  column("Current", statusCount("replicas"), INTEGER),
  column("Ready", statusCount("readyReplicas"), INTEGER),
  AGE,
  ...templateColumns,
  selectorColumn,
];

export const replicationControllerColumns: readonly Column[] = [
  ...replicaSetColumns.slice(0, -1),
  column("Selector", (object) => labelsText(objectAt(object, "spec", "selector")), { isWide: true }),
];

export const statefulSetColumns: readonly Column[] = [NAME, readyColumn, AGE, ...templateColumns];

export const daemonSetColumns: readonly Column[] = [
  NAME,
  column("Desired", statusCount("desiredNumberScheduled"), INTEGER),
  column("Current", statusCount("currentNumberScheduled"), INTEGER),
  column("Ready", statusCount("numberReady"), INTEGER),
  column("Up-to-date", statusCount("updatedNumberScheduled"), INTEGER),
  column("Available", statusCount("numberAvailable"), INTEGER),
  column("Node Selector", (object) => labelsText(objectAt(object, "spec", "template", "spec", "nodeSelector"))),
  AGE,
  ...templateColumns,
  selectorColumn,
];

export const podTemplateColumns: readonly Column[] = [
  NAME,
  ...containerColumns((object) => objectAt(object, "template", "spec")).map((each) => ({ ...each, priority: 0 })),
  column("Pod Labels", (object) => labelsText(objectAt(object, "template", "metadata", "labels"))),
];

export const controllerRevisionColumns: readonly Column[] = [
  NAME,
  column("Controller", controllerText),
  column("Revision", (object) => numberAt(object, "revision") ?? 0),
  AGE,
];

function controllerText(object: JsonObject): string {
  const owner = objectsAt(objectAt(object, "metadata"), "ownerReferences").find((each) => isSet(each, "controller"));
  if (owner === undefined) return "<none>";
  const [group] = textAt(owner, "apiVersion").includes("/") ? textAt(owner, "apiVersion").split("/") : [""];
  const kind = textAt(owner, "kind").toLowerCase();
  return `${group === "" ? kind : `${kind}.${group}`}/${textAt(owner, "name")}`;
}

export const jobColumns: readonly Column[] = [
  NAME,
  column("Status", jobStatus),
  column("Completions", completionsText),
  column("Duration", (job, now) => {
    const [start, end] = [textAt(status(job), "startTime"), textAt(status(job), "completionTime")];
    if (start === "") return "";
    return ageText((end === "" ? now : Date.parse(end)) - Date.parse(start));
  }),
  AGE,
  ...templateColumns,
  selectorColumn,
];

function jobStatus(job: JsonObject): string {
  const has = (type: string): boolean =>
    objectsAt(status(job), "conditions").some(
      (each) => textAt(each, "type") === type && textAt(each, "status") === "True",
    );
  if (has("Complete")) return "Complete";
  if (has("Failed")) return "Failed";
  if (isTerminating(job)) return "Terminating";
  return ["Suspended", "FailureTarget", "SuccessCriteriaMet"].find(has) ?? "Running";
}

function completionsText(job: JsonObject): string {
  const succeeded = numberAt(status(job), "succeeded") ?? 0;
  const completions = numberAt(spec(job), "completions");
  if (completions !== undefined) return `${succeeded}/${completions}`;
  const parallelism = numberAt(spec(job), "parallelism") ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

export const cronJobColumns: readonly Column[] = [
  NAME,
  column("Schedule", (job) => textAt(spec(job), "schedule")),
  column("Timezone", (job) => orElse(textAt(spec(job), "timeZone"), "<none>")),
  column("Suspend", (job) => (member(spec(job), "suspend") === true ? "True" : "False"), { type: "boolean" }),
  column("Active", (job) => objectsAt(status(job), "active").length, INTEGER),
  column("Last Schedule", (job, now) => {
    const last = textAt(status(job), "lastScheduleTime");
    return last === "" ? "<none>" : formatAge(last, now);
  }),
  AGE,
  ...containerColumns((job) => objectAt(job, "spec", "jobTemplate", "spec", "template", "spec")),
  column(
    "Selector",
    (job) => {
      const inner = objectAt(job, "spec", "jobTemplate", "spec");
      return selectorText(hasObject(inner, "selector") ? objectAt(inner, "selector") : undefined);
    },
    { isWide: true },
  ),
];
