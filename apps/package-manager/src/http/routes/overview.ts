import {
  omitUndefined,
  operationToWire,
  pascalCase,
  type listedOperationView,
  type overviewView,
} from "@oaas/contracts/rest";
import type { z } from "zod";
import type { ListedOperation, Overview, OverviewReport, ViolatedRequirement } from "../../use-cases.ts";
import { json, type HandlersOf } from "../handler.ts";
import { pageRequestOf } from "./parameters.ts";
import { pageHeaders } from "./replies.ts";

/** Handlers of the overview, and of the list of operations. */
export function overviewHandlers(overview: Overview): HandlersOf<"overview"> {
  return {
    getOverview: async ({ call }) => json(overviewToWire(await overview.read(call))),
    listOperations: async ({ query }) => {
      const { state, kind, filter } = query;
      const page = overview.operations({ ...pageRequestOf(query), ...omitUndefined({ state, kind, filter }) });
      return json(page.items.map(listedOperationToWire), pageHeaders(page));
    },
  };
}

function overviewToWire(report: OverviewReport): z.output<typeof overviewView> {
  const { deployments, classRuntimes, packages, clusters, operations, violations, recentChanges, at } = report;
  return {
    deployments: {
      total: deployments.total,
      by_condition: spelled(deployments.byCondition),
      paused: deployments.paused,
    },
    class_runtimes: { total: classRuntimes.total, by_condition: spelled(classRuntimes.byCondition) },
    packages: { ...packages },
    clusters: { total: clusters.total, by_status: spelled(clusters.byStatus), cordoned: clusters.cordoned },
    operations: { ...operations, items: operations.items.map(listedOperationToWire) },
    violations: { total: violations.total, items: violations.items.map(violationToWire) },
    recent_changes: recentChanges.map(({ author = null, reason = null, outcome = null, ...change }) => {
      return { ...change, author, reason, outcome };
    }),
    at,
  };
}

function listedOperationToWire(operation: ListedOperation): z.output<typeof listedOperationView> {
  const { key, startedAt, endedAt = null, requestedBy } = operation;
  const listed = { started_at: startedAt, ended_at: endedAt, requested_by: requestedBy };
  return { deployment_key: key, ...operationToWire(operation), ...listed };
}

function violationToWire({
  runtime,
  deploymentKey,
  measurement,
}: ViolatedRequirement): z.output<typeof overviewView>["violations"]["items"][number] {
  const { component, requirement, required, observed = null, unit, since = null } = measurement;
  return {
    id: runtime.id,
    cluster: runtime.cluster ?? "",
    deployment_key: deploymentKey ?? null,
    package_name: runtime.packageName,
    class_key: runtime.classKey,
    component,
    requirement,
    required,
    observed,
    unit,
    since,
  };
}

function spelled(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).map(([word, count]) => [pascalCase(word), count]));
}
