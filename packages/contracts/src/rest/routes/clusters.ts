import { z } from "zod";
import { classRuntimeSummaryView, classRuntimeView } from "../resources/cluster/class-runtime.ts";
import { enforcementReport } from "../resources/cluster/nfr-status.ts";
import { clusterAvailabilityView } from "../resources/cluster/availability.ts";
import { componentUsage } from "../resources/cluster/usage.ts";
import {
  clusterHealthView,
  clusterRegistrationInput,
  clusterRegistrationView,
  clusterView,
  cordonInput,
  drainInput,
  drainProgress,
} from "../resources/cluster/cluster.ts";
import { unitStatusView } from "../resources/deployment/deployment-status.ts";
import {
  checkClusterAliases,
  clusterQuery,
  entriesQuery,
  oneCluster,
  pageQuery,
  parameters,
  querySort,
  queryText,
} from "./query.ts";
import { BASE, type Route } from "./route.ts";

const runtimeQuery = parameters(
  {
    package_name: queryText(),
    class_key: queryText(),
    environment: queryText(),
    ...clusterQuery,
    status: queryText(),
    filter: queryText(),
    sort: querySort(["id", "cluster", "package_name", "class_key", "status", "updated_at"]),
    ...pageQuery,
  },
  checkClusterAliases,
);

