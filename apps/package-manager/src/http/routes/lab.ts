import { invalidArgument, notFound } from "@oaas/foundation";
import type { Lab } from "../../use-cases.ts";
import { json, type HandlersOf, type HttpReply } from "../handler.ts";

/** Handlers of fault injection; without a lab they answer 404. */
export function labHandlers(lab: Lab | undefined): HandlersOf<"lab"> {
  const offered = (): Lab => {
    if (lab !== undefined) return lab;
    throw notFound("lab", "of this package manager: faults can be injected into the local stack (npm start) only");
  };
  const stateReply = (): HttpReply => {
    const { clusters, faults, injected } = offered().state();
    return json({ clusters, faults, injected });
  };
  return {
    getLab: async () => stateReply(),
    injectFault: async ({ body }) => {
      await offered().inject(body);
      return stateReply();
    },
    removeFaults: async ({ body: { fault, cluster } }) => {
      if (fault !== undefined && cluster !== undefined) await offered().remove({ fault, cluster });
      else if (fault === undefined && cluster === undefined) await offered().removeAll();
      else throw halfNamed(fault === undefined ? "fault" : "cluster");
      return stateReply();
    },
  };
}

function halfNamed(missing: string): Error {
  const fix = "name both, or neither to remove all faults";
  return invalidArgument("the fault", [{ path: `$.${missing}`, message: "is missing", fix }]);
}
