import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import { findBlockedChildren } from "./assess-deletion.ts";
import { diagnoseWorkload, podsOf } from "./diagnose-workload.ts";
import { compareFindings, finding, type Finding } from "./finding.ts";
import type { ExpectedFunction, ExpectedOdgm, Observation, Problem } from "../observation/observation.ts";
import type { Workload } from "../observation/observed-objects.ts";
import { missingReadiness, readinessOf, type Readiness } from "./readiness.ts";
import { isFaultReason, type Reason } from "../observation/reasons.ts";
import { withMissingReferences } from "./missing-references.ts";
import { withScaleToZero } from "./scaled-to-zero.ts";

/** State of one workload. */
export interface WorkloadHealth {
  readonly ref: ObjectRef;
  /** The observed object; absent when it is missing. */
  readonly workload?: Workload;
  readonly readiness: Readiness;
  /** Sorted by rank of the reason; empty when ready. */
  readonly findings: readonly Finding[];
  readonly recheckAtMs?: number;
}

/** State of a function or of the state store. */
export interface ComponentHealth {
  /** Function key; "odgm" for the state store. */
  readonly name: string;
  readonly role: "function" | "odgm";
  /** One for a function, none for a function without pods, one or more for the state store. */
  readonly workloads: readonly WorkloadHealth[];
  /** Readiness of all workloads combined. */
  readonly readiness: Readiness;
  /** Sorted by rank of the reason; empty when ready. */
  readonly findings: readonly Finding[];
  readonly recheckAtMs?: number;
}

/** The interpreted observation. */
export interface Assessment {
  readonly functions: readonly ComponentHealth[];
  readonly odgm?: ComponentHealth;
  /** Desired children that do not exist. */
  readonly missing: readonly KubeObject[];
  /** Why the class is not ready: problems of the reconcile and the first finding of each component, sorted by rank. */
  readonly causes: readonly Cause[];
  /** The highest-ranked cause; undefined when everything is ready. */
  readonly cause?: Cause;
  /** The highest-ranked cause, if it is a fault. */
  readonly fault?: Cause;
  /** When to evaluate again, if the result depends on time. */
  readonly recheckAtMs?: number;
}

/** A finding with its component. */
export interface Cause {
  /** `problem`: the reconcile reported it; `observation`: it was observed in the cluster. */
  readonly source: "problem" | "observation";
  readonly component?: Pick<ComponentHealth, "name" | "role">;
  readonly finding: Finding;
}

const DEFAULT_DEADLINE_MS = 600_000;

/** Assesses every component. The order of observed objects does not matter. */
export function assess(observation: Observation, nowMs: number): Assessment {
  const { expected, problems, subject } = observation;
  if (observation.deleting) {
    const { findings, ...wakeUp } = findBlockedChildren(observation.children, nowMs);
    return withCauses({ functions: [], missing: [], ...wakeUp }, problems, subject, findings);
  }
  if (expected === undefined) return withCauses({ functions: [], missing: [] }, problems, subject);
  const byKey = new Map(observation.children.map((child) => [childKey(child), child]));
  const assessOne: AssessWorkload = (ref, replicas) => assessWorkload(ref, replicas, byKey, observation, nowMs);

  const odgm = expected.odgm === undefined ? undefined : odgmHealth(expected.odgm, observation, assessOne, nowMs);
  const functions = expected.functions.map((one) => functionHealth(one, odgm, assessOne, observation));
  const components = [...(odgm === undefined ? [] : [odgm]), ...functions];
  return withCauses(
    {
      functions,
      ...(odgm === undefined ? {} : { odgm }),
      missing: expected.children.filter((child) => !byKey.has(childKey(child))),
      ...earliestRecheck(components),
    },
    problems,
    subject,
  );
}

function earliestRecheck(checks: readonly { readonly recheckAtMs?: number }[]): { readonly recheckAtMs?: number } {
  const atMs = Math.min(...checks.map(({ recheckAtMs = Infinity }) => recheckAtMs));
  return Number.isFinite(atMs) ? { recheckAtMs: atMs } : {};
}

/** Group, kind and name; all children are in the namespace of the class, and the version does not matter. */
export function childKey({ apiVersion, kind, metadata }: KubeObject): string {
  return refKey({ apiVersion, kind, name: metadata.name ?? "" });
}

