import { equalJson, type JsonObject } from "@oaas/kube-core";
import type { AdmissionContext } from "../../kind.ts";
import { updateAt, isSet, numberAt, objectAt, textAt, withMember } from "../../json-access.ts";
import { invalid, NONE, notNegative, oneOf, required, type Errors } from "../../validation/field-errors.ts";
import { dnsSubdomainUpTo } from "../../validation/names.ts";
import { mismatch, validatePodTemplate } from "../../validation/pods/pod-spec.ts";
import { listPodWarnings, listTemplateWarnings } from "../../validation/pods/pod-warnings.ts";
import { matchesSelector, validateSelector, formatSelector } from "../../validation/selectors.ts";
import { validateCron } from "../../validation/cron.ts";
import { validateUnchanged, type BuiltInRule } from "../built-in-rule.ts";

const UID = "batch.kubernetes.io/controller-uid";
const NAME = "batch.kubernetes.io/job-name";

export const jobs: BuiltInRule = {
  warnings: listTemplateWarnings,
  countsGenerations: true,
  startsGeneration: (next, live) => !equalJson(next["spec"] ?? {}, live["spec"] ?? {}),
  prepareCreate: (job, context) =>
    isSet(objectAt(job, "spec"), "manualSelector") ? job : generateSelector(job, context),
  selectableText: (job, field) =>
    field === "status.successful" ? String(numberAt(objectAt(job, "status"), "succeeded") ?? 0) : "",
  errors: (job) => [
    ...validateOwnSelector(job),
    ...validateJobSpec(objectAt(job, "spec"), "spec"),
    ...validateTemplateLabels(job),
  ],
  updateErrors: (next, live) => [
    ...(isSet(objectAt(next, "spec"), "suspend") &&
    numberAt(objectAt(next, "spec"), "completions") !== numberAt(objectAt(live, "spec"), "completions")
      ? NONE
      : validateUnchanged(next, live, "spec.completions", "spec", "completions")),
    ...validateUnchanged(next, live, "spec.selector", "spec", "selector"),
    ...validateUnchanged(next, live, "spec.template", "spec", "template"),
    ...validateUnchanged(next, live, "spec.completionMode", "spec", "completionMode"),
  ],
};

export const cronJobs: BuiltInRule = {
  warnings: (cronJob) =>
    listPodWarnings(
      objectAt(cronJob, "spec", "jobTemplate", "spec", "template", "spec"),
      "spec.jobTemplate.spec.template.spec",
    ),
  name: dnsSubdomainUpTo(52),
  countsGenerations: true,
  startsGeneration: (next, live) => !equalJson(next["spec"] ?? {}, live["spec"] ?? {}),
  errors(cronJob) {
    const spec = objectAt(cronJob, "spec");
    const schedule = textAt(spec, "schedule");
    return [
      ...(schedule === "" ? [required("spec.schedule")] : validateCron(schedule, "spec.schedule")),
      ...notNegative("spec.startingDeadlineSeconds", numberAt(spec, "startingDeadlineSeconds")),
      ...validateZone(textAt(spec, "timeZone")),
      ...oneOf("spec.concurrencyPolicy", textAt(spec, "concurrencyPolicy"), ["Allow", "Forbid", "Replace"]),
      ...validateJobSpec(objectAt(spec, "jobTemplate", "spec"), "spec.jobTemplate.spec"),
      ...notNegative("spec.successfulJobsHistoryLimit", numberAt(spec, "successfulJobsHistoryLimit")),
      ...notNegative("spec.failedJobsHistoryLimit", numberAt(spec, "failedJobsHistoryLimit")),
    ];
  },
};

/** A job selects its pods by its uid, which it writes to its template. */
function generateSelector(job: JsonObject, context: AdmissionContext): JsonObject {
  const metadata = objectAt(job, "metadata");
  const uid = textAt(metadata, "uid") || context.uuid();
  const name = textAt(metadata, "name");
  const labels = { [UID]: uid, [NAME]: name, "controller-uid": uid, "job-name": name };
  const addLabels = (object: JsonObject): JsonObject =>
    updateAt(object, "metadata", (meta) => updateAt(meta, "labels", (own) => ({ ...own, ...labels })));
  const hasNoLabels = Object.keys(objectAt(metadata, "labels")).length === 0;
  const withTemplate = updateAt(hasNoLabels || sharesTemplateLabels(job) ? addLabels(job) : job, "spec", (spec) =>
    updateAt(spec, "template", addLabels),
  );
  return updateAt(withTemplate, "spec", (spec) =>
    updateAt(spec, "selector", (selector) => updateAt(selector, "matchLabels", (match) => ({ ...match, [UID]: uid }))),
  );
}

/** In Go a job without labels shares the label map of its template: a write to one changes both. */
function sharesTemplateLabels(job: JsonObject): boolean {
  return equalJson(objectAt(job, "metadata", "labels"), objectAt(job, "spec", "template", "metadata", "labels"));
}

function validateOwnSelector(job: JsonObject): Errors {
  const spec = objectAt(job, "spec");
  if (isSet(spec, "manualSelector")) return NONE;
  const selector = objectAt(spec, "selector");
  const match = Object.keys(objectAt(selector, "matchLabels"));
  const isOwn = match.length === 1 && match[0] === UID;
  return isOwn ? NONE : [invalid("spec.selector", formatSelector(selector), "`selector` not auto-generated")];
}

function validateJobSpec(spec: JsonObject, field: string): Errors {
  const counts = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
  const isIndexed = textAt(spec, "completionMode") === "Indexed";
  return [
    ...validateSelector(objectAt(spec, "selector"), `${field}.selector`),
    ...counts.flatMap((name) => notNegative(`${field}.${name}`, numberAt(spec, name))),
    ...oneOf(`${field}.completionMode`, textAt(spec, "completionMode"), ["NonIndexed", "Indexed"]),
    ...(isIndexed && numberAt(spec, "completions") === undefined
      ? [required(`${field}.completions`, "when completion mode is Indexed")]
      : NONE),
    ...validatePodTemplate(
      withMember(objectAt(spec, "template"), "spec", objectAt(spec, "template", "spec")),
      `${field}.template`,
    ),
    ...validateRestart(
      textAt(objectAt(spec, "template", "spec"), "restartPolicy"),
      `${field}.template.spec.restartPolicy`,
    ),
  ];
}

function validateRestart(policy: string, field: string): Errors {
  if (policy === "OnFailure" || policy === "Never") return NONE;
  const detail = 'valid values: "OnFailure", "Never"';
  return policy === "Always" || policy === "" ? [required(field, detail)] : NONE;
}

function validateTemplateLabels(job: JsonObject): Errors {
  const spec = objectAt(job, "spec");
  const labels = objectAt(spec, "template", "metadata", "labels");
  return matchesSelector(objectAt(spec, "selector"), labels)
    ? NONE
    : [mismatch(objectAt(spec, "template"), "spec.template")];
}

function validateZone(zone: string): Errors {
  if (zone === "") return NONE;
  return isZone(zone) ? NONE : [invalid("spec.timeZone", zone, `unknown time zone ${zone}`)];
}

function isZone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
