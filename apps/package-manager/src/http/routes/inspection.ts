import { omitUndefined, runtimeConditions, runtimeObject, runtimePods, runtimeSignals } from "@oaas/contracts/rest";
import type { UnitId } from "@oaas/models";
import type { RuntimeInspection } from "../../use-cases.ts";
import { json, type HandlersOf } from "../handler.ts";
import { clusterIn, type Parameters } from "./parameters.ts";

/** Handlers of reads about one class runtime. */
export function inspectionHandlers(inspection: RuntimeInspection): HandlersOf<"inspection"> {
  return {
    getClassRuntimeSignals: async ({ parameters, query, call }) => {
      const { component, range_seconds: rangeSeconds, step_seconds: stepSeconds } = query;
      const asked = omitUndefined({ component, rangeSeconds, stepSeconds });
      return json(runtimeSignals.toJson(await inspection.signals(idIn(parameters), asked, clusterIn(query), call)));
    },
    getClassRuntimeObject: async ({ parameters, query, call }) => {
      const { kind = "", object: name = "" } = parameters;
      const asked = omitUndefined({ kind, name, apiVersion: query.api_version });
      return json(runtimeObject.toJson(await inspection.object(idIn(parameters), asked, clusterIn(query), call)));
    },
    listClassRuntimePods: async ({ parameters, query, call }) =>
      json(runtimePods.toJson(await inspection.pods(idIn(parameters), clusterIn(query), call))),
    getClassRuntimeConditions: async ({ parameters, query, call }) =>
      json(runtimeConditions.toJson(await inspection.conditions(idIn(parameters), clusterIn(query), call))),
  };
}

function idIn(parameters: Parameters): UnitId {
  return parameters["id"] as UnitId;
}
