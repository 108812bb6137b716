import type { JsonObject, JsonValue } from "@oaas/kube-core";
import type { Column } from "../kinds/kind.ts";
import { hasObject, isSet, member, numberAt, objectAt, objectsAt, textAt, textsAt } from "../kinds/json-access.ts";
import { AGE, column, isTerminating, modesText, NAME, nameOf, orElse, formatAge, type Cell } from "./cells.ts";
import { defaultName } from "./network-cells.ts";

const spec = (object: JsonObject): JsonObject => objectAt(object, "spec");
const status = (object: JsonObject): JsonObject => objectAt(object, "status");
const INTEGER = { type: "integer" } as const;
const WIDE = { isWide: true } as const;

export const namespaceColumns: readonly Column[] = [
  NAME,
  column("Status", (object) => textAt(status(object), "phase")),
  AGE,
];
export const configMapColumns: readonly Column[] = [
  NAME,
  column("Data", (object) => sizeOf(object, "data") + sizeOf(object, "binaryData")),
  AGE,
];
export const secretColumns: readonly Column[] = [
  NAME,
  column("Type", (object) => textAt(object, "type")),
  column("Data", (object) => sizeOf(object, "data")),
  AGE,
];
export const nameAndAge: readonly Column[] = [NAME, AGE];
/** The default columns of the real server. */
export const createdColumns: readonly Column[] = [
  NAME,
  column("Created At", (object) => member(objectAt(object, "metadata"), "creationTimestamp") ?? null, { type: "date" }),
];
export const webhookColumns: readonly Column[] = [
  NAME,
  column("Webhooks", (object) => objectsAt(object, "webhooks").length, INTEGER),
  AGE,
];
export const leaseColumns: readonly Column[] = [
  NAME,
  column("Holder", (lease) => textAt(spec(lease), "holderIdentity")),
  AGE,
];

function sizeOf(object: JsonObject, name: string): number {
  return Object.keys(objectAt(object, name)).length;
}

const address =
  (type: string): Cell =>
  (node) =>
    orElse(
      textAt(objectsAt(status(node), "addresses").find((each) => textAt(each, "type") === type) ?? {}, "address"),
      "<none>",
    );
const info = (node: JsonObject, name: string): string => textAt(objectAt(node, "status", "nodeInfo"), name);

export const nodeColumns: readonly Column[] = [
  NAME,
  column("Status", nodeStatus),
  column("Roles", (node) => orElse(rolesOf(objectAt(node, "metadata", "labels")).join(","), "<none>")),
  AGE,
  column("Version", (node) => info(node, "kubeletVersion")),
  column("Internal-IP", address("InternalIP"), WIDE),
  column("External-IP", address("ExternalIP"), WIDE),
  column("OS-Image", (node) => orElse(info(node, "osImage"), "<unknown>"), WIDE),
  column(
    "Kernel-Version",
    (node) => {
      const architecture = info(node, "architecture");
      return `${orElse(info(node, "kernelVersion"), "<unknown>")}${architecture === "" ? "" : ` (${architecture})`}`;
    },
    WIDE,
  ),
  column("Container-Runtime", (node) => orElse(info(node, "containerRuntimeVersion"), "<unknown>"), WIDE),
];

function nodeStatus(node: JsonObject): string {
  const ready = objectsAt(status(node), "conditions").find((each) => textAt(each, "type") === "Ready");
  const word = ready === undefined ? "Unknown" : textAt(ready, "status") === "True" ? "Ready" : "NotReady";
  return isSet(spec(node), "unschedulable") ? `${word},SchedulingDisabled` : word;
}

const ROLE = "node-role.kubernetes.io/";

function rolesOf(labels: JsonObject): readonly string[] {
  const roles = Object.keys(labels).flatMap((key) => {
    if (key.startsWith(ROLE)) return [key.slice(ROLE.length)];
    return key === "kubernetes.io/role" ? [textAt(labels, key)] : [];
  });
  return [...new Set(roles.filter((role) => role !== ""))].toSorted();
}

export const claimColumns: readonly Column[] = [
  NAME,
  column("Status", phaseText),
  column("Volume", (claim) => textAt(spec(claim), "volumeName")),
  column("Capacity", (claim) =>
    isBound(claim) ? orElse(textAt(objectAt(claim, "status", "capacity"), "storage"), "0") : "",
  ),
  column("Access Modes", (claim) => (isBound(claim) ? modesText(textsAt(status(claim), "accessModes")) : "")),
  column("StorageClass", (claim) => textAt(spec(claim), "storageClassName")),
  column("VolumeAttributesClass", (claim) => orElse(textAt(spec(claim), "volumeAttributesClassName"), "<unset>")),
  AGE,
  column("VolumeMode", (claim) => orElse(textAt(spec(claim), "volumeMode"), "<unset>"), WIDE),
];

function isBound(claim: JsonObject): boolean {
  return textAt(spec(claim), "volumeName") !== "";
}

function phaseText(object: JsonObject): string {
  return isTerminating(object) ? "Terminating" : textAt(status(object), "phase");
}

export const volumeColumns: readonly Column[] = [
  NAME,
  column("Capacity", (volume) => orElse(textAt(objectAt(volume, "spec", "capacity"), "storage"), "0")),
  column("Access Modes", (volume) => modesText(textsAt(spec(volume), "accessModes"))),
  column("Reclaim Policy", (volume) => textAt(spec(volume), "persistentVolumeReclaimPolicy")),
  column("Status", phaseText),
  column("Claim", (volume) => {
    const claim = objectAt(volume, "spec", "claimRef");
    return hasObject(spec(volume), "claimRef") ? `${textAt(claim, "namespace")}/${textAt(claim, "name")}` : "";
  }),
  column("StorageClass", (volume) => textAt(spec(volume), "storageClassName")),
  column("VolumeAttributesClass", (volume) => orElse(textAt(spec(volume), "volumeAttributesClassName"), "<unset>")),
  column("Reason", (volume) => textAt(status(volume), "reason")),
  AGE,
  column("VolumeMode", (volume) => orElse(textAt(spec(volume), "volumeMode"), "<unset>"), WIDE),
];

