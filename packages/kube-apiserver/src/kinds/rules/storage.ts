import { equalJson, type JsonObject } from "@oaas/kube-core";
import type { AdmissionContext } from "../kind.ts";
import { updateAt, fillMissing, hasObject, member, objectAt, textAt, textsAt, withMember } from "../json-access.ts";
import {
  forbidden,
  invalid,
  invalidFor,
  NONE,
  oneOf,
  required,
  unsupported,
  type Errors,
} from "../validation/field-errors.ts";
import { dnsSubdomain } from "../validation/names.ts";
import { parseAmount } from "../validation/resources.ts";
import { validateSelector } from "../validation/selectors.ts";
import { validateUnchanged, type BuiltInRule } from "./built-in-rule.ts";
import { checkClaimLimits, listLimits } from "./quotas/limit-ranges.ts";

const MODES = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
const DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class";
/** A volume's spec without its source. */
const NOT_A_SOURCE: ReadonlySet<string> = new Set([
  "accessModes",
  "capacity",
  "claimRef",
  "mountOptions",
  "nodeAffinity",
  "persistentVolumeReclaimPolicy",
  "storageClassName",
  "volumeMode",
  "volumeAttributesClassName",
]);

export const persistentVolumeClaims: BuiltInRule = {
  countsGenerations: false,
  prepareCreate: (claim, context) => ({
    ...addFinalizer(
      updateAt(claim, "spec", (spec) => addDefaultClass(spec, context)),
      "kubernetes.io/pvc-protection",
    ),
    status: { phase: "Pending" },
  }),
  forbiddenReason: (claim, context) => checkClaimLimits(claim, listLimits(claim, context)),
  errors: (claim) => validateClaimSpec(objectAt(claim, "spec")),
  updateErrors(next, live) {
    const [now, before] = [objectAt(next, "spec"), objectAt(live, "spec")];
    const isBound = textAt(objectAt(live, "status"), "phase") === "Bound";
    const omitMutableFields = (spec: JsonObject): JsonObject => {
      if (!isBound) return withMember(spec, "volumeName", undefined);
      const { resources: _, volumeAttributesClassName: _class, volumeName: _name, ...rest } = spec;
      return rest;
    };
    if (!equalJson(omitMutableFields(now), omitMutableFields(before))) {
      return [
        forbidden(
          "spec",
          "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims",
        ),
      ];
    }
    const [size, old] = [now, before].map((spec) => parseAmount(objectAt(spec, "resources", "requests")["storage"]));
    const isLess = size !== undefined && old !== undefined && size.nano < old.nano;
    return isLess ? [forbidden("spec.resources.requests.storage", "field can not be less than status.capacity")] : NONE;
  },
};

function addFinalizer(object: JsonObject, finalizer: string): JsonObject {
  return updateAt(object, "metadata", (metadata) => {
    const own = textsAt(metadata, "finalizers");
    return own.includes(finalizer) ? metadata : { ...metadata, finalizers: [...own, finalizer] };
  });
}

/** A claim without a class gets the default class, if any. */
function addDefaultClass(spec: JsonObject, context: AdmissionContext): JsonObject {
  if (member(spec, "storageClassName") !== undefined) return spec;
  const found = context
    .objects({ group: "storage.k8s.io", resource: "storageclasses" })
    .find((object) => objectAt(object, "metadata", "annotations")[DEFAULT_CLASS] === "true");
  return found === undefined
    ? spec
    : fillMissing(spec, { storageClassName: textAt(objectAt(found, "metadata"), "name") });
}

function validateClaimSpec(spec: JsonObject): Errors {
  const modes = textsAt(spec, "accessModes");
  const storage = parseAmount(objectAt(spec, "resources", "requests")["storage"]);
  const storageClass = textAt(spec, "storageClassName");
  return [
    ...(modes.length === 0 ? [required("spec.accessModes", "at least 1 access mode is required")] : NONE),
    ...validateSelector(objectAt(spec, "selector"), "spec.selector"),
    ...modes.filter((mode) => !MODES.includes(mode)).map((mode) => unsupported("spec.accessModes", mode, MODES)),
    ...(storage === undefined
      ? [required("spec.resources[storage]")]
      : storage.nano > 0n
        ? NONE
        : [
            invalid(
              "spec.resources[storage]",
              textAt(objectAt(spec, "resources", "requests"), "storage"),
              "must be greater than zero",
            ),
          ]),
    ...(storageClass === ""
      ? NONE
      : invalidFor("spec.storageClassName", storageClass, dnsSubdomain(storageClass, false))),
  ];
}

export const persistentVolumes: BuiltInRule = {
  countsGenerations: false,
  prepareCreate: (volume, { time }) => ({
    ...addFinalizer(volume, "kubernetes.io/pv-protection"),
    status: { phase: "Pending", lastPhaseTransitionTime: time },
  }),
  errors(volume) {
    const spec = objectAt(volume, "spec");
    const modes = textsAt(spec, "accessModes");
    const hasCapacity = hasObject(spec, "capacity");
    return [
      ...(modes.length === 0 ? [required("spec.accessModes")] : NONE),
      ...modes.filter((mode) => !MODES.includes(mode)).map((mode) => unsupported("spec.accessModes", mode, MODES)),
      ...(hasCapacity ? NONE : [required("spec.capacity"), unsupported("spec.capacity", null, ["storage"])]),
      ...(findSource(spec) === undefined ? [required("spec", "must specify a volume type")] : NONE),
      ...oneOf("spec.persistentVolumeReclaimPolicy", textAt(spec, "persistentVolumeReclaimPolicy"), [
        "Delete",
        "Recycle",
        "Retain",
      ]),
    ];
  },
  updateErrors(next, live) {
    const [now, before] = [next, live].map(
      (object) => objectAt(object, "spec")[findSource(objectAt(object, "spec")) ?? ""],
    );
    return equalJson(now ?? null, before ?? null)
      ? NONE
      : [forbidden("spec.persistentvolumesource", "spec.persistentvolumesource is immutable after creation")];
  },
};

function findSource(spec: JsonObject): string | undefined {
  return Object.keys(spec).find((name) => !NOT_A_SOURCE.has(name));
}

export const storageClasses: BuiltInRule = {
  countsGenerations: false,
  errors: (storage) => [
    ...(textAt(storage, "provisioner") === "" ? [required("provisioner")] : NONE),
    ...oneOf("reclaimPolicy", textAt(storage, "reclaimPolicy"), ["Delete", "Retain"]),
    ...oneOf("volumeBindingMode", textAt(storage, "volumeBindingMode"), ["Immediate", "WaitForFirstConsumer"]),
  ],
  updateErrors: (next, live) => [
    ...validateUnchanged(next, live, "parameters", "parameters"),
    ...validateUnchanged(next, live, "provisioner", "provisioner"),
    ...validateUnchanged(next, live, "reclaimPolicy", "reclaimPolicy"),
    ...validateUnchanged(next, live, "volumeBindingMode", "volumeBindingMode"),
  ],
};
