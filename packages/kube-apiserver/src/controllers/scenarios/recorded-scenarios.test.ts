import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { applyMergePatch, isJsonObject, type JsonObject } from "@oaas/kube-core";
import { garbageCollector, namespaceController, workloadSimulation } from "../index.ts";
import { NAMESPACES, type Resource } from "../objects/resources.ts";
import { SCENARIOS } from "../testing/all-scenarios.ts";
import { Lab } from "../testing/lab.ts";
import { recordScenario, type Stage } from "../testing/scenario.ts";

const NAMESPACE = "scenarios";

/** The simulated cluster as a stage. */
function stageOf(lab: Lab): Stage {
  const named = (object: object): JsonObject => {
    const { metadata } = object as { metadata: object };
    return { ...object, metadata: { ...metadata, namespace: NAMESPACE } };
  };
  return {
    apply: async (kind: Resource, object: object) => void (await lab.create(kind, named(object))),
    async patch(kind, name, patch) {
      const live = lab.cluster.get(kind, { namespace: NAMESPACE, name });
      const next = applyMergePatch(live, patch);
      if (!isJsonObject(next)) throw new Error(`there is no ${kind.kind} ${name}`);
      const result = await lab.cluster.update(kind, next, "kubectl");
      if (!result.ok) throw new Error(result.error.message);
    },
    remove: async (kind, name) => void (await lab.cluster.delete(kind, { namespace: NAMESPACE, name }, {})),
    settle: () => lab.pass(5000),
    list: async (kind) => lab.cluster.list(kind, NAMESPACE),
  };
}

/** Recorded by `test/real-scenarios.test.ts` from the real controllers. */
describe("matches recordings of the real controllers", () => {
  test.each(SCENARIOS)("$name", async (scenario) => {
    const lab = await Lab.on("server");
    await lab.start(
      garbageCollector(lab.ports),
      namespaceController(lab.ports),
      workloadSimulation(lab.ports, { nodes: 3 }),
    );
    await lab.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    const recorded = await readFile(
      join(import.meta.dirname, "..", "testing", "recorded", `${scenario.name}.txt`),
      "utf8",
    );
    expect(await recordScenario(scenario, stageOf(lab))).toBe(recorded);
    expect(lab.problems).toEqual([]);
  });
});