export const storageClassColumns: readonly Column[] = [
  { ...NAME, cell: (object) => defaultName(object, "storageclass.kubernetes.io/is-default-class") },
  column("Provisioner", (object) => textAt(object, "provisioner")),
  column("ReclaimPolicy", (object) => orElse(textAt(object, "reclaimPolicy"), "Delete")),
  column("VolumeBindingMode", (object) => orElse(textAt(object, "volumeBindingMode"), "Immediate")),
  column("AllowVolumeExpansion", (object) => isSet(object, "allowVolumeExpansion")),
  AGE,
];

export const quotaColumns: readonly Column[] = [
  NAME,
  column("Request", (quota) => quotaText(quota, false)),
  column("Limit", (quota) => quotaText(quota, true)),
  AGE,
];

function quotaText(quota: JsonObject, isLimit: boolean): string {
  const [hard, used] = [objectAt(quota, "status", "hard"), objectAt(quota, "status", "used")];
  return Object.keys(hard)
    .filter((name) => name.startsWith("limits.") === isLimit)
    .toSorted()
    .map((name) => `${name}: ${orElse(textAt(used, name), "0")}/${textAt(hard, name)}`)
    .join(", ");
}

export const priorityColumns: readonly Column[] = [
  NAME,
  column("Value", (object) => numberAt(object, "value") ?? 0, INTEGER),
  column("Global-Default", (object) => isSet(object, "globalDefault"), { type: "boolean" }),
  AGE,
  column("PreemptionPolicy", (object) => textAt(object, "preemptionPolicy")),
];

const portion =
  (name: string): Cell =>
  (budget) => {
    const value = member(spec(budget), name);
    return value === undefined || typeof value === "object" ? "N/A" : String(value);
  };

export const budgetColumns: readonly Column[] = [
  NAME,
  column("Min Available", portion("minAvailable")),
  column("Max Unavailable", portion("maxUnavailable")),
  column("Allowed Disruptions", (budget) => numberAt(status(budget), "disruptionsAllowed") ?? 0, INTEGER),
  AGE,
];

const subjects =
  (kind: string): Cell =>
  (binding) =>
    objectsAt(binding, "subjects")
      .filter((subject) => textAt(subject, "kind") === kind)
      .map((subject) =>
        kind === "ServiceAccount"
          ? `${textAt(subject, "namespace")}/${textAt(subject, "name")}`
          : textAt(subject, "name"),
      )
      .join(", ");

export const bindingColumns: readonly Column[] = [
  NAME,
  column(
    "Role",
    (binding) => `${textAt(objectAt(binding, "roleRef"), "kind")}/${textAt(objectAt(binding, "roleRef"), "name")}`,
  ),
  AGE,
  column("Users", subjects("User"), WIDE),
  column("Groups", subjects("Group"), WIDE),
  column("ServiceAccounts", subjects("ServiceAccount"), WIDE),
];

/** Events in the core form; `events.k8s.io` is converted first. */
export function eventColumns(toCore: (event: JsonObject) => JsonObject): readonly Column[] {
  const cell =
    (read: (event: JsonObject, now: number) => JsonValue): Cell =>
    (event, now) =>
      read(toCore(event), now);
  return [
    column("Last Seen", cell(lastSeen)),
    column(
      "Type",
      cell((event) => textAt(event, "type")),
    ),
    column(
      "Reason",
      cell((event) => textAt(event, "reason")),
    ),
    column(
      "Object",
      cell((event) => {
        const about = objectAt(event, "involvedObject");
        const kind = textAt(about, "kind").toLowerCase();
        return textAt(about, "name") === "" ? kind : `${kind}/${textAt(about, "name")}`;
      }),
    ),
    column(
      "Subobject",
      cell((event) => textAt(objectAt(event, "involvedObject"), "fieldPath")),
      WIDE,
    ),
    column("Source", cell(sourceText), WIDE),
    column(
      "Message",
      cell((event) => textAt(event, "message").trim()),
    ),
    column("First Seen", cell(firstSeen), WIDE),
    column(
      "Count",
      cell((event) => numberAt(objectAt(event, "series"), "count") ?? (numberAt(event, "count") || 1)),
      WIDE,
    ),
    column(
      "Name",
      cell((event) => nameOf(event)),
      { format: "name", isWide: true },
    ),
  ];
}

function firstSeen(event: JsonObject, now: number): string {
  return formatAge(textAt(event, "firstTimestamp") || textAt(event, "eventTime"), now);
}

function lastSeen(event: JsonObject, now: number): string {
  if (hasObject(event, "series")) return formatAge(textAt(objectAt(event, "series"), "lastObservedTime"), now);
  const last = textAt(event, "lastTimestamp");
  return last === "" ? firstSeen(event, now) : formatAge(last, now);
}

function sourceText(event: JsonObject): string {
  const source = objectAt(event, "source");
  const component = textAt(source, "component") || textAt(event, "reportingComponent");
  const instance = textAt(source, "host") || textAt(event, "reportingInstance");
  return instance === "" ? component : `${component}, ${instance}`;
}
