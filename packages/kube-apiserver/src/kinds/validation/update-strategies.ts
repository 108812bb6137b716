import type { JsonObject, JsonValue } from "@oaas/kube-core";
import { hasObject, numberAt, objectAt, textAt } from "../json-access.ts";
import {
  forbidden,
  invalid,
  invalidFor,
  NONE,
  notNegative,
  required,
  unsupported,
  type Errors,
} from "./field-errors.ts";
import { percent } from "./names.ts";

/** Update strategy of a Deployment. */
export function validateStrategy(strategy: JsonObject, field: string): Errors {
  const type = textAt(strategy, "type");
  const update = objectAt(strategy, "rollingUpdate");
  if (type === "Recreate") {
    return hasObject(strategy, "rollingUpdate")
      ? [forbidden(`${field}.rollingUpdate`, "may not be specified when strategy `type` is 'Recreate'")]
      : NONE;
  }
  if (type !== "RollingUpdate") return [unsupported(field, strategy, ["Recreate", "RollingUpdate"])];
  const at = `${field}.rollingUpdate`;
  return [
    ...countOrPercent(update["maxUnavailable"], `${at}.maxUnavailable`),
    ...countOrPercent(update["maxSurge"], `${at}.maxSurge`),
    ...(isNone(update["maxUnavailable"]) && isNone(update["maxSurge"])
      ? [invalid(`${at}.maxUnavailable`, update["maxUnavailable"], "may not be 0 when `maxSurge` is 0")]
      : atMostAll(update["maxUnavailable"], `${at}.maxUnavailable`)),
  ];
}

/** A number of pods, or a percentage. */
export function countOrPercent(value: JsonValue | undefined, field: string): Errors {
  if (typeof value === "string") return invalidFor(field, value, percent(value));
  return notNegative(field, typeof value === "number" ? value : undefined);
}

/** A percentage of at most 100. */
export function atMostAll(value: JsonValue | undefined, field: string): Errors {
  const isMore = typeof value === "string" && /^\d+%$/.test(value) && Number(value.slice(0, -1)) > 100;
  return isMore ? [invalid(field, value, "must not be greater than 100%")] : NONE;
}

function isNone(value: JsonValue | undefined): boolean {
  return value === undefined || value === 0 || value === "0%";
}

/** Update strategy of a StatefulSet. */
export function validateStatefulStrategy(strategy: JsonObject): Errors {
  const type = textAt(strategy, "type");
  const field = "spec.updateStrategy";
  if (type === "") return [required(field)];
  if (type === "OnDelete") {
    return hasObject(strategy, "rollingUpdate")
      ? [
          invalid(
            `${field}.rollingUpdate`,
            objectAt(strategy, "rollingUpdate"),
            "only allowed for updateStrategy 'RollingUpdate'",
          ),
        ]
      : NONE;
  }
  if (type !== "RollingUpdate") return [invalid(field, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  return notNegative(`${field}.rollingUpdate.partition`, numberAt(objectAt(strategy, "rollingUpdate"), "partition"));
}

/** Update strategy of a DaemonSet. */
export function validateDaemonStrategy(strategy: JsonObject): Errors {
  const type = textAt(strategy, "type");
  const field = "spec.updateStrategy";
  if (type === "OnDelete") return NONE;
  if (type !== "RollingUpdate") return [unsupported(field, strategy, ["RollingUpdate", "OnDelete"])];
  const update = objectAt(strategy, "rollingUpdate");
  const at = `${field}.rollingUpdate`;
  const [missing, more] = [isNone(update["maxUnavailable"]), isNone(update["maxSurge"])];
  return [
    ...countOrPercent(update["maxUnavailable"], `${at}.maxUnavailable`),
    ...countOrPercent(update["maxSurge"], `${at}.maxSurge`),
    ...(missing && more ? [required(`${at}.maxUnavailable`, "cannot be 0 when maxSurge is 0")] : NONE),
    ...(!missing && !more
      ? [invalid(`${at}.maxSurge`, update["maxSurge"], "may not be set when maxUnavailable is non-zero")]
      : NONE),
  ];
}
