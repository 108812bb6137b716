import type { z } from "zod";
import { clusterRoutes, runtimeRoutes } from "./clusters.ts";
import { deploymentRoutes } from "./deployments.ts";
import { documentRoutes } from "./documents.ts";
import { freezeWindowRoutes } from "./freeze-windows.ts";
import { inspectionRoutes } from "./inspection.ts";
import { labRoutes } from "./lab.ts";
import { overviewRoutes } from "./overview.ts";
import { packageRoutes } from "./packages.ts";
import type { Route } from "./route.ts";
import { stateObjectRoutes } from "./state-objects.ts";
import { sessionRoutes } from "./session.ts";
import { auditRoutes, catalogueRoutes, notOfferedRoutes, serviceRoutes } from "./service.ts";

/**
 * Every route of the package manager by its operation id. The server mounts this table, the client calls by it, and the
 * OpenAPI document is generated from it.
 */
export const ROUTES = {
  ...packageRoutes,
  ...deploymentRoutes,
  ...stateObjectRoutes,
  ...documentRoutes,
  ...overviewRoutes,
  ...runtimeRoutes,
  ...inspectionRoutes,
  ...clusterRoutes,
  ...freezeWindowRoutes,
  ...catalogueRoutes,
  ...auditRoutes,
  ...sessionRoutes,
  ...labRoutes,
  ...serviceRoutes,
  ...notOfferedRoutes,
} as const satisfies Readonly<Record<string, Route>>;

export type OperationId = keyof typeof ROUTES;

/** The names of the query parameters of an operation. */
export type QueryParameter<Id extends OperationId> = (typeof ROUTES)[Id] extends {
  readonly query: infer Query extends z.ZodType;
}
  ? keyof z.output<Query>
  : never;

/** Every route with its operation id, in table order. */
export function allRoutes(): readonly (Route & { readonly operationId: OperationId })[] {
  return Object.entries(ROUTES).map(([operationId, route]) => ({ ...route, operationId: operationId as OperationId }));
}
