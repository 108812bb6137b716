import { z } from "zod";
import {
  clusterQuery,
  clusterQueryContradiction,
  pageQuery,
  parameters,
  queryFlag,
  queryList,
  querySort,
  queryText,
  queryWhole,
} from "./query.ts";
import {
  acceptedView,
  acknowledgementView,
  clusterMappingsView,
  deletionView,
  packageAcknowledgementView,
} from "./resources/acknowledgement.ts";
import { classDeploymentView, deploymentRequestInput } from "./resources/class-deployment.ts";
import { classRuntimeView } from "./resources/class-runtime.ts";
import { classView } from "./resources/class.ts";
import {
  clusterHealthView,
  clusterRegistrationInput,
  clusterRegistrationView,
  clusterView,
} from "./resources/cluster.ts";
import { deploymentStatusView, unitStatusView } from "./resources/deployment-status.ts";
import { explanationView } from "./resources/explanation.ts";
import { functionView } from "./resources/function.ts";
import { packageInput, packageView } from "./resources/package.ts";
import { planRequestInput, planView } from "./resources/plan.ts";
import {
  deploymentRevisionView,
  diffView,
  packageRevisionView,
  revisionView,
  rollbackInput,
} from "./resources/revision.ts";
import { readinessView, serviceHealthView } from "./resources/service-health.ts";
import { EVENT_TOPICS, streamEventView } from "./resources/stream-event.ts";
import { topologyView } from "./resources/topology.ts";
import type { Route } from "./route.ts";

/**
 * Every route of the Package Manager. The one list from which the server mounts, the client calls and the OpenAPI
 * document is made.
 *
 * Order: packages, deployments, plans, class runtimes, clusters, catalogue, events, the service itself, not offered.
 */

const BASE = "/api/v1";
const EVENT_STREAM = "text/event-stream";

const revisionNumber = { min: 1, max: Number.MAX_SAFE_INTEGER };
const diffQuery = parameters({ from: queryWhole(revisionNumber), to: queryWhole(revisionNumber) });
const oneCluster = parameters(clusterQuery, clusterQueryContradiction);
const packageWriteQuery = parameters({ apply_deployments: queryFlag(), dry_run: queryFlag(), reason: queryText() });

const runtimeQuery = parameters(
  {
    package_name: queryText(),
    class_key: queryText(),
    environment: queryText(),
    ...clusterQuery,
    status: queryText(),
    ...pageQuery,
  },
  clusterQueryContradiction,
);

