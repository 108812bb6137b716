import {
  classRuntimeToWire,
  enforcementReportToWire,
  HEADERS,
  omitUndefined,
  pascalCase,
  unitStatusToWire,
  type classRuntimeSummaryView,
} from "@oaas/contracts/rest";
import type { ClassRuntime, UnitId } from "@oaas/models";
import type { z } from "zod";
import type { RuntimeListQuery, StatusReader } from "../../use-cases.ts";
import { json, type HandlersOf, type HttpRequest } from "../handler.ts";
import { clusterIn, conditionIn, pageRequestOf } from "./parameters.ts";
import { pageHeaders } from "./replies.ts";

/** Handlers of the class runtimes of all clusters. */
export function classRuntimeHandlers(status: StatusReader): HandlersOf<"class-runtimes"> {
  return {
    listClassRuntimes: async ({ query }) => {
      const page = await status.runtimes(runtimeQueryOf(query));
      return json(page.items.map(classRuntimeToWire), runtimePageHeaders(page));
    },
    listClassRuntimeSummaries: async ({ query }) => {
      const page = await status.runtimes(runtimeQueryOf(query));
      return json(page.items.map(runtimeSummaryToWire), runtimePageHeaders(page));
    },
    getClassRuntime: async ({ parameters, query }) =>
      json(classRuntimeToWire(await status.unit(parameters["id"] as UnitId, clusterIn(query)))),
    getEnforcement: async ({ parameters, query }) =>
      json(enforcementReportToWire(await status.enforcement(parameters["id"] as UnitId, clusterIn(query)))),
    getUnitStatus: async ({ parameters, query }) =>
      json(unitStatusToWire(await status.unit(parameters["id"] as UnitId, clusterIn(query)))),
  };
}

function runtimeQueryOf(query: HttpRequest<"listClassRuntimes">["query"]): RuntimeListQuery {
  const filter = omitUndefined({
    packageName: query.package_name,
    classKey: query.class_key,
    environment: query.environment,
    condition: conditionIn("status", query.status),
    cluster: clusterIn(query),
    filter: query.filter,
    sort: query.sort,
  });
  return { ...pageRequestOf(query), ...filter };
}

function runtimePageHeaders(page: Awaited<ReturnType<StatusReader["runtimes"]>>): Record<string, string> {
  const missing = page.missing.length === 0 ? {} : { [HEADERS.missingClusters]: page.missing.join(",") };
  return { ...pageHeaders(page), ...missing };
}

function runtimeSummaryToWire(runtime: ClassRuntime): z.output<typeof classRuntimeSummaryView> {
  const { functions = [], condition = "unknown" } = runtime.status ?? {};
  return {
    id: runtime.id,
    package_name: runtime.packageName,
    class_key: runtime.classKey,
    cluster_name: runtime.cluster ?? null,
    condition: pascalCase(condition),
    ready_replicas: functions.reduce((sum, { readyReplicas = 0 }) => sum + readyReplicas, 0),
    desired_replicas: functions.reduce((sum, { desiredReplicas = 0 }) => sum + desiredReplicas, 0),
    compliance: runtime.nfrCompliance?.overall ?? null,
    updated_at: runtime.updatedAt,
  };
}
