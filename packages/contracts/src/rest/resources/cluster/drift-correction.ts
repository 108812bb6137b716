import { COUNT_RANGE, type CorrectedField, type DriftCorrection } from "@oaas/models";
import { array, integer, nested, number, optional, required, resource, string } from "../../reading/resource.ts";

/** One field that was set back. */
export const correctedField = resource<CorrectedField>()({
  path: required("path", "Path of the field; empty for the whole object.", string()),
  was: required("was", "JSON of the value that was found, shortened; secrets are masked.", string()),
  now: required("now", "JSON of the restored value.", string()),
});

/** A correction of an object that another client changed. */
export const driftCorrection = resource<DriftCorrection>()({
  kind: required("kind", "Kind of the corrected object.", string()),
  name: required("name", "Name of the corrected object.", string()),
  fields: required("fields", "Corrected fields.", array(nested(correctedField))),
  moreFields: optional("more_fields", "Number of further corrected fields.", integer(COUNT_RANGE)),
  changedBy: optional("changed_by", "Field manager that changed it; absent when unknown.", string()),
  firstAt: required("first_at", "Time of the first correction.", string()),
  lastAt: required("last_at", "Time of the last correction.", string()),
  durationMs: optional("duration_ms", "Milliseconds from the last change to its correction.", number()),
  count: required("count", "Number of corrections.", integer(COUNT_RANGE)),
  message: required("message", "The correction in one sentence.", string()),
});

export const driftCorrectionToWire = driftCorrection.toJson;

/** The field of a status with corrections. */
export const driftField = optional(
  "drift_corrections",
  "Last corrections of objects that other clients changed, newest first; absent when there was none.",
  array(nested(driftCorrection)),
);
