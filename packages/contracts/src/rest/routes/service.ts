import { z } from "zod";
import { topologyView } from "../resources/cluster/topology.ts";
import { classView } from "../resources/package/class.ts";
import { functionView } from "../resources/package/function.ts";
import { auditEntryView } from "../resources/service/audit-entry.ts";
import { readinessView, serviceHealthView } from "../resources/service/service-health.ts";
import { EVENT_TOPICS, streamEventView } from "../resources/service/stream-event.ts";
import { pageQuery, parameters, queryInteger, queryText, queryTime } from "./query.ts";
import { BASE, EVENT_STREAM, type Route } from "./route.ts";

/** A topology has six types of nodes. */
const NODE_RANGE = { min: 6, max: 10_000 };

/** Classes, functions, topology and events of all packages. */
export const catalogueRoutes = {
  getTopology: {
    method: "GET",
    path: `${BASE}/topology`,
    tag: "catalogue",
    summary: "Read the topology, from the plans or from the clusters (source=zenoh)",
    role: "viewer",
    since: "upstream",
    query: parameters({ source: queryText(), package_name: queryText(), max_nodes: queryInteger(NODE_RANGE) }),
    response: { status: 200, description: "Nodes and edges.", schema: topologyView },
    faults: ["unavailable"],
  },
  listClasses: {
    method: "GET",
    path: `${BASE}/classes`,
    tag: "catalogue",
    summary: "List the classes of all packages, with keys of the form package.Class",
    role: "viewer",
    since: "seed",
    query: parameters({ filter: queryText(), ...pageQuery }),
    response: { status: 200, description: "Classes.", schema: z.array(classView) },
    faults: [],
    paged: true,
  },
  listFunctions: {
    method: "GET",
    path: `${BASE}/functions`,
    tag: "catalogue",
    summary: "List the functions of all packages",
    role: "viewer",
    since: "seed",
    query: parameters({ filter: queryText(), ...pageQuery }),
    response: { status: 200, description: "Functions.", schema: z.array(functionView) },
    faults: [],
    paged: true,
  },
  streamEvents: {
    method: "GET",
    path: `${BASE}/events`,
    tag: "events",
    summary: "Stream events of deployments, operations, clusters and packages; each event's data is a StreamEvent",
    role: "viewer",
    since: "ours",
    query: parameters({ topic: z.enum(EVENT_TOPICS).optional(), key: queryText() }),
    response: { status: 200, description: "Server-sent events.", schema: streamEventView, mediaType: EVENT_STREAM },
    faults: [],
  },
} as const satisfies Readonly<Record<string, Route>>;

/** The audit trail. */
export const auditRoutes = {
  listAudit: {
    method: "GET",
    path: `${BASE}/audit`,
    tag: "audit",
    summary: "List attempted changes, newest first. The total counts all kept entries, before filters",
    role: "admin",
    since: "ours",
    query: parameters({
      actor: queryText(),
      action: queryText(),
      target: queryText(),
      outcome: z.enum(["started", "succeeded", "refused", "failed"]).optional(),
      since: queryTime(),
      limit: pageQuery.limit,
      page_token: pageQuery.page_token,
    }),
    response: {
      status: 200,
      description: "Audit entries. A page may have fewer entries than `limit` although more follow.",
      schema: z.array(auditEntryView),
    },
    faults: [],
    paged: true,
  },
} as const satisfies Readonly<Record<string, Route>>;

/** Health, metrics and documentation of the package manager. */
export const serviceRoutes = {
  getHealth: {
    method: "GET",
    path: "/health",
    tag: "service",
    summary: "Check the health of the package manager and its store",
    role: "public",
    since: "seed",
    response: { status: 200, description: "Healthy.", schema: serviceHealthView },
    otherResponses: [{ status: 503, description: "The store does not respond.", schema: serviceHealthView }],
    faults: [],
  },
  getReadiness: {
    method: "GET",
    path: "/readyz",
    tag: "service",
    summary: "Check whether the package manager accepts requests",
    role: "public",
    since: "ours",
    response: { status: 200, description: "Ready.", schema: readinessView },
    otherResponses: [{ status: 503, description: "Not ready; see the failed checks.", schema: readinessView }],
    faults: [],
  },
  getMetrics: {
    method: "GET",
    path: "/metrics",
    tag: "service",
    summary: "Read metrics in the Prometheus text format, or as OpenMetrics with exemplars by the Accept header",
    role: "viewer",
    since: "seed",
    response: { status: 200, description: "Metrics.", mediaType: "text/plain" },
    faults: [],
  },
  getOpenApi: {
    method: "GET",
    path: "/openapi.json",
    tag: "service",
    summary: "Read this OpenAPI document",
    role: "public",
    since: "ours",
    response: { status: 200, description: "The OpenAPI 3.1 document.", schema: z.record(z.string(), z.unknown()) },
    faults: [],
  },
  getRoot: {
    method: "GET",
    path: "/",
    tag: "service",
    summary: "Open the console; without a console, go to this document as an HTML page",
    role: "public",
    since: "ours",
    response: { status: 302, description: "The address is in the `Location` header.", headers: ["Location"] },
    otherResponses: [{ status: 200, description: "The console.", mediaType: "text/html" }],
    faults: [],
  },
  getReferencePage: {
    method: "GET",
    path: "/docs",
    tag: "service",
    summary: "Read this document as an HTML page",
    role: "public",
    since: "ours",
    response: { status: 200, description: "An HTML page.", mediaType: "text/html" },
    faults: [],
  },
} as const satisfies Readonly<Record<string, Route>>;

const notOffered = {
  tag: "not offered",
  role: "viewer",
  since: "upstream",
  response: { status: 204, description: "Never." },
  faults: ["unimplemented"],
  offered: false,
} as const;

/** Paths of the earlier implementation's script service and gateway proxy, which belong to the data plane; not implemented. */
export const notOfferedRoutes = {
  listArtifacts: { ...notOffered, method: "GET", path: `${BASE}/artifacts`, summary: "Artifacts" },
  getArtifact: { ...notOffered, method: "GET", path: `${BASE}/artifacts/{id}`, summary: "Artifacts" },
  compileScript: { ...notOffered, method: "POST", path: `${BASE}/scripts/compile`, summary: "Scripts" },
  buildScript: { ...notOffered, method: "POST", path: `${BASE}/scripts/build`, summary: "Scripts" },
  testScript: { ...notOffered, method: "POST", path: `${BASE}/scripts/test`, summary: "Scripts" },
  deployScript: { ...notOffered, method: "POST", path: `${BASE}/scripts/deploy`, summary: "Scripts" },
  getScript: { ...notOffered, method: "GET", path: `${BASE}/scripts/{package}/{function}`, summary: "Scripts" },
  gatewayGet: { ...notOffered, method: "GET", path: "/api/gateway/{path}", summary: "Gateway proxy, any path below" },
  gatewayPost: { ...notOffered, method: "POST", path: "/api/gateway/{path}", summary: "Gateway proxy, any path below" },
  gatewayPut: { ...notOffered, method: "PUT", path: "/api/gateway/{path}", summary: "Gateway proxy, any path below" },
  gatewayDelete: {
    ...notOffered,
    method: "DELETE",
    path: "/api/gateway/{path}",
    summary: "Gateway proxy, any path below",
  },
} as const satisfies Readonly<Record<string, Route>>;