const listRuntimes = {
  method: "GET",
  tag: "class-runtimes",
  summary: "List class runtimes across all clusters",
  role: "viewer",
  since: "seed",
  query: runtimeQuery,
  response: {
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
  response: { status: 200, description: "The class runtime.", schema: classRuntimeView },
  faults: ["not-found", "unavailable"],
} as const;

/** Class runtimes in all clusters. */
export const runtimeRoutes = {
  listClassRuntimes: { ...listRuntimes, path: `${BASE}/class-runtimes` },
  listDeploymentRecords: { ...listRuntimes, path: `${BASE}/deployment-records`, aliasOf: "listClassRuntimes" },
  listClassRuntimeSummaries: {
    ...listRuntimes,
    path: `${BASE}/class-runtime-summaries`,
    summary: "List class runtimes without their details, for pages; same order and filters as the class runtimes",
    since: "ours",
    response: {
      ...listRuntimes.response,
      description: "Summaries; a header lists unreachable clusters.",
      schema: z.array(classRuntimeSummaryView),
    },
  },
  getClassRuntime: { ...getRuntime, path: `${BASE}/class-runtimes/{id}` },
  getDeploymentRecord: { ...getRuntime, path: `${BASE}/deployment-records/{id}`, aliasOf: "getClassRuntime" },
  getEnforcement: {
    method: "GET",
    path: `${BASE}/class-runtimes/{id}/enforcement`,
    tag: "class-runtimes",
    summary: "Read the state of enforcement of a class runtime and the records of its newest decisions",
    role: "viewer",
    since: "ours",
    query: oneCluster,
    response: { status: 200, description: "Conditions, states and decisions.", schema: enforcementReport.view },
    faults: ["not-found", "unavailable", "deadline-exceeded", "unimplemented"],
  },
  getUnitStatus: {
    method: "GET",
    path: `${BASE}/deployment-status/{id}`,
    tag: "class-runtimes",
    summary: "Read the status of one deployment unit",
    role: "viewer",
    since: "seed",
    query: oneCluster,
    response: { status: 200, description: "The status reported by its cluster.", schema: unitStatusView },
    faults: ["not-found", "unavailable", "deadline-exceeded"],
  },
} as const satisfies Readonly<Record<string, Route>>;

const listClusters = {
  method: "GET",
  tag: "clusters",
  summary: "List clusters with their health",
  role: "viewer",
  response: { status: 200, description: "All registered clusters.", schema: z.array(clusterView) },
  faults: [],
} as const;

const listClusterHealth = {
  method: "GET",
  tag: "clusters",
  summary: "Read the health of every cluster",
  role: "viewer",
  response: { status: 200, description: "Health per cluster.", schema: z.array(clusterHealthView) },
  faults: [],
} as const;

const getClusterHealth = {
  method: "GET",
  tag: "clusters",
  summary: "Read the health of one cluster",
  role: "viewer",
  response: { status: 200, description: "The health of the cluster.", schema: clusterHealthView },
  faults: ["not-found"],
} as const;

const getClusterAvailability = {
  method: "GET",
  tag: "clusters",
  summary: "Compare the promised availability of a cluster with the measured one",
  role: "viewer",
  since: "ours",
  response: { status: 200, description: "Promise, measurement and arithmetic.", schema: clusterAvailabilityView },
  faults: ["not-found"],
} as const;

const getClusterUsage = {
  method: "GET",
  tag: "clusters",
  summary: "Read the present CPU and memory of the components in a cluster, from its metrics API",
  role: "viewer",
  since: "ours",
  query: parameters(entriesQuery),
  response: {
    status: 200,
    description: "One entry for each component with pods.",
    schema: z.array(componentUsage.view),
  },
  faults: ["not-found", "failed-precondition", "unavailable", "unimplemented"],
} as const;

const addCluster = {
  method: "POST",
  tag: "clusters",
  summary: "Register a cluster",
  role: "admin",
  since: "ours",
  body: clusterRegistrationInput,
  response: { status: 201, description: "Registered.", schema: clusterRegistrationView },
  faults: ["already-exists"],
  idempotent: true,
} as const;

const getCluster = {
  method: "GET",
  tag: "clusters",
  summary: "Read the registration of a cluster",
  role: "viewer",
  since: "ours",
  response: { status: 200, description: "The registration, without secrets.", schema: clusterRegistrationView },
  faults: ["not-found"],
} as const;

const removeCluster = {
  method: "DELETE",
  tag: "clusters",
  summary: "Unregister a cluster; rejected while deployments use it",
  role: "admin",
  since: "ours",
  response: { status: 204, description: "Unregistered." },
  faults: ["not-found", "failed-precondition"],
} as const;

const changeCordon = {
  method: "POST",
  tag: "clusters",
  role: "admin",
  since: "ours",
  response: { status: 200, description: "The cluster.", schema: clusterRegistrationView },
  faults: ["not-found"],
} as const;

const cordonCluster = {
  ...changeCordon,
  summary: "Keep new units out of a cluster; existing units stay",
  body: cordonInput,
} as const;

const uncordonCluster = { ...changeCordon, summary: "Allow new units in a cordoned cluster again" } as const;

const drainCluster = {
  method: "POST",
  tag: "clusters",
  summary: "Cordon a cluster and move its units away one by one; uncordon it to stop",
  role: "admin",
  since: "ours",
  body: drainInput,
  response: { status: 200, description: "The progress.", schema: drainProgress.view },
  faults: ["not-found"],
} as const;

const getClusterDrain = {
  method: "GET",
  tag: "clusters",
  summary: "Read the progress of the drain of a cluster",
  role: "viewer",
  since: "ours",
  query: parameters(entriesQuery),
  response: { status: 200, description: "The progress.", schema: drainProgress.view },
  faults: ["not-found"],
} as const;

/** Clusters, under both spellings of the path. */
export const clusterRoutes = {
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
  getClusterAvailability: { ...getClusterAvailability, path: `${BASE}/clusters/{name}/availability` },
  getClusterUsage: { ...getClusterUsage, path: `${BASE}/clusters/{name}/usage` },
  getEnvUsage: { ...getClusterUsage, path: `${BASE}/envs/{name}/usage`, aliasOf: "getClusterUsage" },
  getEnvAvailability: {
    ...getClusterAvailability,
    path: `${BASE}/envs/{name}/availability`,
    aliasOf: "getClusterAvailability",
  },
  addCluster: { ...addCluster, path: `${BASE}/clusters` },
  addEnv: { ...addCluster, path: `${BASE}/envs`, aliasOf: "addCluster" },
  getCluster: { ...getCluster, path: `${BASE}/clusters/{name}` },
  getEnv: { ...getCluster, path: `${BASE}/envs/{name}`, aliasOf: "getCluster" },
  removeCluster: { ...removeCluster, path: `${BASE}/clusters/{name}` },
  cordonCluster: { ...cordonCluster, path: `${BASE}/clusters/{name}/cordon` },
  cordonEnv: { ...cordonCluster, path: `${BASE}/envs/{name}/cordon`, aliasOf: "cordonCluster" },
  uncordonCluster: { ...uncordonCluster, path: `${BASE}/clusters/{name}/uncordon` },
  uncordonEnv: { ...uncordonCluster, path: `${BASE}/envs/{name}/uncordon`, aliasOf: "uncordonCluster" },
  drainCluster: { ...drainCluster, path: `${BASE}/clusters/{name}/drain` },
  drainEnv: { ...drainCluster, path: `${BASE}/envs/{name}/drain`, aliasOf: "drainCluster" },
  getClusterDrain: { ...getClusterDrain, path: `${BASE}/clusters/{name}/drain` },
  getEnvDrain: { ...getClusterDrain, path: `${BASE}/envs/{name}/drain`, aliasOf: "getClusterDrain" },
  removeEnv: { ...removeCluster, path: `${BASE}/envs/{name}`, aliasOf: "removeCluster" },
} as const satisfies Readonly<Record<string, Route>>;
