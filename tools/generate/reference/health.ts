import {
  CLUSTER_WORDS,
  CONDITION_WORDS,
  conditionBeforeDegraded,
  OUTCOME_WORDS,
  PHASE_WORDS,
  type DeploymentCondition,
  type HealthWord,
} from "@oaas/models";
import { pascalCase } from "@oaas/contracts/rest";
import type { Generator } from "../generator.ts";
import { table } from "./markdown.ts";

/** The reference page of the health vocabulary, from the words themselves. */
export const generator: Generator = {
  name: "health-reference",
  produce: async () => new Map([["docs/reference/health.md", healthReference()]]),
};

const meaningTable = (header: string, words: Readonly<Record<string, HealthWord>>): string =>
  table(
    [header, "Meaning"],
    Object.entries(words).map(([word, { meaning }]) => [`\`${pascalCase(word)}\``, meaning]),
  );

function conditionTable(): string {
  const conditions = Object.entries<HealthWord>(CONDITION_WORDS);
  return table(
    ["Condition", "Meaning", "`condition` for earlier clients"],
    conditions.map(([word, { meaning }]) => {
      const known = conditionBeforeDegraded(word as DeploymentCondition);
      return [`\`${pascalCase(word)}\``, meaning, `\`${pascalCase(known)}\`, \`${known.toUpperCase()}\``];
    }),
  );
}

function healthReference(): string {
  return `# Health

Generated from \`packages/models/src/health\`. Do not edit.

The words that the command line, the REST API, events and the live screen use for health, in one spelling. Filters such as
\`?condition=\`, \`?status=\`, \`--condition\` and \`wait --for\` accept them in any case.

## Deployments, units and functions

What serves is never \`Down\`. A unit _serves_ when each of its components answers requests, possibly with an earlier
revision or fewer replicas. It is _up to date_ when the cluster has accepted the desired revision and every ready replica
runs it. A deployment with a cluster that serves is at worst \`Degraded\`.

${conditionTable()}

| Where | Field |
| --- | --- |
| \`GET /api/v1/deployments/{key}/status\` | \`condition\`; \`desired_clusters\`, \`serving_clusters\`, \`up_to_date_clusters\`; per cluster \`condition\`, \`serving\`, \`up_to_date\`; per function \`health\`, \`desired_replicas\`, \`ready_replicas\`, \`updated_replicas\` |
| \`GET /api/v1/deployments\`, events of deployments | \`health\`; \`condition\` is for earlier clients, and \`PENDING\` when \`health\` is \`Unknown\` |
| \`GET /api/v1/class-runtimes\`, events of class runtimes | \`status.health\`, \`status.serving\`, \`status.up_to_date\`; \`status.condition\` is for earlier clients |
| \`GET /api/v1/topology\` | \`metadata.health\` and, of functions, \`metadata.replicas\`; \`status\` is \`healthy\`, \`degraded\`, \`unhealthy\`, \`pending\` or \`unknown\` for earlier clients |
| \`oaas deployment status\`, \`oaas runtime list\` | READY counts ready replicas of desired replicas, UP-TO-DATE ready replicas of the desired revision |

Clients of the earlier implementation do not know \`Degraded\`; they read \`Deploying\`: the desired state is not reached.

## Outcome of a revision

\`GET /api/v1/deployments/{key}/revisions\` and \`oaas deployment history\` show the outcome of each revision and, in
\`outcome_at\`, when it was reached. The status shows that of the current operation in \`operation.outcome\`;
\`operation.state\` is the progress of sending units to the clusters.

${meaningTable("Outcome", OUTCOME_WORDS)}

Entries that an earlier release called \`succeeded\` are \`Accepted\`: that release did not record whether the revision ran.

## Clusters

${meaningTable("Status", CLUSTER_WORDS)}

## Class runtimes in Kubernetes

\`status.phase\` of a ClassRuntime, in lower case.

${meaningTable("Phase", PHASE_WORDS)}

The condition of a unit follows from its phase and from the Kubernetes condition \`Available\`: \`degraded\` is \`Degraded\`
while the class serves, else \`Down\`.
`;
}
