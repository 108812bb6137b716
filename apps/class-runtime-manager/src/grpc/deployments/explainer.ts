import type { Clock } from "@oaas/foundation";
import { explain } from "../../explain/explain.ts";
import type { Explanation } from "../../explain/explanation.ts";
import type { Observation } from "../../lifecycle/observation/observation.ts";
import { classParts } from "../../mapping/unit/class-runtime-to-unit.ts";
import { deploymentIdOf } from "../../mapping/object-identity.ts";
import type { StoredClass } from "../../classes/ports.ts";

/** Explains the state of a class runtime. */
export interface Explainer {
  explain(object: StoredClass, functionKey: string | undefined, signal: AbortSignal): Promise<Explanation>;
}

/** Explains a class from a new observation, taken as the controller takes it. */
export function createExplainer(
  observe: (object: StoredClass, signal: AbortSignal) => Promise<Observation>,
  clock: Clock,
): Explainer {
  return {
    explain: async (object, functionKey, signal) => {
      const { spec, status, metadata } = object;
      const { classKey } = classParts(spec.package_class_key ?? "");
      const question = {
        deploymentId: deploymentIdOf(object),
        classKey: classKey === "" ? metadata.name : classKey,
        status,
        requested: spec,
        functionKey,
      };
      return explain(question, await observe(object, signal), clock.now());
    },
  };
}
