import { EVENT_TOPICS } from "@oaas/contracts/rest";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { emittedEvents } from "../../../apps/class-runtime-manager/src/lifecycle/status/emitted-events.ts";
import {
  isFaultReason,
  REASONS,
  type Reason,
} from "../../../apps/class-runtime-manager/src/lifecycle/observation/reasons.ts";
import { complianceEvents, observationEvent } from "../../../apps/class-runtime-manager/src/nfr/status/nfr-events.ts";
import type { Generator } from "../generator.ts";
import { table } from "./markdown.ts";

/** The reference page of the package manager's event stream and of the Kubernetes Events of classes. */
export const generator: Generator = {
  name: "events-reference",
  produce: async () => new Map([["docs/reference/events.md", eventsReference()]]),
};

/** A status change that emits an Event. */
interface Change {
  readonly when: string;
  readonly from?: ClassRuntimeStatus;
  readonly to: ClassRuntimeStatus;
}

const store = (status: "True" | "False"): ClassRuntimeStatus => ({
  conditions: [{ type: "OdgmReady", status, message: "as in the condition" }],
});
const restart = (state: "Pending" | "Refused" | "WaitingForTurn" | "Restarting"): ClassRuntimeStatus => ({
  odgm_cluster_status: { restart: { state, reason: "TemplateChanged", message: "as in the status" } },
});
const fn = (ready: boolean): ClassRuntimeStatus => ({
  functions: [
    { function_key: "add", ready, message: "as in the status", service: "add", predicted_url: "", template: "edge" },
  ],
});
const template = (rest: object = {}): ClassRuntimeStatus => ({ template: { name: "edge", basis: "score", ...rest } });
const rollOut = (state: "waits" | "halted" | "refused"): Change["to"] =>
  template({ roll_out: { state, revision: "1", message: "as in the status" } });

/** One status change per event, except events named after a reason. */
const CHANGES: readonly Change[] = [
  { when: "a template, or another revision of it, is selected", to: template() },
  { when: "a new revision of its template is queued", from: template(), to: rollOut("waits") },
  { when: "another class failed with the new revision", from: template(), to: rollOut("halted") },
  { when: "the new revision cannot be used", from: template(), to: rollOut("refused") },
  { when: "its children are being applied", to: { phase: "applying", message: "as in the status" } },
  { when: "its workloads are not ready yet", to: { phase: "progressing", message: "as in the status" } },
  { when: "everything is ready", to: { phase: "available", message: "as in the status" } },
  {
    when: "it is degraded for a reason that is not in the list below",
    to: { phase: "degraded", message: "as in the status" },
  },
  { when: "it is being deleted", to: { phase: "deleting", message: "as in the status" } },
  { when: "its state store became ready", from: store("False"), to: store("True") },
  { when: "its state store is no longer ready", from: store("True"), to: store("False") },
  { when: "settings of its state store wait for the next restart", to: restart("Pending") },
  { when: "a restart of its state store would lose objects", to: restart("Refused") },
  { when: "nodes of its state store in other clusters restart first", to: restart("WaitingForTurn") },
  { when: "its state store restarts, one node at a time", to: restart("Restarting") },
  { when: "a function became ready", from: fn(false), to: fn(true) },
  { when: "a function is no longer ready; a warning when caused by a fault", from: fn(true), to: fn(false) },
  { when: "a function was removed from the class", from: fn(true), to: {} },
  {
    when: "a child that another client changed was set back; the note has field, both values, who, how long, how often",
    to: {
      drift_corrections: [{ kind: "Deployment", name: "add", fields: [], first_at: "t", last_at: "t", count: 1 }],
    },
  },
];

