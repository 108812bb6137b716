import type { ObjectRef } from "@oaas/kube-core";
import type { Finding } from "../lifecycle/diagnosis/finding.ts";
import type { ObservedEvent } from "../lifecycle/observation/observed-event.ts";
import type { ExplanationPart } from "./explanation.ts";

/** Limit for pods in an explanation; the rest is summarized. */
const MAX_PODS = 10;
const MAX_EVENTS = 5;

/** Findings below a workload: its events, its pods with their events, and their nodes. */
export function findingParts(findings: readonly Finding[], workload: ObjectRef): ExplanationPart[] {
  const isOwn = ({ object }: Finding): boolean => object.kind === workload.kind && object.name === workload.name;
  const pods = findings.filter(({ object }) => object.kind === "Pod");
  return [
    ...findings.filter(isOwn).flatMap(({ events, verdict }) => eventParts(events, verdict)),
    ...pods.slice(0, MAX_PODS).map(podPart),
    ...(pods.length > MAX_PODS ? [restPart(pods.slice(MAX_PODS))] : []),
  ];
}

/** Converts a finding about this object to a part. */
export function partOf(
  level: ExplanationPart["level"],
  resource: ObjectRef,
  finding: Finding,
): Omit<ExplanationPart, "causes"> {
  const { verdict, reason, message, action, since, count } = finding;
  return {
    level,
    name: resource.name,
    resource,
    verdict,
    reason,
    message,
    action,
    ...(since === undefined ? {} : { since }),
    ...(count === undefined ? {} : { count }),
  };
}

function podPart(finding: Finding): ExplanationPart {
  const { object, verdict, events } = finding;
  return { ...partOf("pod", object, finding), causes: [...nodeParts(finding), ...eventParts(events, verdict)] };
}

function restPart(rest: readonly Finding[]): ExplanationPart {
  const [first] = rest;
  return {
    level: "pod",
    name: `${rest.length} more pods`,
    verdict: first?.verdict ?? "transient",
    reason: first?.reason ?? "",
    message: "are not ready",
    action: "",
    causes: [],
  };
}

function nodeParts({ reason, node, verdict, since, action }: Finding): ExplanationPart[] {
  if (reason !== "NodeLost" || node === undefined) return [];
  return [
    {
      level: "node",
      name: node,
      resource: { apiVersion: "v1", kind: "Node", name: node },
      verdict,
      reason,
      message: "is not ready or no longer exists",
      action,
      ...(since === undefined ? {} : { since }),
      causes: [],
    },
  ];
}

function eventParts(events: readonly ObservedEvent[], verdict: Finding["verdict"]): ExplanationPart[] {
  return events.slice(0, MAX_EVENTS).map(({ name, reason, message, count, lastSeen }) => ({
    level: "event",
    name,
    verdict,
    reason,
    message,
    action: "",
    ...(lastSeen === "" ? {} : { since: lastSeen }),
    count,
    causes: [],
  }));
}
