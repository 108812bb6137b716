import { z } from "zod";
import { listedOperationView, overviewView } from "../resources/service/overview.ts";
import { pageQuery, parameters, queryText } from "./query.ts";
import { BASE, type Route } from "./route.ts";

const OPERATION_STATES = ["running", "succeeded", "failed", "compensating", "compensated", "cancelled"] as const;
const OPERATION_KINDS = ["deploy", "delete", "roll_back", "repair"] as const;

/** What is going on, over everything. */
export const overviewRoutes = {
  getOverview: {
    method: "GET",
    path: `${BASE}/overview`,
    tag: "overview",
    summary: "Read the state of everything in numbers: conditions, health, operations, violations and recent changes",
    role: "viewer",
    since: "ours",
    response: { status: 200, description: "From memory; clusters as last reported.", schema: overviewView },
    faults: [],
  },
  listOperations: {
    method: "GET",
    path: `${BASE}/operations`,
    tag: "overview",
    summary: "List the newest operation of each deployment, newest first",
    role: "viewer",
    since: "ours",
    query: parameters({
      state: z.enum(OPERATION_STATES).optional(),
      kind: z.enum(OPERATION_KINDS).optional(),
      filter: queryText(),
      ...pageQuery,
    }),
    response: { status: 200, description: "Operations.", schema: z.array(listedOperationView) },
    faults: [],
    paged: true,
  },
} as const satisfies Readonly<Record<string, Route>>;