/** The events emitted for the changes above, computed by the manager's own code. */
export function eventRows(): string[][] {
  return CHANGES.map(({ when, from, to }) => {
    const events = emittedEvents(from, to, { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", name: "counter" });
    const event = events.at(-1);
    if (event === undefined) throw new Error(`no event is emitted when ${when}`);
    return [`\`${event.reason}\``, event.type, event.action, when];
  });
}

/** The events of the analyzer, computed by its own code. */
function measurementRows(): string[][] {
  const regarding = { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", name: "counter" };
  const verdict = {
    component: "add",
    requirement: "latency",
    target: 1,
    window: "10m",
    sinceMs: 0,
    burnRates: [],
  } as const;
  const [violated, met] = [{ ...verdict, status: "violated" } as const, { ...verdict, status: "met" } as const];
  const rows = [
    { when: "a requirement became violated", event: complianceEvents([{ from: met, to: violated }], regarding)[0] },
    {
      when: "a violated requirement is met again",
      event: complianceEvents([{ from: violated, to: met }], regarding)[0],
    },
    {
      when: "its requirements are measured",
      event: observationEvent({ status: "True", reason: "MetricsObserved", message: "" }, regarding),
    },
    {
      when: "its requirements are no longer measured; the note says why and since when",
      event: observationEvent({ status: "Unknown", reason: "NoSeries", message: "" }, regarding),
    },
  ];
  return rows.map(({ when, event }) => [`\`${event?.reason}\``, event?.type ?? "", event?.action ?? "", when]);
}

function eventsReference(): string {
  const faults = (Object.keys(REASONS) as Reason[]).filter(isFaultReason);
  return [
    INTRODUCTION,
    table(
      ["Topic", "Types", "Object"],
      EVENT_TOPICS.map((topic) => [`\`${topic}\``, TOPICS[topic].types, TOPICS[topic].object]),
    ),
    "",
    RESUMING,
    "## Kubernetes Events of a class\n",
    "Written by the class runtime manager about the `ClassRuntime` or `DeploymentRecord`, by `oaas.io/oprc-crm`, with the correlation id as an annotation. One Event is",
    "written per change; repeated Events within a short time are aggregated into a series.\n",
    table(["Reason", "Type", "Action", "When"], [...eventRows(), ...measurementRows()]),
    "",
    `A class with a fault emits a warning named after the reason, with the suggested action in its note: ${faults.map((reason) => `[${reason}](reasons.md#${reason.toLowerCase()})`).join(", ")}.`,
    "",
  ].join("\n");
}

type Topic = (typeof EVENT_TOPICS)[number];

const STORED = "`added`, `changed`, `removed`, `resync`";

const TOPICS: Readonly<Record<Topic, { readonly types: string; readonly object: string }>> = {
  deployment: {
    types: "`added`, `changed`, `removed`, `replan`, `restart-turn`, `drift-corrected`, `resync`",
    object:
      "[OClassDeployment](rest.md#oclassdeployment); of `replan`, the new plan of a running deployment: `state`, `reason`, `message`, `since`, `lost_clusters`, `plan_digest`, `revision`; of `restart-turn`, the node of a state store that may restart: `id`, `cluster`, `node_id`, `since`; of `drift-corrected`, the [DriftCorrection](rest.md#driftcorrection) of a unit that was sent again, with `reason` and `cluster`",
  },
  operation: {
    types: "`progress`, `removed`, `resync`",
    object:
      "progress of a saga: the `operation` of [DeploymentStatus](rest.md#deploymentstatus); its key is the deployment's",
  },
  cluster: { types: STORED, object: "`{ name, health }` with [ClusterHealth](rest.md#clusterhealth)" },
  "class-runtime": {
    types: "`changed` (also when it is new), `removed`, `drift-corrected`, `resync`",
    object:
      "[ApiClassRuntime](rest.md#apiclassruntime); of `drift-corrected`, the [DriftCorrection](rest.md#driftcorrection) of one of its objects, with `reason` and `cluster`",
  },
  package: { types: STORED, object: "[OPackage](rest.md#opackage)" },
};

const INTRODUCTION = `# Events

<!-- Generated from packages/contracts/src/rest and apps/class-runtime-manager/src/lifecycle by \`npm run generate\`. Do not edit. -->

## The package manager's stream

\`GET /api/v1/events\` (\`?topic=\`, \`?key=\`) and \`GET /api/v1/deployments/{key}/events\` are server-sent events; \`oaas events\` follows them. The name of an event is its topic, its data a
[StreamEvent](rest.md#streamevent).
`;

const RESUMING = `\`resync\` means that events may have been missed: re-list. A disconnected client sends the last id as \`last-event-id\` and
continues without a gap. On etcd this also works with another process or after a restart, for stored topics (\`deployment\`,
\`operation\`, \`package\`, when following one topic). The log keeps 10,000 events; older positions get a \`resync\`.
`;