function refKey({ apiVersion, kind, name }: ObjectRef): string {
  const slash = apiVersion.lastIndexOf("/");
  return `${slash < 0 ? "" : apiVersion.slice(0, slash)}/${kind}/${name}`;
}

type AssessWorkload = (ref: ObjectRef, replicas: number) => WorkloadHealth;

function assessWorkload(
  ref: ObjectRef,
  replicas: number,
  byKey: ReadonlyMap<string, KubeObject>,
  observation: Observation,
  nowMs: number,
): WorkloadHealth {
  const workload: Workload | undefined = byKey.get(refKey(ref));
  const readiness = workload === undefined ? undefined : readinessOf(workload);
  if (workload === undefined || readiness === undefined) {
    const absent = missingReadiness(replicas);
    return { ref, readiness: absent, findings: [finding("ChildMissing", ref, absent.message)] };
  }
  const patience = { nowMs, deadlineMs: observation.progressDeadlineMs ?? DEFAULT_DEADLINE_MS };
  const health = { ref, workload, readiness, ...diagnoseWorkload(workload, readiness, observation, patience) };
  return withMissingReferences(health, observation);
}

function odgmHealth(
  expected: ExpectedOdgm,
  observation: Observation,
  assessOne: AssessWorkload,
  nowMs: number,
): ComponentHealth {
  const podsPerWorkload = Math.ceil(expected.replicas / Math.max(expected.workloads.length, 1));
  const workloads = expected.workloads.map((ref) => assessOne(ref, podsPerWorkload));
  const component: ComponentHealth = { name: "odgm", role: "odgm", workloads, ...combineWorkloads(workloads) };
  const [first] = expected.workloads;
  return first === undefined ? component : withReading(component, first, observation, nowMs);
}

/** A store that is checked is ready when a write to every partition was acknowledged. */
function withReading(
  component: ComponentHealth,
  first: ObjectRef,
  observation: Observation,
  nowMs: number,
): ComponentHealth {
  const { odgmReading: reading, odgmChecks } = observation;
  const { readiness } = component;
  if (reading === undefined && odgmChecks !== "on") return component;
  // Pods that do not run explain the absence of a reading.
  if (reading === undefined && !readiness.ready) return { ...component, readiness: { ...readiness, serving: false } };
  const serving = readiness.serving && reading?.details?.writable !== false;
  if (reading?.healthy === true) return { ...component, readiness: { ...readiness, serving } };
  const graceEndsMs =
    Math.max(...component.workloads.map(({ workload }) => startedMs(workload, observation))) + STARTUP_GRACE_MS;
  const settling = reading === undefined || nowMs < graceEndsMs;
  const reason = settling ? "OdgmSettling" : (reading.reason ?? "OdgmUnhealthy");
  const message = reading?.message ?? NOTHING_READ;
  const isKnownToServe = reading?.details?.writable ?? (reading?.reason === undefined && !settling);
  return {
    ...component,
    readiness: readiness.ready
      ? { ...readiness, ready: false, serving: serving && isKnownToServe, reason, message }
      : { ...readiness, serving: serving && isKnownToServe },
    findings: [...component.findings, finding(reason, first, message)].sort(compareFindings),
    ...(reading !== undefined && settling
      ? { recheckAtMs: Math.min(graceEndsMs, component.recheckAtMs ?? Infinity) }
      : {}),
  };
}

const NOTHING_READ = "did not acknowledge a write yet";

/** Time that a newly started state store gets to serve its shards. */
const STARTUP_GRACE_MS = 60_000;

/** When the newest pod was created. Readiness follows the shards, so that it does not count as a start. */
function startedMs(workload: Workload | undefined, { pods }: Observation): number {
  if (workload === undefined) return 0;
  const moments = [workload, ...podsOf(workload, pods)].map(({ metadata }) => metadata.creationTimestamp);
  return Math.max(0, ...moments.flatMap((moment) => (moment === undefined ? [] : [Date.parse(moment) || 0])));
}

const NOTHING_TO_RUN: Readiness = {
  ready: true,
  serving: true,
  failed: false,
  desired: 0,
  readyReplicas: 0,
  updatedReplicas: 0,
  reason: "Ready",
  message: "is ready",
};

