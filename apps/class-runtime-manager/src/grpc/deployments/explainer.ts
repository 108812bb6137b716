import type { Clock } from "@oaas/foundation";
import { explain } from "../../explain/explain.ts";
import type { Explanation } from "../../explain/explanation.ts";
import type { Observation } from "../../lifecycle/observation/observation.ts";
import { classParts } from "../../mapping/unit/class-runtime-to-unit.ts";
import { deploymentIdOf } from "../../mapping/object-identity.ts";
import type { StoredClass } from "../../classes/ports.ts";

/** Tells why a class runtime is as it is. */
export interface Explainer {
  explain(object: StoredClass, functionKey: string | undefined, signal: AbortSignal): Promise<Explanation>;
}

/** Explains from a look at the cluster now; `observe` is the same look the controller takes. */
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
