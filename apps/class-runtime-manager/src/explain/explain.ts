import type { ClassRuntimeSpec, ClassRuntimeStatus } from "@oaas/contracts/crd";
import { timestamp } from "@oaas/foundation";
import type { ObjectRef } from "@oaas/kube-core";
import {
  assess,
  type Assessment,
  type Cause,
  type ComponentHealth,
  type WorkloadHealth,
} from "../lifecycle/diagnosis/assess.ts";
import type { Finding } from "../lifecycle/diagnosis/finding.ts";
import { withLastKnownFunctions } from "../lifecycle/observation/last-known.ts";
import type { Observation } from "../lifecycle/observation/observation.ts";
import { isFaultReason } from "../lifecycle/observation/reasons.ts";
import { componentsText, plainCauseText } from "../lifecycle/status/cause-text.ts";
import { explainTemplate } from "./explain-template.ts";
import type { Explanation, ExplanationPart } from "./explanation.ts";
import { findingParts, partOf } from "./finding-parts.ts";

/** The class to explain, and the scope of the explanation. */
export interface ExplainRequest {
  readonly deploymentId: string;
  /** The class key, for display. */
  readonly classKey: string;
  readonly status?: ClassRuntimeStatus | undefined;
  /** Requested template. */
  readonly requested?: Pick<ClassRuntimeSpec, "selected_template" | "template_hint"> | undefined;
  /** Limits the explanation to this function. */
  readonly functionKey?: string | undefined;
}

/**
 * Explains the state of a class: a chain from class over function, workload and pod to events, and the template
 * selection. It uses the same assessment as the status, so that both agree.
 */
export function explain(request: ExplainRequest, observation: Observation, nowMs: number): Explanation {
  const observed = withLastKnownFunctions(observation, request.status);
  const assessment = narrowToFunction(assess(observed, nowMs), request.functionKey);
  const { causes } = assessment;
  // Causes that require action come before transient ones.
  const main = causes.find(({ finding }) => finding.verdict === "permanent") ?? causes[0];
  const { verdict, summary, reason, action } = isOutdated(request, observation, main)
    ? NOT_APPLIED
    : describeMain(main, observation, assessment);
  const outside = causes.filter((cause) => isOutsideComponents(cause) && !isAboutClass(cause, observation));
  const template = explainTemplate(request.status?.template ?? observation.expected?.template, request.requested);
  return {
    deploymentId: request.deploymentId,
    summary,
    verdict,
    action,
    root: {
      level: "class",
      name: request.classKey,
      resource: observation.subject,
      verdict,
      reason,
      message: summary,
      action,
      causes: [...outside.map(outsidePart), ...componentParts(assessment, observation)],
    },
    ...(template === undefined ? {} : { template }),
    observedAt: timestamp(nowMs),
  };
}

interface Headline {
  readonly verdict: Explanation["verdict"];
  readonly summary: string;
  readonly reason: string;
  readonly action: string;
}

const NOT_APPLIED: Headline = {
  verdict: "transient",
  summary: "The latest change of the class is not applied yet; the objects below are of the change before.",
  reason: "RollingOut",
  action: "Wait; the class runtime manager applies it.",
};

/** Whether the observed objects belong to an earlier spec; their state says nothing about the current one. */
function isOutdated(
  { status }: ExplainRequest,
  { generation, deleting }: Observation,
  main: Cause | undefined,
): boolean {
  const observed = status?.observedGeneration;
  return !deleting && main?.source === "observation" && observed !== undefined && observed < generation;
}

function describeMain(main: Cause | undefined, observation: Observation, assessment: Assessment): Headline {
  if (main === undefined) {
    const verdict = observation.deleting ? "transient" : "healthy";
    return { verdict, summary: healthySummary(observation, assessment), reason: "", action: "" };
  }
  const { verdict, reason, action } = main.finding;
  return { verdict, summary: plainCauseText(main, observation.subject), reason, action };
}

function narrowToFunction(assessment: Assessment, functionKey: string | undefined): Assessment {
  if (functionKey === undefined) return assessment;
  const functions = assessment.functions.filter(({ name }) => name === functionKey);
  const concerns = ({ component }: Cause): boolean =>
    component === undefined || component.role === "odgm" || component.name === functionKey;
  return { ...assessment, functions, causes: assessment.causes.filter(concerns) };
}

function healthySummary({ deleting }: Observation, assessment: Assessment): string {
  if (deleting) return "The class is being deleted.";
  const components = componentsText(assessment);
  return components === "" ? "No components yet." : `Healthy: ${components} ready.`;
}

/** Causes outside of components: problems of the reconcile, missing children, a blocked deletion. */
function isOutsideComponents({ component }: Cause): boolean {
  return component === undefined;
}

function isAboutClass({ finding }: Cause, { subject }: Observation): boolean {
  return finding.object.kind === subject.kind && finding.object.name === subject.name;
}

function outsidePart({ finding }: Cause): ExplanationPart {
  return { ...partOf("workload", finding.object, finding), causes: [] };
}

function componentParts({ functions, odgm }: Assessment, { deleting }: Observation): ExplanationPart[] {
  if (deleting) return [];
  return [...(odgm === undefined ? [] : [odgm]), ...functions].map(componentPart);
}

function componentPart({ role, name, readiness, findings, workloads }: ComponentHealth): ExplanationPart {
  const [first] = findings;
  return {
    level: role,
    name,
    verdict: first?.verdict ?? "healthy",
    reason: first?.reason ?? calmReason(readiness),
    message:
      first === undefined
        ? readiness.message
        : `is not ready: ${first.object.kind} ${first.object.name} ${first.message}`,
    action: first?.action ?? "",
    causes: workloads.map((one) => workloadPart(one, findings)),
  };
}

/** The reason of a healthy component that runs in an unusual way. */
function calmReason({ reason }: ComponentHealth["readiness"]): string {
  return reason === "ScaledToZero" ? reason : "";
}

/**
 * A workload with the findings below it; the finding of the component takes precedence over the workload's own message.
 */
function workloadPart(
  { ref, workload, readiness, findings }: WorkloadHealth,
  all: readonly Finding[],
): ExplanationPart {
  const isOwn = ({ object }: Finding): boolean => object.kind === ref.kind && object.name === ref.name;
  const own = all.find(isOwn);
  const worst = findings.find(({ reason }) => isFaultReason(reason)) ?? own;
  const since = findings.find(isOwn)?.since;
  const count = findings.find(isOwn)?.count;
  return {
    level: "workload",
    name: ref.name,
    resource: uidOf(ref, workload?.metadata.uid),
    verdict: worst?.verdict ?? "healthy",
    reason: worst?.reason ?? "",
    message: own?.message ?? readiness.message,
    action: worst?.action ?? "",
    ...(since === undefined ? {} : { since }),
    ...(count === undefined ? {} : { count }),
    causes: findingParts(findings, ref),
  };
}

function uidOf(ref: ObjectRef, uid: string | undefined): ObjectRef {
  return uid === undefined ? ref : { ...ref, uid };
}