/** Combines workloads: ready when all are, otherwise the state of the first that is not ready. */
function combineWorkloads(workloads: readonly WorkloadHealth[]): Pick<ComponentHealth, "readiness" | "findings"> {
  const findings = workloads.flatMap((one) => one.findings).sort(compareFindings);
  const worst = workloads.find(({ readiness }) => !readiness.ready) ?? workloads[0];
  if (worst === undefined) return { readiness: NOTHING_TO_RUN, findings };
  const sum = (count: (one: Readiness) => number): number =>
    workloads.reduce((total, { readiness }) => total + count(readiness), 0);
  return {
    readiness: {
      ...worst.readiness,
      ready: workloads.every(({ readiness }) => readiness.ready),
      serving: workloads.every(({ readiness }) => readiness.serving),
      desired: sum(({ desired }) => desired),
      readyReplicas: sum(({ readyReplicas }) => readyReplicas),
      updatedReplicas: sum(({ updatedReplicas }) => updatedReplicas),
    },
    findings,
    ...earliestRecheck(workloads),
  };
}

function functionHealth(
  expectedFunction: ExpectedFunction,
  odgm: ComponentHealth | undefined,
  assessOne: AssessWorkload,
  observation: Observation,
): ComponentHealth {
  const base = { name: expectedFunction.functionKey, role: "function" as const };
  if (expectedFunction.runtime === "odgm") return { ...base, workloads: [], ...hostedByOdgm(odgm) };
  if (expectedFunction.runtime === "none" || expectedFunction.workload === undefined) {
    return { ...base, workloads: [], readiness: NOTHING_TO_RUN, findings: [] };
  }
  const assessed = assessOne(expectedFunction.workload, expectedFunction.replicas ?? 1);
  const workload = withScaleToZero(assessed, expectedFunction, observation);
  const component = { ...base, workloads: [workload], ...combineWorkloads([workload]) };
  const idle = component.findings.every(({ reason }) => !isFaultReason(reason) || SYMPTOMS.has(reason));
  if (component.readiness.ready || odgm === undefined || odgm.readiness.ready || !idle) return component;
  // Functions start after the state store, so that an unready state store explains unready functions.
  const waiting = finding("WaitingForOdgm", expectedFunction.workload, "waits for the state store");
  return { ...component, findings: [waiting, ...component.findings] };
}

/** Faults of a function that a missing state store can cause. */
const SYMPTOMS: ReadonlySet<string> = new Set<Reason>(["CrashLoop", "ProgressDeadline"]);

/** A module is ready when the state store that hosts it is. */
function hostedByOdgm(odgm: ComponentHealth | undefined): Pick<ComponentHealth, "readiness" | "findings"> {
  if (odgm?.readiness.ready === true) return { readiness: NOTHING_TO_RUN, findings: [] };
  const readiness = { ...NOTHING_TO_RUN, ready: false, serving: odgm?.readiness.serving ?? false };
  const message = "hosts the function and is not ready";
  const object = odgm?.workloads[0]?.ref ?? { apiVersion: "apps/v1", kind: "Deployment", name: "odgm" };
  return {
    readiness: { ...readiness, reason: "WaitingForOdgm", message },
    findings: [finding("WaitingForOdgm", object, message)],
  };
}

function withCauses(
  found: Omit<Assessment, "cause" | "causes" | "fault">,
  problems: readonly Problem[],
  subject: ObjectRef,
  more: readonly Finding[] = [],
): Assessment {
  const components = [...(found.odgm === undefined ? [] : [found.odgm]), ...found.functions];
  const assessedRefs = new Set(components.flatMap(({ workloads }) => workloads.map(({ ref }) => refKey(ref))));
  const causes: Cause[] = [
    ...problems.map(({ reason, verdict, message, object }) => ({
      source: "problem" as const,
      finding: finding(reason, object ?? subject, message, { verdict }),
    })),
    ...more.map((one) => ({ source: "observation" as const, finding: one })),
    ...components.flatMap((component) =>
      component.findings.slice(0, 1).map((first) => ({ source: "observation" as const, component, finding: first })),
    ),
    ...found.missing
      .filter((child) => !assessedRefs.has(childKey(child)))
      .map((child) => ({
        source: "observation" as const,
        finding: finding(
          "ChildMissing",
          { apiVersion: child.apiVersion, kind: child.kind, name: child.metadata.name ?? "" },
          "does not exist",
        ),
      })),
  ];
  causes.sort((a, b) => compareFindings(a.finding, b.finding));
  const [cause] = causes;
  if (cause === undefined) return { ...found, causes };
  return { ...found, causes, cause, ...(isFaultReason(cause.finding.reason) ? { fault: cause } : {}) };
}