const packageRoutes = {
  createPackage: {
    method: "POST",
    path: `${BASE}/packages`,
    tag: "packages",
    summary: "Register a package",
    role: "deployer",
    since: "seed",
    query: packageWriteQuery,
    body: packageInput,
    answer: {
      status: 201,
      description: "Registered as revision 1.",
      schema: packageAcknowledgementView,
      headers: ["ETag"],
    },
    otherAnswers: [{ status: 200, description: "Dry run: nothing was written.", schema: packageAcknowledgementView }],
    faults: ["already-exists", "failed-precondition"],
    idempotent: true,
  },
  listPackages: {
    method: "GET",
    path: `${BASE}/packages`,
    tag: "packages",
    summary: "List packages",
    role: "viewer",
    since: "seed",
    query: parameters({
      name_pattern: queryText(),
      disabled: queryFlag(),
      tags: queryList(),
      sort: querySort(["name", "created_at", "updated_at"]),
      ...pageQuery,
    }),
    answer: { status: 200, description: "Packages in stable order.", schema: z.array(packageView) },
    faults: [],
    paged: true,
  },
  getPackage: {
    method: "GET",
    path: `${BASE}/packages/{name}`,
    tag: "packages",
    summary: "Read a package",
    role: "viewer",
    since: "seed",
    answer: { status: 200, description: "The package.", schema: packageView },
    faults: ["not-found"],
    versioned: true,
  },
  updatePackage: {
    method: "POST",
    path: `${BASE}/packages/{name}`,
    tag: "packages",
    summary: "Update a package; its name must match the path",
    role: "deployer",
    since: "seed",
    query: packageWriteQuery,
    body: packageInput,
    answer: { status: 200, description: "Stored as a new revision.", schema: packageAcknowledgementView },
    faults: ["not-found", "conflict", "failed-precondition"],
    versioned: true,
    idempotent: true,
  },
  deletePackage: {
    method: "DELETE",
    path: `${BASE}/packages/{name}`,
    tag: "packages",
    summary: "Delete a package; rejected while it has deployments or dependents, unless cascade is set",
    role: "deployer",
    since: "seed",
    query: parameters({ cascade: queryFlag() }),
    answer: { status: 204, description: "Deleted." },
    otherAnswers: [{ status: 202, description: "Its deployments are being deleted first.", schema: acceptedView }],
    faults: ["not-found", "failed-precondition", "conflict"],
    versioned: true,
  },
  listPackageRevisions: {
    method: "GET",
    path: `${BASE}/packages/{name}/revisions`,
    tag: "packages",
    summary: "List the revisions of a package, newest first",
    role: "viewer",
    since: "ours",
    query: parameters(pageQuery),
    answer: { status: 200, description: "Revisions with author, time and reason.", schema: z.array(revisionView) },
    faults: ["not-found"],
    paged: true,
  },
  getPackageRevision: {
    method: "GET",
    path: `${BASE}/packages/{name}/revisions/{revision}`,
    tag: "packages",
    summary: "Read one revision of a package",
    role: "viewer",
    since: "ours",
    answer: { status: 200, description: "The revision and its package.", schema: packageRevisionView },
    faults: ["not-found"],
  },
  diffPackage: {
    method: "GET",
    path: `${BASE}/packages/{name}/diff`,
    tag: "packages",
    summary: "Compare two revisions of a package; default: the last two",
    role: "viewer",
    since: "ours",
    query: diffQuery,
    answer: { status: 200, description: "The differences.", schema: diffView },
    faults: ["not-found"],
  },
  rollBackPackage: {
    method: "POST",
    path: `${BASE}/packages/{name}/rollback`,
    tag: "packages",
    summary: "Restore an earlier revision of a package as a new revision",
    role: "deployer",
    since: "ours",
    body: rollbackInput,
    answer: { status: 200, description: "Stored as a new revision.", schema: acknowledgementView },
    faults: ["not-found", "conflict", "failed-precondition"],
    versioned: true,
    idempotent: true,
  },
} as const satisfies Readonly<Record<string, Route>>;

const deploymentFaults = ["not-found", "conflict", "failed-precondition", "unavailable", "deadline-exceeded"] as const;
const acceptedEverywhere = {
  status: 200,
  description: "Accepted by every cluster.",
  schema: acknowledgementView,
  headers: ["ContentLocation"],
} as const;

