/** Clusters that do as they are told, many in one process, so that they take no time of the manager under measurement. */
import { ScriptedCrm } from "../../apps/package-manager/test/fakes/scripted-crm.ts";
import { RUNNING } from "../../apps/package-manager/test/fakes/scripted-units.ts";
import { answerQuestions } from "./helper.ts";

export type ClusterQuestion =
  /** Answers their addresses; those with a delay answer Deploy and Delete so late. */
  | { readonly do: "start"; readonly count: number; readonly delayMs: number }
  /** Connections to the last ones are accepted and never answered. */
  | { readonly do: "mute"; readonly last: number }
  /** Answers, as soon as so many clusters have a deployment, when on the wall clock the last of them took it. */
  | { readonly do: "arrival"; readonly deployment: string; readonly count: number }
  /** Answers what each cluster holds. */
  | { readonly do: "tell" };

const clusters: ScriptedCrm[] = [];
const arrivals = new Map<string, number[]>();
const waiting = new Set<() => void>();

function arrived(deployment: string): void {
  arrivals.set(deployment, [...(arrivals.get(deployment) ?? []), performance.timeOrigin + performance.now()]);
  for (const look of waiting) look();
}

function arrival(deployment: string, count: number): Promise<number> {
  return new Promise((resolve) => {
    const look = (): void => {
      const last = arrivals.get(deployment)?.[count - 1];
      if (last === undefined) return;
      waiting.delete(look);
      resolve(last);
    };
    waiting.add(look);
    look();
  });
}

answerQuestions(async (question: ClusterQuestion): Promise<unknown> => {
  switch (question.do) {
    case "start": {
      const added = await Promise.all(
        Array.from({ length: question.count }, (_, index) =>
          ScriptedCrm.start({ name: `c${String(clusters.length + index).padStart(3, "0")}` }),
        ),
      );
      for (const crm of added)
        crm.units.settle = ({ deploymentKey = "" }) => {
          arrived(deploymentKey);
          return RUNNING;
        };
      if (question.delayMs > 0)
        for (const crm of added) crm.always({ do: "slow", ms: question.delayMs }, "Deploy", "DeleteDeployment");
      clusters.push(...added);
      return Object.fromEntries(added.map((crm) => [crm.facts.name, crm.url]));
    }
    case "mute":
      for (const crm of clusters.slice(-question.last)) crm.mute();
      return undefined;
    case "arrival":
      return arrival(question.deployment, question.count);
    case "tell":
      return clusters.map((crm) => crm.units.all().map(({ unit }) => unit.deploymentKey ?? ""));
  }
});
