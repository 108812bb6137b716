import { conditionBeforeDegraded, DeploymentCondition, RevisionOutcome } from "@oaas/models";
import { z } from "zod";
import { choice } from "../../reading/fields.ts";
import { enumeration, property, type Codec } from "../../reading/resource.ts";
import { pascalCase, screamingSnakeCase } from "../../reading/spelling.ts";

const CONDITIONS = Object.values(DeploymentCondition);

/** Reads a condition as `Degraded`, or as `DEGRADED`, the spelling of deployments of the first clients. */
export const conditionInput = choice(
  DeploymentCondition,
  pascalCase,
  Object.fromEntries(CONDITIONS.map((word) => [screamingSnakeCase(word), word])),
);

/** A condition in the one spelling of the health vocabulary. */
export const healthCondition: Codec<DeploymentCondition, z.ZodEnum<Record<string, string>>> = {
  read: conditionInput,
  view: z.enum(CONDITIONS.map(pascalCase)),
  write: pascalCase,
};

/** The words of earlier releases, which package managers of those releases return. */
const FIRST_OUTCOMES = {
  running: RevisionOutcome.accepted,
  succeeded: RevisionOutcome.accepted,
  failed: RevisionOutcome.failed,
  compensated: RevisionOutcome.rolledBack,
  cancelled: RevisionOutcome.cancelled,
};

/** The outcome of a revision. */
export const revisionOutcome = {
  ...enumeration(RevisionOutcome, pascalCase, FIRST_OUTCOMES),
  view: z.enum([...Object.values(RevisionOutcome).map(pascalCase), ...Object.keys(FIRST_OUTCOMES)]),
};

/**
 * A condition in a document that the first clients read: `health` has the word of the vocabulary, and `condition` one of
 * the words that those clients know.
 */
export function aliasedCondition(spell: (word: DeploymentCondition) => string, words: readonly DeploymentCondition[]) {
  return property({
    fields: {
      health: {
        input: conditionInput.nullish(),
        view: z.enum(CONDITIONS.map(pascalCase)).optional(),
        description: "Condition in the words of the health reference.",
      },
      condition: {
        input: conditionInput.nullish(),
        view: z.enum(words.map(spell)),
        description: `\`health\` for clients that do not know \`Degraded\`, which is \`${spell("deploying")}\` here.`,
      },
    },
    read: ({ health, condition }): DeploymentCondition => health ?? condition ?? DeploymentCondition.pending,
    write: (value: DeploymentCondition) => {
      const known = conditionBeforeDegraded(value);
      return {
        health: pascalCase(value),
        condition: spell(words.includes(known) ? known : DeploymentCondition.pending),
      };
    },
  });
}