const deploymentRoutes = {
  createDeployment: {
    method: "POST",
    path: `${BASE}/deployments`,
    tag: "deployments",
    summary: "Deploy a class, or update an existing deployment",
    role: "deployer",
    since: "seed",
    query: parameters({ reason: queryText() }),
    body: deploymentRequestInput,
    answer: acceptedEverywhere,
    otherAnswers: [{ status: 202, description: "Still in progress; poll the status URL.", schema: acceptedView }],
    faults: deploymentFaults,
    versioned: true,
    idempotent: true,
  },
  listDeployments: {
    method: "GET",
    path: `${BASE}/deployments`,
    tag: "deployments",
    summary: "List deployments",
    role: "viewer",
    since: "seed",
    query: parameters({
      package_name: queryText(),
      class_key: queryText(),
      target_env: queryText(),
      target_cluster: queryText(),
      condition: queryText(),
      sort: querySort(["key", "created_at", "updated_at"]),
      ...pageQuery,
    }),
    answer: { status: 200, description: "Deployments in stable order.", schema: z.array(classDeploymentView) },
    faults: [],
    paged: true,
  },
  getDeployment: {
    method: "GET",
    path: `${BASE}/deployments/{key}`,
    tag: "deployments",
    summary: "Read a deployment",
    role: "viewer",
    since: "seed",
    answer: { status: 200, description: "The deployment.", schema: classDeploymentView },
    faults: ["not-found"],
    versioned: true,
  },
  putDeployment: {
    method: "PUT",
    path: `${BASE}/deployments/{key}`,
    tag: "deployments",
    summary: "Create or update a deployment; its key must match the path",
    role: "deployer",
    since: "ours",
    query: parameters({ reason: queryText() }),
    body: deploymentRequestInput,
    answer: acceptedEverywhere,
    otherAnswers: [{ status: 202, description: "Still in progress; poll the status URL.", schema: acceptedView }],
    faults: deploymentFaults,
    versioned: true,
    idempotent: true,
  },
  deleteDeployment: {
    method: "DELETE",
    path: `${BASE}/deployments/{key}`,
    tag: "deployments",
    summary: "Delete a deployment from all clusters or from one",
    role: "deployer",
    since: "seed",
    query: oneCluster,
    answer: {
      status: 200,
      description: "Deleted; removal from unreachable clusters completes later.",
      schema: deletionView,
    },
    otherAnswers: [{ status: 202, description: "Still in progress; poll the status URL.", schema: acceptedView }],
    faults: deploymentFaults,
    versioned: true,
  },
  getEnvMappings: {
    method: "GET",
    path: `${BASE}/deployments/{key}/env-mappings`,
    tag: "deployments",
    summary: "List the unit ids of a deployment by cluster",
    role: "viewer",
    since: "upstream",
    answer: { status: 200, description: "Unit ids by cluster; empty for an unknown key.", schema: clusterMappingsView },
    faults: [],
  },
  getClusterMappings: {
    method: "GET",
    path: `${BASE}/deployments/{key}/cluster-mappings`,
    tag: "deployments",
    summary: "List the unit ids of a deployment by cluster",
    role: "viewer",
    since: "upstream",
    aliasOf: "getEnvMappings",
    answer: { status: 200, description: "Unit ids by cluster; empty for an unknown key.", schema: clusterMappingsView },
    faults: [],
  },
  getDeploymentStatus: {
    method: "GET",
    path: `${BASE}/deployments/{key}/status`,
    tag: "deployments",
    summary: "Read the status of a deployment across all its clusters",
    role: "viewer",
    since: "ours",
    answer: { status: 200, description: "Status per cluster and overall.", schema: deploymentStatusView },
    faults: ["not-found"],
  },
  explainDeployment: {
    method: "GET",
    path: `${BASE}/deployments/{key}/explain`,
    tag: "deployments",
    summary: "Explain why a deployment is not ready",
    role: "viewer",
    since: "ours",
    query: oneCluster,
    answer: {
      status: 200,
      description: "Findings from the class down to pod events, with suggested actions.",
      schema: explanationView,
    },
    faults: ["not-found"],
  },
  listDeploymentRevisions: {
    method: "GET",
    path: `${BASE}/deployments/{key}/revisions`,
    tag: "deployments",
    summary: "List the revisions of a deployment, newest first",
    role: "viewer",
    since: "ours",
    query: parameters(pageQuery),
    answer: {
      status: 200,
      description: "Desired state, plan and outcome of each revision.",
      schema: z.array(deploymentRevisionView),
    },
    faults: ["not-found"],
    paged: true,
  },
  getDeploymentRevision: {
    method: "GET",
    path: `${BASE}/deployments/{key}/revisions/{revision}`,
    tag: "deployments",
    summary: "Read one revision of a deployment",
    role: "viewer",
    since: "ours",
    answer: { status: 200, description: "Desired state, plan and outcome.", schema: deploymentRevisionView },
    faults: ["not-found"],
  },
  diffDeployment: {
    method: "GET",
    path: `${BASE}/deployments/{key}/diff`,
    tag: "deployments",
    summary: "Compare two revisions of a deployment; default: the last two",
    role: "viewer",
    since: "ours",
    query: diffQuery,
    answer: { status: 200, description: "The differences.", schema: diffView },
    faults: ["not-found"],
  },
  rollBackDeployment: {
    method: "POST",
    path: `${BASE}/deployments/{key}/rollback`,
    tag: "deployments",
    summary: "Roll a deployment back to an earlier revision",
    role: "deployer",
    since: "ours",
    body: rollbackInput,
    answer: acceptedEverywhere,
    otherAnswers: [{ status: 202, description: "Still in progress; poll the status URL.", schema: acceptedView }],
    faults: deploymentFaults,
    versioned: true,
    idempotent: true,
  },
  cancelDeployment: {
    method: "POST",
    path: `${BASE}/deployments/{key}/cancel`,
    tag: "deployments",
    summary: "Cancel the running operation of a deployment",
    role: "deployer",
    since: "ours",
    answer: { status: 200, description: "The status after cancellation.", schema: deploymentStatusView },
    faults: ["not-found", "failed-precondition"],
  },
  streamDeploymentEvents: {
    method: "GET",
    path: `${BASE}/deployments/{key}/events`,
    tag: "events",
    summary: "Stream the events of one deployment; each event's data is a StreamEvent",
    role: "viewer",
    since: "ours",
    answer: { status: 200, description: "Server-sent events.", schema: streamEventView, mediaType: EVENT_STREAM },
    faults: ["not-found"],
  },
  createPlan: {
    method: "POST",
    path: `${BASE}/plans`,
    tag: "plans",
    summary: "Plan a deployment without applying it",
    role: "viewer",
    since: "ours",
    body: planRequestInput,
    answer: { status: 200, description: "The plan with its digest.", schema: planView },
    faults: ["not-found", "failed-precondition", "unavailable"],
  },
} as const satisfies Readonly<Record<string, Route>>;

