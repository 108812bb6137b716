import type { KubeObject, ObjectRef } from "@oaas/kube-core";
import { diagnose, podsOf, type Diagnosis } from "./diagnose.ts";
import { byCause, finding, type Finding } from "./finding.ts";
import type { ExpectedFunction, ExpectedOdgm, Observation, Problem } from "./observation.ts";
import { conditionIn, type Workload } from "./observed-objects.ts";
import { missingReadiness, readinessOf, type Readiness } from "./readiness.ts";
import { isFaultReason } from "./reasons.ts";

/** How one function, or the state store, is. */
export interface ComponentHealth {
  /** Function key; "odgm" for the state store. */
  readonly name: string;
  readonly role: "function" | "odgm";
  readonly workloadRef?: ObjectRef;
  /** The workload as it is; absent when it is missing or the component has none. */
  readonly workload?: Workload;
  readonly readiness: Readiness;
  /** Nearest to the cause first; empty when ready. */
  readonly findings: readonly Finding[];
}

/** What the observation means, before it is put into words. */
export interface Assessment {
  readonly functions: readonly ComponentHealth[];
  readonly odgm?: ComponentHealth;
  /** Wanted children that are not there. */
  readonly missing: readonly KubeObject[];
  /** The most telling cause of all, problems of the pass included; undefined when everything is ready. */
  readonly cause?: Cause;
  /** The most telling fault, if there is any. */
  readonly fault?: Cause;
  /** When time alone will change the answer. */
  readonly checkAgainAtMs?: number;
}

/** A finding, with the component it was found in. */
export interface Cause {
  /** `pass`: it was met while writing; `world`: it was seen in the cluster. */
  readonly met: "pass" | "world";
  readonly component?: Pick<ComponentHealth, "name" | "role">;
  readonly finding: Finding;
}

const DEFAULT_DEADLINE_MS = 600_000;

/** Looks at every component once. The order of what was observed makes no difference. */
export function assess(observation: Observation, nowMs: number): Assessment {
  const { expected } = observation;
  if (expected === undefined)
    return withCauses({ functions: [], missing: [] }, observation.problems, observation.subject);
  const there = new Map(observation.children.map((child) => [childKey(child), child]));
  const look = (ref: ObjectRef, replicas: number): { health: Health; diagnosis: Diagnosis } =>
    lookAt(ref, replicas, there, observation, nowMs);

  const odgm = expected.odgm === undefined ? undefined : odgmHealth(expected.odgm, observation, look, nowMs);
  const functions = expected.functions.map((wanted) => functionHealth(wanted, odgm?.component, look));
  const missing = expected.children.filter((child) => !there.has(childKey(child)));
  const checks = [odgm?.checkAgainAtMs, ...functions.map(({ checkAgainAtMs }) => checkAgainAtMs)];
  const soonest = Math.min(...checks.filter((at) => at !== undefined));
  return withCauses(
    {
      functions: functions.map(({ component }) => component),
      ...(odgm === undefined ? {} : { odgm: odgm.component }),
      missing,
      ...(Number.isFinite(soonest) ? { checkAgainAtMs: soonest } : {}),
    },
    observation.problems,
    observation.subject,
  );
}

/** Kind and name; all children are in the class's namespace, and versions of a kind are one kind. */
export function childKey({ apiVersion, kind, metadata }: KubeObject): string {
  return refKey({ apiVersion, kind, name: metadata.name ?? "" });
}

function refKey({ apiVersion, kind, name }: ObjectRef): string {
  const slash = apiVersion.lastIndexOf("/");
  return `${slash < 0 ? "" : apiVersion.slice(0, slash)}/${kind}/${name}`;
}

interface Health {
  readonly workload?: Workload;
  readonly readiness: Readiness;
}

interface Looked {
  readonly component: ComponentHealth;
  readonly checkAgainAtMs?: number | undefined;
}

type Look = (ref: ObjectRef, replicas: number) => { readonly health: Health; readonly diagnosis: Diagnosis };

function lookAt(
  ref: ObjectRef,
  replicas: number,
  there: ReadonlyMap<string, KubeObject>,
  observation: Observation,
  nowMs: number,
): ReturnType<Look> {
  const workload: Workload | undefined = there.get(refKey(ref));
  const readiness = workload === undefined ? undefined : readinessOf(workload);
  if (workload === undefined || readiness === undefined) {
    const absent = missingReadiness(replicas);
    return {
      health: { readiness: absent },
      diagnosis: { findings: [finding("ChildMissing", ref, absent.message)] },
    };
  }
  const patience = { nowMs, deadlineMs: observation.progressDeadlineMs ?? DEFAULT_DEADLINE_MS };
  return { health: { workload, readiness }, diagnosis: diagnose(workload, readiness, observation, patience) };
}

