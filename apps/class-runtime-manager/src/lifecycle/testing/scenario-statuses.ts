import { readdirSync, readFileSync } from "node:fs";
import type { ClassRuntimeStatus } from "@oaas/contracts/crd";
import { evaluate } from "../evaluate.ts";
import { runScenario } from "./scenario.ts";

/** A class as the lifecycle leaves it at a step of a scenario. */
export interface RecordedClass {
  /** Scenario and number of the step. */
  readonly name: string;
  readonly metadata: { readonly generation: number; readonly deletionTimestamp?: string };
  readonly status: ClassRuntimeStatus;
}

/** The class at every step of every recorded scenario. */
export function scenarioStatuses(): readonly RecordedClass[] {
  const folder = new URL("../testdata/", import.meta.url);
  const found: RecordedClass[] = [];
  for (const file of readdirSync(folder).filter((name) => name.endsWith(".txt"))) {
    let status: ClassRuntimeStatus | undefined;
    let step = 0;
    runScenario(readFileSync(new URL(file, folder), "utf8"), {
      look: (world) => {
        const observation = world.observation();
        status = evaluate(status, observation, world.nowMs).status;
        step += 1;
        const { generation, deleting } = observation;
        const deletion = deleting ? { deletionTimestamp: new Date(world.nowMs).toISOString() } : {};
        found.push({ name: `${file} ${step}`, metadata: { generation, ...deletion }, status });
        return [];
      },
    });
  }
  return found;
}