const listRuntimes = {
  method: "GET",
  tag: "class-runtimes",
  summary: "List class runtimes across all clusters",
  role: "viewer",
  since: "seed",
  query: runtimeQuery,
  answer: {
    status: 200,
    description: "Class runtimes; a header lists unreachable clusters.",
    schema: z.array(classRuntimeView),
    headers: ["MissingClusters"],
  },
  faults: [],
  paged: true,
} as const;

const getRuntime = {
  method: "GET",
  tag: "class-runtimes",
  summary: "Read a class runtime from one cluster or from any",
  role: "viewer",
  since: "seed",
  query: oneCluster,
  answer: { status: 200, description: "The class runtime.", schema: classRuntimeView },
  faults: ["not-found", "unavailable"],
} as const;

const runtimeRoutes = {
  listClassRuntimes: { ...listRuntimes, path: `${BASE}/class-runtimes` },
  listDeploymentRecords: { ...listRuntimes, path: `${BASE}/deployment-records`, aliasOf: "listClassRuntimes" },
  getClassRuntime: { ...getRuntime, path: `${BASE}/class-runtimes/{id}` },
  getDeploymentRecord: { ...getRuntime, path: `${BASE}/deployment-records/{id}`, aliasOf: "getClassRuntime" },
  getUnitStatus: {
    method: "GET",
    path: `${BASE}/deployment-status/{id}`,
    tag: "class-runtimes",
    summary: "Read the status of one deployment unit",
    role: "viewer",
    since: "seed",
    query: oneCluster,
    answer: { status: 200, description: "The status reported by its cluster.", schema: unitStatusView },
    faults: ["not-found", "unavailable", "deadline-exceeded"],
  },
} as const satisfies Readonly<Record<string, Route>>;

const listClusters = {
  method: "GET",
  tag: "clusters",
  summary: "List clusters with their health",
  role: "viewer",
  answer: { status: 200, description: "All registered clusters.", schema: z.array(clusterView) },
  faults: [],
} as const;

const listClusterHealth = {
  method: "GET",
  tag: "clusters",
  summary: "Read the health of every cluster",
  role: "viewer",
  answer: { status: 200, description: "Health per cluster.", schema: z.array(clusterHealthView) },
  faults: [],
} as const;

const getClusterHealth = {
  method: "GET",
  tag: "clusters",
  summary: "Read the health of one cluster",
  role: "viewer",
  answer: { status: 200, description: "The health of the cluster.", schema: clusterHealthView },
  faults: ["not-found"],
} as const;

const addCluster = {
  method: "POST",
  tag: "clusters",
  summary: "Register a cluster",
  role: "admin",
  since: "ours",
  body: clusterRegistrationInput,
  answer: { status: 201, description: "Registered.", schema: clusterRegistrationView },
  faults: ["already-exists"],
  idempotent: true,
} as const;

const getCluster = {
  method: "GET",
  tag: "clusters",
  summary: "Read the registration of a cluster",
  role: "viewer",
  since: "ours",
  answer: { status: 200, description: "The registration, without secrets.", schema: clusterRegistrationView },
  faults: ["not-found"],
} as const;

const removeCluster = {
  method: "DELETE",
  tag: "clusters",
  summary: "Unregister a cluster; rejected while deployments use it",
  role: "admin",
  since: "ours",
  answer: { status: 204, description: "Unregistered." },
  faults: ["not-found", "failed-precondition"],
} as const;

