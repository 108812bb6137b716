/** Clusters that do as they are told, many in one process, so that they take no time of the manager under measurement. */
import { ScriptedCrm } from "../../apps/package-manager/test/fakes/scripted-crm.ts";
import { answerQuestions } from "./helper.ts";

export type ClusterQuestion =
  /** Answers their addresses; those with a delay answer Deploy and Delete so late. */
  | { readonly do: "start"; readonly count: number; readonly delayMs: number }
  /** Connections to the last ones are accepted and never answered. */
  | { readonly do: "mute"; readonly last: number }
  /** Answers what each cluster holds, and when it was last asked to deploy something. */
  | { readonly do: "tell" };

/** What one cluster holds. */
export interface ClusterFigures {
  readonly units: readonly { readonly id: string; readonly deployment: string }[];
  readonly deploys: number;
  readonly mostAtOnce: number;
}

const clusters: ScriptedCrm[] = [];

answerQuestions(async (question: ClusterQuestion): Promise<unknown> => {
  switch (question.do) {
    case "start": {
      const added = await Promise.all(
        Array.from({ length: question.count }, (_, index) =>
          ScriptedCrm.start({ name: `c${String(clusters.length + index).padStart(3, "0")}` }),
        ),
      );
      if (question.delayMs > 0)
        for (const crm of added) crm.always({ do: "slow", ms: question.delayMs }, "Deploy", "DeleteDeployment");
      clusters.push(...added);
      return Object.fromEntries(added.map((crm) => [crm.facts.name, crm.url]));
    }
    case "mute":
      for (const crm of clusters.slice(-question.last)) crm.mute();
      return undefined;
    case "tell":
      return clusters.map((crm): ClusterFigures => ({
        units: crm.units.all().map(({ unit }) => ({ id: unit.id, deployment: unit.deploymentKey ?? "" })),
        deploys: crm.callsOf("Deploy").length,
        mostAtOnce: crm.mostAtOnce("Deploy"),
      }));
  }
});
