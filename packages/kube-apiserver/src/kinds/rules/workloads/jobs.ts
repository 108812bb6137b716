import { equalJson, type JsonObject } from "@oaas/kube-core";
import type { AdmissionContext } from "../../kind.ts";
import { changedAt, isSet, numberAt, objectAt, textAt, withMember } from "../../json-access.ts";
import { invalid, NONE, notNegative, oneOf, required, type Errors } from "../../validation/field-errors.ts";
import { dnsSubdomainUpTo } from "../../validation/names.ts";
import { mismatch, podTemplateErrors } from "../../validation/pods/pod-spec.ts";
import { podWarnings, templateWarnings } from "../../validation/pods/pod-warnings.ts";
import { matchesSelector, selectorErrors, shownSelector } from "../../validation/selectors.ts";
import { cronErrors } from "../../validation/cron.ts";
import { unchanged, type BuiltInRule } from "../built-in-rule.ts";

const UID = "batch.kubernetes.io/controller-uid";
const NAME = "batch.kubernetes.io/job-name";

export const jobs: BuiltInRule = {
  warnings: templateWarnings,
  countsGenerations: true,
  startsGeneration: (next, live) => !equalJson(next["spec"] ?? {}, live["spec"] ?? {}),
  prepareCreate: (job, context) =>
    isSet(objectAt(job, "spec"), "manualSelector") ? job : withOwnSelector(job, context),
  selectableText: (job, field) =>
    field === "status.successful" ? String(numberAt(objectAt(job, "status"), "succeeded") ?? 0) : "",
  errors: (job) => [
    ...ownSelectorErrors(job),
    ...jobSpecErrors(objectAt(job, "spec"), "spec"),
    ...templateMismatch(job),
  ],
  updateErrors: (next, live) => [
    ...(isSet(objectAt(next, "spec"), "suspend") &&
    numberAt(objectAt(next, "spec"), "completions") !== numberAt(objectAt(live, "spec"), "completions")
      ? NONE
      : unchanged(next, live, "spec.completions", "spec", "completions")),
    ...unchanged(next, live, "spec.selector", "spec", "selector"),
    ...unchanged(next, live, "spec.template", "spec", "template"),
    ...unchanged(next, live, "spec.completionMode", "spec", "completionMode"),
  ],
};

export const cronJobs: BuiltInRule = {
  warnings: (cronJob) =>
    podWarnings(
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
      ...(schedule === "" ? [required("spec.schedule")] : cronErrors(schedule, "spec.schedule")),
      ...notNegative("spec.startingDeadlineSeconds", numberAt(spec, "startingDeadlineSeconds")),
      ...zoneErrors(textAt(spec, "timeZone")),
      ...oneOf("spec.concurrencyPolicy", textAt(spec, "concurrencyPolicy"), ["Allow", "Forbid", "Replace"]),
      ...jobSpecErrors(objectAt(spec, "jobTemplate", "spec"), "spec.jobTemplate.spec"),
      ...notNegative("spec.successfulJobsHistoryLimit", numberAt(spec, "successfulJobsHistoryLimit")),
      ...notNegative("spec.failedJobsHistoryLimit", numberAt(spec, "failedJobsHistoryLimit")),
    ];
  },
};

/** A job selects its pods by its uid, which it writes to its template. */
function withOwnSelector(job: JsonObject, context: AdmissionContext): JsonObject {
  const metadata = objectAt(job, "metadata");
  const uid = textAt(metadata, "uid") || context.uuid();
  const name = textAt(metadata, "name");
  const labels = { [UID]: uid, [NAME]: name, "controller-uid": uid, "job-name": name };
  const labelled = (object: JsonObject): JsonObject =>
    changedAt(object, "metadata", (meta) => changedAt(meta, "labels", (own) => ({ ...own, ...labels })));
  const isBare = Object.keys(objectAt(metadata, "labels")).length === 0;
  const withTemplate = changedAt(isBare || sharesTemplateLabels(job) ? labelled(job) : job, "spec", (spec) =>
    changedAt(spec, "template", labelled),
  );
  return changedAt(withTemplate, "spec", (spec) =>
    changedAt(spec, "selector", (selector) =>
      changedAt(selector, "matchLabels", (match) => ({ ...match, [UID]: uid })),
    ),
  );
}

/** In Go a job without labels shares the label map of its template: a write to one changes both. */
function sharesTemplateLabels(job: JsonObject): boolean {
  return equalJson(objectAt(job, "metadata", "labels"), objectAt(job, "spec", "template", "metadata", "labels"));
}

function ownSelectorErrors(job: JsonObject): Errors {
  const spec = objectAt(job, "spec");
  if (isSet(spec, "manualSelector")) return NONE;
  const selector = objectAt(spec, "selector");
  const match = Object.keys(objectAt(selector, "matchLabels"));
  const isOwn = match.length === 1 && match[0] === UID;
  return isOwn ? NONE : [invalid("spec.selector", shownSelector(selector), "`selector` not auto-generated")];
}

function jobSpecErrors(spec: JsonObject, field: string): Errors {
  const counts = ["parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished"];
  const isIndexed = textAt(spec, "completionMode") === "Indexed";
  return [
    ...selectorErrors(objectAt(spec, "selector"), `${field}.selector`),
    ...counts.flatMap((name) => notNegative(`${field}.${name}`, numberAt(spec, name))),
    ...oneOf(`${field}.completionMode`, textAt(spec, "completionMode"), ["NonIndexed", "Indexed"]),
    ...(isIndexed && numberAt(spec, "completions") === undefined
      ? [required(`${field}.completions`, "when completion mode is Indexed")]
      : NONE),
    ...podTemplateErrors(
      withMember(objectAt(spec, "template"), "spec", objectAt(spec, "template", "spec")),
      `${field}.template`,
    ),
    ...restartErrors(
      textAt(objectAt(spec, "template", "spec"), "restartPolicy"),
      `${field}.template.spec.restartPolicy`,
    ),
  ];
}

function restartErrors(policy: string, field: string): Errors {
  if (policy === "OnFailure" || policy === "Never") return NONE;
  const detail = 'valid values: "OnFailure", "Never"';
  return policy === "Always" || policy === "" ? [required(field, detail)] : NONE;
}

function templateMismatch(job: JsonObject): Errors {
  const spec = objectAt(job, "spec");
  const labels = objectAt(spec, "template", "metadata", "labels");
  return matchesSelector(objectAt(spec, "selector"), labels)
    ? NONE
    : [mismatch(objectAt(spec, "template"), "spec.template")];
}

function zoneErrors(zone: string): Errors {
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