const clusterRoutes = {
  listClusters: { ...listClusters, path: `${BASE}/clusters`, since: "seed" },
  listEnvs: { ...listClusters, path: `${BASE}/envs`, since: "upstream", aliasOf: "listClusters" },
  listClusterHealth: { ...listClusterHealth, path: `${BASE}/clusters/health`, since: "seed" },
  listEnvHealth: { ...listClusterHealth, path: `${BASE}/envs/health`, since: "upstream", aliasOf: "listClusterHealth" },
  getClusterHealth: { ...getClusterHealth, path: `${BASE}/clusters/{name}/health`, since: "seed" },
  getEnvHealth: {
    ...getClusterHealth,
    path: `${BASE}/envs/{name}/health`,
    since: "upstream",
    aliasOf: "getClusterHealth",
  },
  addCluster: { ...addCluster, path: `${BASE}/clusters` },
  addEnv: { ...addCluster, path: `${BASE}/envs`, aliasOf: "addCluster" },
  getCluster: { ...getCluster, path: `${BASE}/clusters/{name}` },
  getEnv: { ...getCluster, path: `${BASE}/envs/{name}`, aliasOf: "getCluster" },
  removeCluster: { ...removeCluster, path: `${BASE}/clusters/{name}` },
  removeEnv: { ...removeCluster, path: `${BASE}/envs/{name}`, aliasOf: "removeCluster" },
} as const satisfies Readonly<Record<string, Route>>;

const catalogueRoutes = {
  getTopology: {
    method: "GET",
    path: `${BASE}/topology`,
    tag: "catalogue",
    summary: "Read the topology, from the plans or from the clusters (source=zenoh)",
    role: "viewer",
    since: "upstream",
    query: parameters({ source: queryText() }),
    answer: { status: 200, description: "Nodes and edges.", schema: topologyView },
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
    answer: { status: 200, description: "Classes.", schema: z.array(classView) },
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
    answer: { status: 200, description: "Functions.", schema: z.array(functionView) },
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
    answer: { status: 200, description: "Server-sent events.", schema: streamEventView, mediaType: EVENT_STREAM },
    faults: [],
  },
} as const satisfies Readonly<Record<string, Route>>;

const serviceRoutes = {
  getHealth: {
    method: "GET",
    path: "/health",
    tag: "service",
    summary: "Check the health of the package manager and its store",
    role: "public",
    since: "seed",
    answer: { status: 200, description: "Healthy.", schema: serviceHealthView },
    otherAnswers: [{ status: 503, description: "The store does not respond.", schema: serviceHealthView }],
    faults: [],
  },
  getReadiness: {
    method: "GET",
    path: "/readyz",
    tag: "service",
    summary: "Check whether the package manager accepts requests",
    role: "public",
    since: "ours",
    answer: { status: 200, description: "Ready.", schema: readinessView },
    otherAnswers: [{ status: 503, description: "Not ready; see the failed checks.", schema: readinessView }],
    faults: [],
  },
  getMetrics: {
    method: "GET",
    path: "/metrics",
    tag: "service",
    summary: "Read metrics in the Prometheus text format",
    role: "viewer",
    since: "seed",
    answer: { status: 200, description: "Metrics.", mediaType: "text/plain" },
    faults: [],
  },
  getOpenApi: {
    method: "GET",
    path: "/openapi.json",
    tag: "service",
    summary: "Read this OpenAPI document",
    role: "public",
    since: "ours",
    answer: { status: 200, description: "The OpenAPI 3.1 document.", schema: z.record(z.string(), z.unknown()) },
    faults: [],
  },
  getReferencePage: {
    method: "GET",
    path: "/docs",
    tag: "service",
    summary: "Read this document as an HTML page",
    role: "public",
    since: "ours",
    answer: { status: 200, description: "An HTML page.", mediaType: "text/html" },
    faults: [],
  },
} as const satisfies Readonly<Record<string, Route>>;

const notOffered = {
  tag: "not offered",
  role: "viewer",
  since: "upstream",
  answer: { status: 204, description: "Never." },
  faults: ["unimplemented"],
  offered: false,
} as const;

/** Paths of the earlier implementation's script service and gateway proxy, which belong to the data plane. */
const notOfferedRoutes = {
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

/** Every route by its operation id. */
export const ROUTES = {
  ...packageRoutes,
  ...deploymentRoutes,
  ...runtimeRoutes,
  ...clusterRoutes,
  ...catalogueRoutes,
  ...serviceRoutes,
  ...notOfferedRoutes,
} as const satisfies Readonly<Record<string, Route>>;

export type OperationId = keyof typeof ROUTES;

/** Every route with its operation id, in the order of the list above. */
export function allRoutes(): readonly (Route & { readonly operationId: OperationId })[] {
  return Object.entries(ROUTES).map(([operationId, route]) => ({ ...route, operationId: operationId as OperationId }));
}
