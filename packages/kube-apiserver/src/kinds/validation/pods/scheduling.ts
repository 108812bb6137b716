import type { JsonObject } from "@oaas/kube-core";
import { hasObject, member, numberAt, objectAt, objectsAt, textAt, textsAt } from "../../json-access.ts";
import { invalid, invalidFor, NONE, oneOf, required, type Errors } from "../field-errors.ts";
import { qualifiedName } from "../names.ts";
import { validateSelector } from "../selectors.ts";

const REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution";
const NODE_OPERATORS: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"]);

/** Scheduling constraints of a pod. */
export function validateScheduling(spec: JsonObject, field: string): Errors {
  return [
    ...objectsAt(spec, "tolerations").flatMap((toleration, index) =>
      validateToleration(toleration, `${field}.tolerations[${index}]`),
    ),
    ...validateAffinity(objectAt(spec, "affinity"), `${field}.affinity`),
    ...objectsAt(spec, "topologySpreadConstraints").flatMap((constraint, index) =>
      validateSpread(constraint, `${field}.topologySpreadConstraints[${index}]`),
    ),
  ];
}

function validateToleration(toleration: JsonObject, field: string): Errors {
  const [key, operator, value, effect] = ["key", "operator", "value", "effect"].map((name) => textAt(toleration, name));
  const at = `${field}.operator`;
  const everything = 'operator must be Exists when `key` is empty, which means "match all values and all keys"';
  return [
    ...(key === "" ? NONE : invalidFor(`${field}.key`, key, qualifiedName(key ?? ""))),
    ...(key === "" && operator !== "Exists" ? [invalid(at, operator, everything)] : NONE),
    ...(member(toleration, "tolerationSeconds") !== undefined && effect !== "NoExecute"
      ? [invalid(`${field}.effect`, effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")]
      : NONE),
    ...(operator === "Exists" && value !== ""
      ? [invalid(at, value, "value must be empty when `operator` is 'Exists'")]
      : NONE),
    ...oneOf(at, operator ?? "", ["Equal", "Exists"]),
    ...oneOf(`${field}.effect`, effect ?? "", ["NoSchedule", "PreferNoSchedule", "NoExecute"]),
  ];
}

function validateAffinity(affinity: JsonObject, field: string): Errors {
  return [
    ...(hasObject(affinity, "nodeAffinity")
      ? validateNodeAffinity(objectAt(affinity, "nodeAffinity"), `${field}.nodeAffinity`)
      : NONE),
    ...["podAffinity", "podAntiAffinity"].flatMap((name) =>
      validatePodAffinity(objectAt(affinity, name), `${field}.${name}`),
    ),
  ];
}

function validateNodeAffinity(affinity: JsonObject, field: string): Errors {
  const needed = objectAt(affinity, REQUIRED);
  const terms = objectsAt(needed, "nodeSelectorTerms");
  return [
    ...(hasObject(affinity, REQUIRED) && terms.length === 0
      ? [required(`${field}.${REQUIRED}.nodeSelectorTerms`, "must have at least one node selector term")]
      : NONE),
    ...terms.flatMap((term, index) => validateNodeTerm(term, `${field}.${REQUIRED}.nodeSelectorTerms[${index}]`)),
    ...objectsAt(affinity, PREFERRED).flatMap((preferred, index) => {
      const at = `${field}.${PREFERRED}[${index}]`;
      return [
        ...validateWeight(preferred, at),
        ...validateNodeTerm(objectAt(preferred, "preference"), `${at}.preference`),
      ];
    }),
  ];
}

function validateNodeTerm(term: JsonObject, field: string): Errors {
  return objectsAt(term, "matchExpressions").flatMap((expression, index) => {
    const at = `${field}.matchExpressions[${index}]`;
    const operator = textAt(expression, "operator");
    const isMissing = (operator === "In" || operator === "NotIn") && textsAt(expression, "values").length === 0;
    return [
      ...(isMissing ? [required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'")] : NONE),
      ...(NODE_OPERATORS.has(operator) ? NONE : [invalid(`${at}.operator`, operator, "not a valid selector operator")]),
      ...invalidFor(`${at}.key`, textAt(expression, "key"), qualifiedName(textAt(expression, "key"))),
    ];
  });
}

function validatePodAffinity(affinity: JsonObject, field: string): Errors {
  return [
    ...objectsAt(affinity, REQUIRED).flatMap((term, index) => validatePodTerm(term, `${field}.${REQUIRED}[${index}]`)),
    ...objectsAt(affinity, PREFERRED).flatMap((preferred, index) => {
      const at = `${field}.${PREFERRED}[${index}]`;
      return [
        ...validateWeight(preferred, at),
        ...validatePodTerm(objectAt(preferred, "podAffinityTerm"), `${at}.podAffinityTerm`),
      ];
    }),
  ];
}

function validatePodTerm(term: JsonObject, field: string): Errors {
  const key = textAt(term, "topologyKey");
  return [
    ...validateSelector(objectAt(term, "labelSelector"), `${field}.labelSelector`),
    ...(key === "" ? [required(`${field}.topologyKey`, "can not be empty")] : NONE),
    ...invalidFor(`${field}.topologyKey`, key, qualifiedName(key)),
  ];
}

function validateWeight(preference: JsonObject, field: string): Errors {
  const weight = numberAt(preference, "weight") ?? 0;
  return weight >= 1 && weight <= 100 ? NONE : [invalid(`${field}.weight`, weight, "must be in the range 1-100")];
}

function validateSpread(constraint: JsonObject, field: string): Errors {
  const skew = numberAt(constraint, "maxSkew") ?? 0;
  const key = textAt(constraint, "topologyKey");
  return [
    ...(skew > 0 ? NONE : [invalid(`${field}.maxSkew`, skew, "must be greater than zero")]),
    ...(key === ""
      ? [required(`${field}.topologyKey`, "can not be empty")]
      : invalidFor(`${field}.topologyKey`, key, qualifiedName(key))),
    ...oneOf(`${field}.whenUnsatisfiable`, textAt(constraint, "whenUnsatisfiable"), [
      "DoNotSchedule",
      "ScheduleAnyway",
    ]),
    ...validateSelector(objectAt(constraint, "labelSelector"), `${field}.labelSelector`),
  ];
}
