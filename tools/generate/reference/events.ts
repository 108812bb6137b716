import { EVENT_TOPICS } from "@oaas/contracts/rest";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { happenings } from "../../../apps/class-runtime-manager/src/lifecycle/status/emitted-events.ts";
import {
  isFaultReason,
  REASONS,
  type Reason,
} from "../../../apps/class-runtime-manager/src/lifecycle/observation/reasons.ts";
import type { Generator } from "../generator.ts";
import { table } from "./markdown.ts";

/** The reference page of both kinds of events: what the package manager streams, and what classes tell in Kubernetes. */
export const generator: Generator = {
  name: "events-reference",
  produce: async () => new Map([["docs/reference/events.md", eventsReference()]]),
};

/** A change of a class, told as an Event. */
interface Change {
  readonly when: string;
  readonly from?: ClassRuntimeStatus;
  readonly to: ClassRuntimeStatus;
}

const store = (status: "True" | "False"): ClassRuntimeStatus => ({
  conditions: [{ type: "OdgmReady", status, message: "as the condition says" }],
});
const fn = (ready: boolean): ClassRuntimeStatus => ({
  functions: [
    { function_key: "add", ready, message: "as its status says", service: "add", predicted_url: "", template: "edge" },
  ],
});
const template = (rest: object = {}): ClassRuntimeStatus => ({ template: { name: "edge", basis: "score", ...rest } });
const rollOut = (state: "waits" | "halted" | "refused"): Change["to"] =>
  template({ roll_out: { state, revision: "1", message: "as its status says" } });

/** One change for every event that is not named after a reason. */
const CHANGES: readonly Change[] = [
  { when: "a template is chosen, or another one, or another revision of it", to: template() },
  { when: "a new revision of its template has to wait for its turn", from: template(), to: rollOut("waits") },
  { when: "another class failed with the new revision", from: template(), to: rollOut("halted") },
  { when: "the new revision cannot be used", from: template(), to: rollOut("refused") },
  { when: "its children are being made", to: { phase: "applying", message: "as its status says" } },
  { when: "its workloads are not ready yet", to: { phase: "progressing", message: "as its status says" } },
  { when: "everything is ready", to: { phase: "available", message: "as its status says" } },
  { when: "it is degraded for no reason of the list below", to: { phase: "degraded", message: "as its status says" } },
  { when: "it is being deleted", to: { phase: "deleting", message: "as its status says" } },
  { when: "its state store became ready", from: store("False"), to: store("True") },
  { when: "its state store is no longer ready", from: store("True"), to: store("False") },
  { when: "a function became ready", from: fn(false), to: fn(true) },
  { when: "a function is no longer ready; a warning when a fault is the reason", from: fn(true), to: fn(false) },
  { when: "a function was taken out of the class", from: fn(true), to: {} },
];

/** The events that the changes above make, through the very function that the manager uses. */
export function eventRows(): string[][] {
  return CHANGES.map(({ when, from, to }) => {
    const told = happenings(from, to, { apiVersion: "oaas.io/v1alpha1", kind: "ClassRuntime", name: "counter" });
    const event = told.at(-1);
    if (event === undefined) throw new Error(`nothing is told when ${when}`);
    return [`\`${event.reason}\``, event.type, event.action, when];
  });
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
    "Written by the class runtime manager about the `ClassRuntime` or `DeploymentRecord`, by `oaas.io/oprc-crm`, with the correlation id as an annotation. An Event is told once for a",
    "change; the same again within a short time is counted into one series.\n",
    table(["Reason", "Type", "Action", "When"], eventRows()),
    "",
    `A class that has a fault tells a warning with the reason itself, and what to do in its note: ${faults.map((reason) => `[${reason}](reasons.md#${reason.toLowerCase()})`).join(", ")}.`,
    "",
  ].join("\n");
}

type Topic = (typeof EVENT_TOPICS)[number];

const STORED = "`added`, `changed`, `removed`, `resync`";

const TOPICS: Readonly<Record<Topic, { readonly types: string; readonly object: string }>> = {
  deployment: { types: STORED, object: "[OClassDeployment](rest.md#oclassdeployment)" },
  operation: {
    types: "`progress`, `removed`, `resync`",
    object:
      "how far a saga has come: the `operation` of [DeploymentStatus](rest.md#deploymentstatus); its key is the deployment's",
  },
  cluster: { types: STORED, object: "`{ name, health }` with [ClusterHealth](rest.md#clusterhealth)" },
  "class-runtime": {
    types: "`changed` (also when it is new), `removed`, `resync`",
    object: "[ApiClassRuntime](rest.md#apiclassruntime)",
  },
  package: { types: STORED, object: "[OPackage](rest.md#opackage)" },
};

const INTRODUCTION = `# Events

<!-- Generated from packages/contracts/src/rest and apps/class-runtime-manager/src/lifecycle by \`npm run generate\`. Do not edit. -->

## The package manager's stream

\`GET /api/v1/events\` (\`?topic=\`, \`?key=\`) and \`GET /api/v1/deployments/{key}/events\` are server-sent events; \`oaas events\` follows them. The name of an event is its topic, its data a
[StreamEvent](rest.md#streamevent).
`;

const RESUMING = `\`resync\` means: something may have been missed; read anew. A reader that was cut off sends the last id as \`last-event-id\` and goes on without a gap, on an etcd also at another process or after a restart for what is stored
(\`deployment\`, \`operation\`, \`package\`, when it follows one topic); where the log, 10,000 events, does not reach, it gets a \`resync\`.
`;
