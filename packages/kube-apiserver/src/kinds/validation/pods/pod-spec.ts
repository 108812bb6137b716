import type { JsonObject } from "@oaas/kube-core";
import { hasObject, member, numberAt, objectAt, objectsAt, textAt } from "../../json-access.ts";
import { validateContainers, validateUser, type PodContext } from "./containers.ts";
import { forbidden, invalid, invalidFor, NONE, oneOf, required, unsupported, type Errors } from "../field-errors.ts";
import { validateAnnotations, validateLabels } from "../metadata.ts";
import { dnsLabel, dnsSubdomain } from "../names.ts";
import { validateScheduling } from "./scheduling.ts";
import { isEmptySelector, matchesSelector, validateSelector } from "../selectors.ts";
import { validateVolumes } from "./volumes.ts";

const DEADLINES = { least: 1, most: 2_147_483_647 };

/** Violations of a pod spec, or that of a template. */
export function validatePodSpec(spec: JsonObject, field: string): Errors {
  const volumes = objectsAt(spec, "volumes");
  const context: PodContext = {
    volumes: new Set(volumes.map((volume) => textAt(volume, "name"))),
    hostPorts: new Set(),
  };
  const seen = new Set<string>();
  const containers = objectsAt(spec, "containers");
  const account = textAt(spec, "serviceAccountName");
  return [
    ...validateVolumes(volumes, `${field}.volumes`, account),
    ...(containers.length === 0 ? [required(`${field}.containers`)] : NONE),
    ...validateContainers(containers, `${field}.containers`, seen, context),
    ...validateContainers(objectsAt(spec, "initContainers"), `${field}.initContainers`, seen, {
      ...context,
      hostPorts: new Set(),
    }),
    ...oneOf(`${field}.restartPolicy`, textAt(spec, "restartPolicy"), ["Always", "OnFailure", "Never"]),
    ...oneOf(`${field}.dnsPolicy`, textAt(spec, "dnsPolicy"), [
      "ClusterFirstWithHostNet",
      "ClusterFirst",
      "Default",
      "None",
    ]),
    ...validateLabels(spec, `${field}.nodeSelector`),
    ...validateUser(objectAt(spec, "securityContext"), `${field}.securityContext`),
    ...validatePlace(spec, field, account),
    ...validateScheduling(spec, field),
    ...validateDeadline(spec, field),
    ...(textAt(spec, "dnsPolicy") === "None" && !hasObject(spec, "dnsConfig")
      ? [required(`${field}.dnsConfig`, "must provide `dnsConfig` when `dnsPolicy` is None")]
      : NONE),
  ];
}

function validatePlace(spec: JsonObject, field: string, account: string): Errors {
  const [node, hostname, subdomain] = ["nodeName", "hostname", "subdomain"].map((name) => textAt(spec, name));
  return [
    ...(account === "" ? NONE : invalidFor(`${field}.serviceAccountName`, account, dnsSubdomain(account, false))),
    ...named(`${field}.nodeName`, node, dnsSubdomain),
    ...named(`${field}.hostname`, hostname, dnsLabel),
    ...named(`${field}.subdomain`, subdomain, dnsLabel),
  ];
}

function named(field: string, name = "", rule: typeof dnsLabel): Errors {
  return name === "" ? NONE : invalidFor(field, name, rule(name, false));
}

function validateDeadline(spec: JsonObject, field: string): Errors {
  const deadline = numberAt(spec, "activeDeadlineSeconds");
  if (deadline === undefined || (deadline >= DEADLINES.least && deadline <= DEADLINES.most)) return NONE;
  return [
    invalid(
      `${field}.activeDeadlineSeconds`,
      deadline,
      `must be between ${DEADLINES.least} and ${DEADLINES.most}, inclusive`,
    ),
  ];
}

/** Violations of a pod template. */
export function validatePodTemplate(template: JsonObject, field: string): Errors {
  return [
    ...validateLabels(objectAt(template, "metadata"), `${field}.labels`),
    ...validateAnnotations(objectAt(template, "metadata"), `${field}.annotations`),
    ...validatePodSpec(objectAt(template, "spec"), `${field}.spec`),
  ];
}

/** A template of a controller that selects its pods by this selector. */
export function validateKeptTemplate(spec: JsonObject, selector: JsonObject | undefined, owner: string): Errors {
  const template = objectAt(spec, "template");
  const field = "spec.template";
  const labels = objectAt(template, "metadata", "labels");
  const restart = textAt(objectAt(template, "spec"), "restartPolicy");
  const hasDeadline = member(objectAt(template, "spec"), "activeDeadlineSeconds") !== undefined;
  return [
    ...(isInvalidSelector(selector) || matchesSelector(selector, labels) ? NONE : [mismatch(template, field)]),
    ...validatePodTemplate(template, field),
    ...(restart === "Always" || restart === ""
      ? NONE
      : [unsupported(`${field}.spec.restartPolicy`, restart, ["Always"])]),
    ...(hasDeadline
      ? [forbidden(`${field}.spec.activeDeadlineSeconds`, `activeDeadlineSeconds in ${owner} is not Supported`)]
      : NONE),
  ];
}

/** Whether the selector was already rejected; then its matches are not checked. */
function isInvalidSelector(selector: JsonObject | undefined): boolean {
  return selector !== undefined && (isEmptySelector(selector) || validateSelector(selector, "").length > 0);
}

/** The error for a selector that does not match its own template. */
export function mismatch(template: JsonObject, field: string): ReturnType<typeof invalid> {
  const labels = member(objectAt(template, "metadata"), "labels");
  return invalid(`${field}.metadata.labels`, labels, "`selector` does not match template `labels`");
}
