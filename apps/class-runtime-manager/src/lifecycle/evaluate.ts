import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { equalJson, timestamp } from "@oaas/foundation";
import type { LifecyclePhase } from "@oaas/models";
import { assess, type Assessment, type Cause } from "./diagnosis/assess.ts";
import { classConditions } from "./status/class-conditions.ts";
import { functionStatuses, odgmStatus, resourceRefs } from "./status/component-status.ts";
import { nextConditions } from "./status/conditions.ts";
import { emittedEvents, type EmittedEvent } from "./status/emitted-events.ts";
import { withLastKnownFunctions } from "./observation/last-known.ts";
import type { Observation } from "./observation/observation.ts";
import { foreignFields } from "./status/field-ownership.ts";
import { legacyCondition, legacyStep, phaseOf } from "./status/phase.ts";
import { marksGenerationObserved } from "./observation/reasons.ts";
import { causeText, componentsText } from "./status/cause-text.ts";

/** Result of one lifecycle step. */
export interface LifecycleStep {
  readonly status: ClassRuntimeStatus;
  /** False when `status` is the previous status itself and nothing has to be written. */
  readonly changed: boolean;
  /** Events to emit; empty when nothing changed. */
  readonly events: readonly EmittedEvent[];
  /** When to evaluate again, if the result depends on time. */
  readonly recheckAtMs?: number;
  /** The assessment behind the status, for explanations. */
  readonly assessment: Assessment;
}

/**
 * One step of the lifecycle.
 *
 * *Guarantees*: equal observations give equal phase, conditions and reasons, independent of the previous status. Times
 * change only with the value they date: `lastTransitionTime` with the status of its condition, `last_updated` with any
 * change. An unchanged observation returns the previous status itself. `observedGeneration` changes only after the
 * reconcile applied this generation or rejected it permanently.
 *
 * *Assumptions*: the children in the observation were read after the writes of the reconcile; `previous` is the stored
 * status.
 */
export function evaluate(
  previous: ClassRuntimeStatus | undefined,
  observation: Observation,
  nowMs: number,
): LifecycleStep {
  const observed = withLastKnownFunctions(observation, previous);
  const assessment = assess(observed, nowMs);
  const phase = phaseOf(observation, assessment);
  const next = statusOf(
    previous,
    observed,
    assessment,
    { phase, step: legacyStep(observation, assessment) },
    timestamp(nowMs),
  );
  const recheck = assessment.recheckAtMs === undefined ? {} : { recheckAtMs: assessment.recheckAtMs };
  if (previous !== undefined && equalJson(withoutVolatileFields(previous), withoutVolatileFields(next))) {
    return { status: previous, changed: false, events: [], assessment, ...recheck };
  }
  const status = { ...next, last_updated: timestamp(nowMs) };
  return {
    status,
    changed: true,
    events: emittedEvents(previous, status, observation.subject),
    assessment,
    ...recheck,
  };
}

function statusOf(
  previous: ClassRuntimeStatus | undefined,
  observation: Observation,
  assessment: Assessment,
  position: { readonly phase: LifecyclePhase; readonly step: ClassRuntimeStatus["deployment_phase"] },
  now: string,
): ClassRuntimeStatus {
  const { generation, subject } = observation;
  const { phase } = position;
  const expected = phase === "deleting" ? undefined : observation.expected;
  const { cause } = assessment;
  const template = expected?.template ?? previous?.template;
  const odgm = expected === undefined ? undefined : odgmStatus(observation, expected, assessment);
  const observedGeneration = observedGenerationOf(previous, observation);
  return {
    ...foreignFields(previous),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    // The Rust manager may own this field, so it is updated instead of removed.
    ...(previous?.observed_generation === undefined ? {} : { observed_generation: observedGeneration }),
    phase,
    condition: legacyCondition(phase, assessment),
    ...(position.step === undefined ? {} : { deployment_phase: position.step }),
    ...(cause === undefined ? {} : { reason: cause.finding.reason }),
    message: messageOf(phase, cause, assessment, observation),
    conditions: nextConditions(previous?.conditions ?? [], classConditions(observation, assessment, phase), {
      generation,
      now,
    }),
    ...(template === undefined ? {} : { template }),
    ...(observation.driftCorrections === undefined ? {} : { drift_corrections: observation.driftCorrections }),
    resource_refs: resourceRefs(observation.children, subject),
    ...functionsOf(previous, observation, assessment, now),
    ...(odgm === undefined ? {} : { odgm_cluster_status: odgm }),
    ...(expected?.routers === undefined ? {} : { routers: [...expected.routers] }),
  };
}

/** Without a rendered spec the previous function statuses stay: they hold the assigned names. */
function functionsOf(
  previous: ClassRuntimeStatus | undefined,
  observation: Observation,
  assessment: Assessment,
  now: string,
): Pick<ClassRuntimeStatus, "functions"> {
  const { expected, deleting } = observation;
  if (deleting) return {};
  const before = previous?.functions ?? [];
  if (expected === undefined) return before.length === 0 ? {} : { functions: before };
  return { functions: functionStatuses(observation, expected, assessment, before, now) };
}

function messageOf(
  phase: LifecyclePhase,
  cause: Cause | undefined,
  assessment: Assessment,
  { subject }: Observation,
): string {
  if (cause !== undefined) return causeText(cause, subject);
  if (phase === "deleting") return "The class is being deleted.";
  if (phase === "pending") return "Waiting for the first reconcile.";
  const components = componentsText(assessment);
  return components === "" ? "Everything is ready." : `Ready: ${components}.`;
}

/** The Rust manager wrote `observed_generation`. */
function observedGenerationOf(previous: ClassRuntimeStatus | undefined, observation: Observation): number | undefined {
  const before = previous?.observedGeneration ?? previous?.observed_generation;
  const refused = observation.problems.filter(({ reason }) => !marksGenerationObserved(reason));
  const judged = observation.problems.length > 0 || observation.expected !== undefined || observation.deleting;
  return refused.length === 0 && judged ? observation.generation : before;
}

/**
 * The status without volatile fields, which alone do not justify a write: check times, object counts, log positions,
 * and the remaining children of a deletion.
 */
function withoutVolatileFields(status: ClassRuntimeStatus): unknown {
  const { last_updated: _, odgm_cluster_status: odgm, resource_refs: refs, ...others } = status;
  // Do not write status for each child that a deletion removes.
  const rest = status.phase === "deleting" ? others : { ...others, refs };
  if (odgm === undefined) return rest;
  const { last_checked: _asked, collections_status: collections, active_nodes: nodes, ...store } = odgm;
  return {
    ...rest,
    odgm_cluster_status: {
      ...store,
      nodes: nodes?.map(({ last_heartbeat: _heard, ...node }) => node),
      collections: collections?.map(({ total_objects: _held, ...collection }) => collection),
    },
  };
}
