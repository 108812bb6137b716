import { compareQuantities, formatQuantity, type JsonObject, type Quantity } from "@oaas/kube-core";
import type { FieldError } from "../../schema/field-error.ts";
import { updateAt, isSet, numberAt, objectAt, objectsAt, textAt, textsAt } from "../json-access.ts";
import {
  duplicate,
  forbidden,
  IMMUTABLE,
  invalid,
  invalidFor,
  NONE,
  notNegative,
  oneOf,
  required,
  unsupported,
  type Errors,
} from "../validation/field-errors.ts";
import { ipAddress, qualifiedName } from "../validation/names.ts";
import {
  readQuantities,
  COUNTED_OBJECTS,
  validateNotNegativeAmount,
  validateResourceName,
  SUMMED_AMOUNTS,
  validateWholeAmount,
} from "../validation/resources.ts";
import type { BuiltInRule } from "./built-in-rule.ts";

export const nodes: BuiltInRule = {
  countsGenerations: false,
  keepsStatus: true,
  prepareCreate: (node) => updateAt(node, "spec", addNotReadyTaint),
  selectableText: (node, field) =>
    field === "spec.unschedulable" ? String(isSet(objectAt(node, "spec"), "unschedulable")) : "",
  errors: (node) => validateTaint(objectsAt(objectAt(node, "spec"), "taints")),
  updateErrors(next, live) {
    const [now, before] = [next, live].map((object) => textAt(objectAt(object, "spec"), "providerID"));
    return before === "" || now === before
      ? NONE
      : [forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid')];
  },
};

/** A node accepts no pods before it reports ready. */
function addNotReadyTaint(spec: JsonObject): JsonObject {
  const taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
  const own = objectsAt(spec, "taints");
  const hasTaint = own.some((each) => textAt(each, "key") === taint.key && textAt(each, "effect") === taint.effect);
  return hasTaint ? spec : { ...spec, taints: [...own, taint] };
}

function validateTaint(taints: readonly JsonObject[]): Errors {
  const seen = new Set<string>();
  return taints.flatMap((taint, index) => {
    const at = `metadata.taints[${index}]`;
    const [key, effect] = [textAt(taint, "key"), textAt(taint, "effect")];
    const isDuplicate = seen.has(`${key}:${effect}`);
    seen.add(`${key}:${effect}`);
    const taintValue = { Key: key, Value: textAt(taint, "value"), Effect: effect, TimeAdded: null };
    return [
      ...invalidFor(`${at}.key`, key, qualifiedName(key)),
      ...(effect === ""
        ? [required(`${at}.effect`)]
        : oneOf(`${at}.effect`, effect, ["NoSchedule", "PreferNoSchedule", "NoExecute"])),
      ...(isDuplicate ? [duplicate(at, taintValue, "taints must be unique by key and effect pair")] : NONE),
    ];
  });
}

const SCOPES: ReadonlySet<string> = new Set([
  "BestEffort",
  "CrossNamespacePodAffinity",
  "NotBestEffort",
  "NotTerminating",
  "PriorityClass",
  "Terminating",
  "VolumeAttributesClass",
]);

export const resourceQuotas: BuiltInRule = {
  countsGenerations: false,
  errors(quota) {
    const spec = objectAt(quota, "spec");
    const hard = readQuantities(spec, "hard");
    return [
      ...hard.flatMap(([name, value]) => {
        const field = `spec.hard[${name}]`;
        const isKnown =
          name.includes("/") ||
          COUNTED_OBJECTS.has(name) ||
          SUMMED_AMOUNTS.has(name) ||
          name.startsWith("requests.hugepages-");
        return [
          ...validateResourceName(name, field),
          ...(isKnown ? NONE : [invalid(field, name, "must be a standard resource for quota")]),
          ...validateNotNegativeAmount(field, value),
          ...(COUNTED_OBJECTS.has(name) ? validateWholeAmount(field, value) : NONE),
        ];
      }),
      ...validateScope(
        textsAt(spec, "scopes"),
        hard.map(([name]) => name),
      ),
    ];
  },
};

function validateScope(scopes: readonly string[], names: readonly string[]): Errors {
  const field = "spec.scopes";
  return scopes.flatMap((scope) => [
    ...(SCOPES.has(scope) ? NONE : [invalid(field, scopes, "unsupported scope")]),
    ...names
      .filter((name) => !isScoped(scope, name))
      .map(() => invalid(field, scopes, "unsupported scope applied to resource")),
  ]);
}

/** BestEffort pods request nothing, so only their number can be limited. */
function isScoped(scope: string, name: string): boolean {
  if (name.includes("/")) return true;
  if (scope === "BestEffort") return name === "pods";
  return name === "pods" || SUMMED_AMOUNTS.has(name);
}

export const limitRanges: BuiltInRule = {
  countsGenerations: false,
  errors(range) {
    const seen = new Set<string>();
    return objectsAt(objectAt(range, "spec"), "limits").flatMap((limit, index) => {
      const type = textAt(limit, "type");
      const isDuplicate = seen.has(type);
      seen.add(type);
      const at = `spec.limits[${index}]`;
      return [...(isDuplicate ? [duplicate(`${at}.type`, type)] : NONE), ...validateLimit(limit, type, at)];
    });
  },
};

const PARTS = ["min", "max", "default", "defaultRequest", "maxLimitRequestRatio"] as const;
type Amounts = Readonly<Record<(typeof PARTS)[number], ReadonlyMap<string, Quantity>>>;

function validateLimit(limit: JsonObject, type: string, at: string): Errors {
  const isPod = type === "Pod";
  const amounts = Object.fromEntries(
    PARTS.map((part) => [part, new Map(isPod && part.startsWith("default") ? [] : readQuantities(limit, part))]),
  ) as unknown as Amounts;
  const names = new Set(PARTS.flatMap((part) => [...amounts[part].keys()]));
  return [
    ...(["default", "defaultRequest"] as const)
      .filter((part) => isPod && readQuantities(limit, part).length > 0)
      .map((part) => forbidden(`${at}.${part}`, "may not be specified when `type` is 'Pod'")),
    ...[...names].flatMap((name) => validateOrder(name, amounts, at)),
  ];
}

function validateOrder(name: string, amounts: Amounts, at: string): Errors {
  const [min, max, defaultLimit, request, ratio] = PARTS.map((part) => amounts[part].get(name));
  const errors: FieldError[] = [];
  const exceeds = (a: Quantity | undefined, b: Quantity | undefined): boolean =>
    a !== undefined && b !== undefined && compareQuantities(a, b) > 0;
  const addError = (part: string, value: Quantity | undefined, detail: string): void => {
    errors.push(invalid(`${at}.${part}[${name}]`, formatAmount(value), detail));
  };
  if (exceeds(min, max))
    addError("min", min, `min value ${formatAmount(min)} is greater than max value ${formatAmount(max)}`);
  if (exceeds(min, request))
    addError(
      "defaultRequest",
      request,
      `min value ${formatAmount(min)} is greater than default request value ${formatAmount(request)}`,
    );
  if (exceeds(request, max))
    addError(
      "defaultRequest",
      request,
      `default request value ${formatAmount(request)} is greater than max value ${formatAmount(max)}`,
    );
  if (exceeds(request, defaultLimit))
    addError(
      "defaultRequest",
      request,
      `default request value ${formatAmount(request)} is greater than default limit value ${formatAmount(defaultLimit)}`,
    );
  if (exceeds(min, defaultLimit))
    addError(
      "default",
      min,
      `min value ${formatAmount(min)} is greater than default value ${formatAmount(defaultLimit)}`,
    );
  if (exceeds(defaultLimit, max))
    addError(
      "default",
      max,
      `default value ${formatAmount(defaultLimit)} is greater than max value ${formatAmount(max)}`,
    );
  if (ratio !== undefined && ratio.nano < 1_000_000_000n)
    addError("maxLimitRequestRatio", ratio, `ratio ${formatAmount(ratio)} is less than 1`);
  return errors;
}

function formatAmount(value: Quantity | undefined): string {
  return value === undefined ? "" : formatQuantity(value);
}

export const endpoints: BuiltInRule = {
  countsGenerations: false,
  errors: (object) =>
    objectsAt(object, "subsets").flatMap((subset, index) => {
      const at = `subsets[${index}]`;
      const addresses = [...objectsAt(subset, "addresses"), ...objectsAt(subset, "notReadyAddresses")];
      return [
        ...(addresses.length === 0 ? [required(at, "must specify `addresses` or `notReadyAddresses`")] : NONE),
        ...objectsAt(subset, "addresses").flatMap((address, position) =>
          invalidFor(`${at}.addresses[${position}].ip`, textAt(address, "ip"), ipAddress(textAt(address, "ip"))),
        ),
      ];
    }),
};

export const endpointSlices: BuiltInRule = {
  countsGenerations: true,
  errors(slice) {
    const type = textAt(slice, "addressType");
    const types = ["FQDN", "IPv4", "IPv6"];
    return [
      ...(type === ""
        ? [required("addressType")]
        : types.includes(type)
          ? NONE
          : [unsupported("addressType", type, types)]),
      ...objectsAt(slice, "endpoints").flatMap((endpoint, index) => {
        const field = `endpoints[${index}].addresses`;
        const addresses = textsAt(endpoint, "addresses");
        return [
          ...(addresses.length === 0 ? [required(field, "must contain at least 1 address")] : NONE),
          ...addresses.flatMap((address, position) =>
            type === "FQDN" ? NONE : invalidFor(`${field}[${position}]`, address, ipAddress(address)),
          ),
        ];
      }),
    ];
  },
  updateErrors: (next, live) =>
    textAt(next, "addressType") === textAt(live, "addressType")
      ? NONE
      : [invalid("addressType", textAt(next, "addressType"), IMMUTABLE)],
};

export const leases: BuiltInRule = {
  countsGenerations: false,
  errors(lease) {
    const spec = objectAt(lease, "spec");
    const seconds = numberAt(spec, "leaseDurationSeconds");
    return [
      ...(seconds !== undefined && seconds <= 0
        ? [invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
        : NONE),
      ...notNegative("spec.leaseTransitions", numberAt(spec, "leaseTransitions")),
    ];
  },
};

const HIGHEST_PRIORITY = 1_000_000_000;

export const priorityClasses: BuiltInRule = {
  countsGenerations: true,
  errors: (priority) => [
    ...((numberAt(priority, "value") ?? 0) > HIGHEST_PRIORITY &&
    !textAt(objectAt(priority, "metadata"), "name").startsWith("system-")
      ? [forbidden("value", `maximum allowed value of a user defined priority is ${HIGHEST_PRIORITY}`)]
      : NONE),
    ...oneOf("preemptionPolicy", textAt(priority, "preemptionPolicy"), ["PreemptLowerPriority", "Never"]),
  ],
  updateErrors: (next, live) =>
    numberAt(next, "value") === numberAt(live, "value")
      ? NONE
      : [forbidden("value", "may not be changed in an update.")],
};