function odgmHealth(expected: ExpectedOdgm, observation: Observation, look: Look, nowMs: number): Looked {
  const { health, diagnosis } = look(expected.workload, expected.replicas);
  const { odgmReading: reading } = observation;
  const base = { name: "odgm", role: "odgm" as const, workloadRef: expected.workload, ...health };
  if (!health.readiness.ready || reading === undefined || reading.healthy) {
    return { component: { ...base, findings: diagnosis.findings }, checkAgainAtMs: diagnosis.checkAgainAtMs };
  }
  const graceEndsMs = upSinceMs(health.workload, observation) + SETTLING_MS;
  const settling = nowMs < graceEndsMs;
  const reason = settling ? "OdgmSettling" : "OdgmUnhealthy";
  const message = reading.message ?? "does not serve all its shards";
  return {
    component: {
      ...base,
      readiness: { ...health.readiness, ready: false, serving: !settling && health.readiness.serving, reason, message },
      findings: [finding(reason, expected.workload, message)],
    },
    ...(settling ? { checkAgainAtMs: graceEndsMs } : {}),
  };
}

/** A store whose pods have just come up needs time to take up its shards; after that it has no excuse. */
const SETTLING_MS = 60_000;

function upSinceMs(workload: Workload | undefined, { pods }: Observation): number {
  if (workload === undefined) return 0;
  const moments = [
    workload.metadata.creationTimestamp,
    conditionIn(workload.status?.conditions, "Available")?.lastTransitionTime,
    ...podsOf(workload, pods).map(({ status }) => conditionIn(status?.conditions, "Ready")?.lastTransitionTime),
  ];
  return Math.max(0, ...moments.flatMap((moment) => (moment === undefined ? [] : [Date.parse(moment) || 0])));
}

const NOTHING_TO_RUN: Readiness = {
  ready: true,
  serving: true,
  failed: false,
  desired: 0,
  readyReplicas: 0,
  reason: "Ready",
  message: "needs nothing to run",
};

function functionHealth(wanted: ExpectedFunction, odgm: ComponentHealth | undefined, look: Look): Looked {
  const base = { name: wanted.function_key, role: "function" as const };
  if (wanted.runtime === "odgm") return { component: { ...base, ...insideOdgm(odgm) } };
  if (wanted.runtime === "none" || wanted.workload === undefined) {
    return { component: { ...base, readiness: NOTHING_TO_RUN, findings: [] } };
  }
  const { health, diagnosis } = look(wanted.workload, wanted.replicas ?? 1);
  const component = { ...base, workloadRef: wanted.workload, ...health, findings: diagnosis.findings };
  const { checkAgainAtMs } = diagnosis;
  const idle = !diagnosis.findings.some(({ reason }) => isFaultReason(reason));
  if (health.readiness.ready || odgm === undefined || odgm.readiness.ready || !idle)
    return { component, checkAgainAtMs };
  // Functions start after the state store: that they are not ready yet says nothing about them.
  const waits = finding("WaitingForOdgm", wanted.workload, "waits for the class's state store");
  return { component: { ...component, findings: [waits, ...diagnosis.findings] }, checkAgainAtMs };
}

/** A module is ready when the state store that runs it is. */
function insideOdgm(odgm: ComponentHealth | undefined): Omit<ComponentHealth, "name" | "role"> {
  if (odgm?.readiness.ready === true) return { readiness: NOTHING_TO_RUN, findings: [] };
  const readiness = { ...NOTHING_TO_RUN, ready: false, serving: odgm?.readiness.serving ?? false };
  const message = "runs inside the class's state store, which is not ready";
  const object = odgm?.workloadRef ?? { apiVersion: "", kind: "Deployment", name: "odgm" };
  return {
    readiness: { ...readiness, reason: "WaitingForOdgm", message },
    findings: [finding("WaitingForOdgm", object, message)],
  };
}

function withCauses(
  found: Omit<Assessment, "cause" | "fault">,
  problems: readonly Problem[],
  subject: ObjectRef,
): Assessment {
  const causes: Cause[] = [
    ...problems.map(({ reason, verdict, message, object }) => ({
      met: "pass" as const,
      finding: finding(reason, object ?? subject, message, { verdict }),
    })),
    ...[...(found.odgm === undefined ? [] : [found.odgm]), ...found.functions].flatMap((component) =>
      component.findings.slice(0, 1).map((first) => ({ met: "world" as const, component, finding: first })),
    ),
    ...found.missing.map((child) => ({
      met: "world" as const,
      finding: finding(
        "ChildMissing",
        { apiVersion: child.apiVersion, kind: child.kind, name: child.metadata.name ?? "" },
        "is not there",
      ),
    })),
  ];
  const [cause] = causes.sort((a, b) => byCause(a.finding, b.finding));
  if (cause === undefined) return found;
  return { ...found, cause, ...(isFaultReason(cause.finding.reason) ? { fault: cause } : {}) };
}
