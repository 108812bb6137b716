import type { JsonObject, JsonValue } from "@oaas/kube-core";
import { member, numberAt, objectAt, textAt, withMember } from "../json-access.ts";
import { invalid, invalidFor, NONE, required, type Errors } from "../validation/field-errors.ts";
import { qualifiedName } from "../validation/names.ts";
import type { BuiltInRule } from "./built-in-rule.ts";

/** Names of event members in the core and in `events.k8s.io`. */
const NAMES: readonly (readonly [core: string, other: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];
const NEW = "events.k8s.io/v1";

export const events: BuiltInRule = {
  countsGenerations: false,
  convert: convertEvent,
  selectableText(event, field) {
    if (field === "source")
      return textAt(objectAt(event, "source"), "component") || textAt(event, "reportingComponent");
    const [first = "", second] = field.split(".");
    return second === undefined ? textAt(event, first) : textAt(objectAt(event, first), second);
  },
  errors: (event) => {
    const isNew = textAt(event, "apiVersion") === NEW;
    const core = convertEvent(event, "v1");
    return [...validateEvent(core, isNew), ...(isNew ? validateEventsV1(core) : NONE)];
  },
};

/** An event in the other form. */
function convertEvent(event: JsonObject, apiVersion: string): JsonObject {
  if (textAt(event, "apiVersion") === apiVersion) return event;
  const toNew = apiVersion === NEW;
  const renames = new Map(NAMES.map(([core, other]) => (toNew ? [core, other] : [other, core])));
  const entries = Object.entries(event).map(([name, value]): [string, JsonValue] => [renames.get(name) ?? name, value]);
  const renamed = withMember(Object.fromEntries(entries), "apiVersion", apiVersion);
  // Empty members that the core always writes are omitted in the other form.
  const optional = toNew ? ["reportingController", "reportingInstance"] : [];
  const always = toNew ? {} : { reportingComponent: "", reportingInstance: "" };
  const trimmed = optional.reduce(
    (object, name) => (object[name] === "" ? withMember(object, name, undefined) : object),
    renamed,
  );
  return { ...always, ...trimmed };
}

function validateEvent(event: JsonObject, isNew: boolean): Errors {
  const namespace = textAt(objectAt(event, "metadata"), "namespace");
  const regardingNamespace = textAt(objectAt(event, "involvedObject"), "namespace");
  const namespaceError = invalid("involvedObject.namespace", regardingNamespace, "does not match event.namespace");
  if (member(event, "eventTime") === undefined) {
    const isValid =
      regardingNamespace === "" ? namespace === "" || namespace === "default" : namespace === regardingNamespace;
    return isValid ? NONE : [namespaceError];
  }
  const controller = textAt(event, "reportingComponent");
  const field = isNew ? "reportingController" : "reportingComponent";
  return [
    ...(regardingNamespace === "" && namespace !== "default" && namespace !== "kube-system" ? [namespaceError] : NONE),
    ...(controller === "" ? [required(field)] : NONE),
    ...invalidFor(field, controller, qualifiedName(controller)),
    ...["reportingInstance", "action", "reason"]
      .filter((name) => textAt(event, name) === "")
      .map((name) => required(name)),
  ];
}

function validateEventsV1(event: JsonObject): Errors {
  const type = textAt(event, "type");
  const isUnset = (name: string): boolean => member(event, name) === undefined || numberAt(event, name) === 0;
  return [
    ...(member(event, "eventTime") === undefined ? [required("eventTime")] : NONE),
    ...(type === "Normal" || type === "Warning" ? NONE : [invalid("type", "", `has invalid value: ${type}`)]),
    ...["firstTimestamp", "lastTimestamp", "count"]
      .filter((name) => !isUnset(name))
      .map((name) => invalid(name, "", "needs to be unset")),
    ...(Object.keys(objectAt(event, "source")).length > 0 ? [invalid("source", "", "needs to be unset")] : NONE),
  ];
}
