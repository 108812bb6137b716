import {
  compareQuantities,
  formatQuantity,
  type JsonObject,
  type JsonValue,
  parseQuantity,
  type Quantity,
} from "@oaas/kube-core";
import { objectAt } from "../json-access.ts";
import { invalid, invalidFor, NOT_NEGATIVE, required, type Errors } from "./field-errors.ts";
import { qualifiedName } from "./names.ts";

const NANO_PER_ONE = 1_000_000_000n;
const CONTAINER_RESOURCES: ReadonlySet<string> = new Set(["cpu", "memory", "ephemeral-storage"]);
/** Kinds of objects that a quota may count. */
export const COUNTED_OBJECTS: ReadonlySet<string> = new Set([
  "pods",
  "services",
  "replicationcontrollers",
  "resourcequotas",
  "secrets",
  "configmaps",
  "persistentvolumeclaims",
  "services.nodeports",
  "services.loadbalancers",
]);
const SUMS: readonly string[] = [
  "requests.cpu",
  "requests.memory",
  "requests.storage",
  "requests.ephemeral-storage",
  "limits.cpu",
  "limits.memory",
  "limits.ephemeral-storage",
];
/** Resources that a quota may sum. */
export const SUMMED_AMOUNTS: ReadonlySet<string> = new Set([...CONTAINER_RESOURCES, ...SUMS]);
const STANDARD_RESOURCES: ReadonlySet<string> = new Set([...SUMMED_AMOUNTS, "storage", ...COUNTED_OBJECTS]);

/** A parsed quantity, or zero. */
export function parseAmount(value: JsonValue | undefined): Quantity | undefined {
  const parsed = typeof value === "string" || typeof value === "number" ? parseQuantity(value) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

/** Amounts by resource. */
export function readQuantities(object: JsonObject, name: string): readonly (readonly [string, Quantity])[] {
  return Object.entries(objectAt(object, name)).flatMap(([key, value]) => {
    const read = parseAmount(value);
    return read === undefined ? [] : [[key, read] as const];
  });
}

/** A negative amount. */
export function validateNotNegativeAmount(field: string, value: Quantity): Errors {
  return value.nano < 0n ? [invalid(field, formatQuantity(value), NOT_NEGATIVE)] : [];
}

/** A fraction of an indivisible resource. */
export function validateWholeAmount(field: string, value: Quantity): Errors {
  return value.nano % NANO_PER_ONE === 0n ? [] : [invalid(field, formatQuantity(value), "must be an integer")];
}

/** A resource name: built-in, or with a domain. */
export function validateResourceName(name: string, field: string): Errors {
  const errors = invalidFor(field, name, qualifiedName(name));
  if (errors.length > 0 || name.includes("/") || isStandard(name)) return errors;
  return [invalid(field, name, "must be a standard resource type or fully qualified")];
}

function isStandard(name: string): boolean {
  return STANDARD_RESOURCES.has(name) || isHugePage(name) || name.startsWith("count/");
}

function isHugePage(name: string): boolean {
  return name.startsWith("hugepages-");
}

/** Whether a resource can be overcommitted. */
function canOvercommit(name: string): boolean {
  return isNative(name) && !isHugePage(name);
}

function isNative(name: string): boolean {
  return !name.includes("/") || name.includes("kubernetes.io/");
}

/** Requests and limits of a container. */
export function validateResources(resources: JsonObject, field: string): Errors {
  const limits = readQuantities(resources, "limits");
  const requests = readQuantities(resources, "requests");
  const limitOf = new Map(limits);
  return [
    ...limits.flatMap(([name, value]) => validateResource(name, value, `${field}.limits[${name}]`)),
    ...requests.flatMap(([name, value]) => [
      ...validateResource(name, value, `${field}.requests[${name}]`),
      ...validateRequest(name, value, limitOf.get(name), field),
    ]),
  ];
}

function validateResource(name: string, value: Quantity, field: string): Errors {
  const nameErrors = validateResourceName(name, field);
  const isForContainers = name.includes("/") || CONTAINER_RESOURCES.has(name) || isHugePage(name);
  return [
    ...nameErrors,
    ...(isForContainers ? [] : [invalid(field, name, "must be a standard resource for containers")]),
    ...validateNotNegativeAmount(field, value),
    ...(isNative(name) ? [] : validateWholeAmount(field, value)),
  ];
}

function validateRequest(name: string, value: Quantity, limit: Quantity | undefined, field: string): Errors {
  if (limit === undefined) {
    if (canOvercommit(name)) return [];
    return [required(`${field}.limits`, "Limit must be set for non overcommitable resources")];
  }
  const order = compareQuantities(value, limit);
  const fieldAndValue = [`${field}.requests`, formatQuantity(value)] as const;
  if (!canOvercommit(name) && order !== 0) {
    return [invalid(...fieldAndValue, `must be equal to ${name} limit of ${formatQuantity(limit)}`)];
  }
  return order > 0
    ? [invalid(...fieldAndValue, `must be less than or equal to ${name} limit of ${formatQuantity(limit)}`)]
    : [];
}
