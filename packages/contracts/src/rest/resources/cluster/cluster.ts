import {
  AvailabilitySource,
  CLUSTER_NAME,
  ClusterStatus,
  DrainedUnitState,
  COUNT_RANGE,
  ENDPOINT_URL,
  FILE_PATH,
  LIST_LIMITS,
  NAMESPACE,
  type ClusterHealth,
  type ClusterName,
  type DeploymentKey,
  type DrainedUnit,
  type DrainProgress,
} from "@oaas/models";
import { z } from "zod";
import {
  field,
  input,
  listOf,
  mapOf,
  optional,
  readBoolean,
  readInteger,
  readRuledText,
  readText,
  view,
  withDefault,
} from "../../reading/fields.ts";
import {
  array,
  boolean,
  enumeration,
  fraction,
  integer,
  nested,
  nullable,
  oneOf,
  optional as optionalField,
  required,
  resource,
  string,
  type Codec,
} from "../../reading/resource.ts";
import { pascalCase } from "../../reading/spelling.ts";
import { availabilityPrior, availabilityPriorInput, clusterCost, clusterCostInput } from "./availability.ts";

const STATUS_BY_WORD = new Map<string, ClusterStatus>(Object.values(ClusterStatus).map((status) => [status, status]));

/** Other values, which peers may report, are read as unknown. */
const clusterStatus: Codec<ClusterStatus, z.ZodString> = {
  read: readText().transform((word) => STATUS_BY_WORD.get(word.toLowerCase()) ?? ClusterStatus.unknown),
  view: z.string().meta({ examples: Object.values(ClusterStatus).map(pascalCase) }),
  write: pascalCase,
};

const clusterHealth = resource<Omit<ClusterHealth, "measurement" | "offer">>()({
  cluster: required("cluster_name", "Cluster name.", string<ClusterName>(CLUSTER_NAME)),
  status: required("status", "Health of the cluster.", clusterStatus),
  crmVersion: nullable("crm_version", "Version of the class runtime manager.", string()),
  lastSeen: nullable("last_seen", "Time of the last response; null if it has never responded.", string()),
  nodeCount: nullable("node_count", "Number of nodes.", integer(COUNT_RANGE)),
  readyNodes: nullable("ready_nodes", "Number of ready nodes.", integer(COUNT_RANGE)),
  availability: nullable(
    "availability",
    "Share of time the cluster is available, 0 to 1; null when unknown.",
    fraction(),
  ),
  availabilitySource: optionalField(
    "availability_source",
    "Source of `availability`: `measured` over time, present share of `ready_nodes`, or `configured`; absent when not reported.",
    enumeration(AvailabilitySource),
  ),
  zeroScaleTemplates: optionalField(
    "zero_scale_templates",
    "Templates that can run a function with `min_scale: 0`; absent when not reported.",
    array(string(), LIST_LIMITS.templates),
  ),
  acceptsNamespace: optionalField(
    "accepts_namespace",
    "Whether the class runtime manager can be given the namespace of a unit; absent when it cannot.",
    boolean(),
  ),
  namespaces: optionalField("namespaces", "Namespaces that it serves; absent: all.", array(string())),
  defaultNamespace: optionalField(
    "default_namespace",
    "Namespace of units without one; absent when not reported.",
    string(),
  ),
  rejectedNamespaces: optionalField(
    "rejected_namespaces",
    "Namespaces that it rejects although it serves all; absent if there are none.",
    array(string()),
  ),
  dataPlaneNetwork: optionalField(
    "data_plane_network",
    "Clusters with the same value replicate objects to each other; absent: a network of its own.",
    string(),
  ),
  persistentState: optionalField(
    "persistent_state",
    "Whether the state store keeps objects on volumes; absent when not reported.",
    boolean(),
  ),
});

/** Reads the health of a cluster from a response. */
export const clusterHealthInput = clusterHealth.input;

/** The observed health of a cluster. */
export const clusterHealthView = view({
  ...clusterHealth.viewFields,
  error: field("Error of the last health check; absent when it succeeded.", z.string().optional()),
});

/** Writes the health of a cluster and the error of the last check. */
export function clusterHealthToWire(health: ClusterHealth, error?: string): z.output<typeof clusterHealthView> {
  return { ...clusterHealth.toJson(health), ...(error === undefined ? {} : { error }) };
}

/** A cordon: the cluster gets no new units. */
export const cordonView = view({
  by: field("Caller that cordoned the cluster.", z.string()),
  at: field("Time in RFC 3339.", z.string()),
  reason: field("Reason, if one was given.", z.string().optional()),
  draining: field("Present while units are moved out of the cluster.", z.literal(true).optional()),
});

const cordon = field("Present while the cluster gets no new units; existing units stay.", cordonView.optional());

/** A cluster to cordon. */
export const cordonInput = input({
  reason: field("Reason; shown in the list of clusters and in plans.", optional(readText())),
});

/** A cluster to drain. */
export const drainInput = input({
  reason: field("Reason; shown in the list of clusters and in plans.", optional(readText())),
  allow_state_loss: field(
    "Move classes with state too, although stored objects may be lost. Default: they are reported as blocked.",
    withDefault(readBoolean(), false),
  ),
});

/** A deployment that still has a unit in a cluster that is drained. */
export const drainedUnit = resource<DrainedUnit>()({
  deployment: required("deployment", "Deployment key.", string<DeploymentKey>()),
  state: required(
    "state",
    "`waiting` (another deployment moves first), `moving` or `blocked`.",
    enumeration(DrainedUnitState),
  ),
  message: required("message", "What is awaited, or why it cannot move and how to change that.", string()),
});

/** The progress of a drain. */
export const drainProgress = resource<DrainProgress>()({
  cluster: required("cluster", "Cluster name.", string<ClusterName>()),
  state: required(
    "state",
    "`none` (not requested), `draining`, `blocked` (only blocked deployments are left) or `drained`.",
    oneOf(["none", "draining", "blocked", "drained"]),
  ),
  requestedBy: optionalField("requested_by", "Caller that requested the drain.", string()),
  requestedAt: optionalField("requested_at", "Time of the newest request.", string()),
  remaining: required("remaining", "Deployments with a unit in the cluster.", array(nested(drainedUnit))),
  remainingCount: optionalField(
    "remaining_count",
    "Number of all these deployments; present when `max_entries` limits the list.",
    integer(COUNT_RANGE),
  ),
});

/** A cluster in the list of clusters. */
export const clusterView = view({
  name: field("Cluster name.", z.string()),
  health: field("Health of the cluster.", clusterHealthView),
  cordon,
});

const file = () => optional(readRuledText(FILE_PATH));

/** TLS settings for calls to a cluster. */
export const clusterTlsInput = input({
  ca_cert: field("CA certificate that verifies the cluster's certificate. Default: the system's CA store.", file()),
  client_cert: field("Client certificate.", file()),
  client_key: field("Private key of the client certificate.", file()),
  insecure: field("Skip certificate verification; for development only.", withDefault(readBoolean(), false)),
});

const CLUSTER = {
  name: "Cluster name.",
  url: "URL of the cluster's class runtime manager.",
  labels: "Labels; `env` is the environment kind.",
  timeout: "Timeout of a call in seconds. 0 or absent: 5 for reads, 15 for writes.",
  retry_attempts: "Maximum attempts per read or health check, including the first.",
  availability: "Availability that the operator promises, with source and date; plans combine it with the measurement.",
  defaultNamespace: "Kubernetes namespace of units whose deployment and package state none.",
  allowedNamespaces:
    "Kubernetes namespaces that deployments may use in this cluster; empty: all that its manager serves.",
  cost: "Price of requested resources; plans show the price per month.",
};

/** A cluster to register at run time; same fields as in CRM_CLUSTERS_JSON. */
export const clusterRegistrationInput = input({
  name: field(CLUSTER.name, readRuledText<ClusterName>(CLUSTER_NAME)),
  url: field(CLUSTER.url, readRuledText(ENDPOINT_URL)),
  labels: field(CLUSTER.labels, mapOf(readText(), LIST_LIMITS.settings)),
  timeout: field(CLUSTER.timeout, optional(readInteger({ min: 0, max: 3600 }))),
  retry_attempts: field(CLUSTER.retry_attempts, withDefault(readInteger({ min: 0, max: 100 }), 3)),
  api_key: field(
    "Bearer token sent with every call; stored encrypted, never returned by the API. Needs an encryption key of the store.",
    optional(readText()),
  ),
  api_key_file: field("File with the token, in `CRM_SECRETS_DIR`.", file()),
  tls: field("TLS files, in `CRM_SECRETS_DIR`.", optional(clusterTlsInput)),
  availability: field(CLUSTER.availability, optional(availabilityPriorInput)),
  cost: field(CLUSTER.cost, optional(clusterCostInput)),
  default_namespace: field(CLUSTER.defaultNamespace, optional(readRuledText(NAMESPACE))),
  allowed_namespaces: field(CLUSTER.allowedNamespaces, listOf(readRuledText(NAMESPACE), LIST_LIMITS.namespaces)),
});

/** A registered cluster, without secrets and file paths. */
export const clusterRegistrationView = view({
  name: field(CLUSTER.name, z.string()),
  url: field(CLUSTER.url, z.string()),
  labels: field(CLUSTER.labels, z.record(z.string(), z.string())),
  timeout: field(CLUSTER.timeout, z.int().nullable()),
  retry_attempts: field(CLUSTER.retry_attempts, z.int()),
  tls: field("Whether calls use TLS.", z.boolean()),
  origin: field(
    "Whether the cluster comes from the configuration or was registered with the API.",
    z.enum(["configuration", "api"]),
  ),
  health: field("Health of the cluster.", clusterHealthView),
  cordon,
  availability: field(`${CLUSTER.availability} Absent if none is stated.`, availabilityPrior.view.optional()),
  default_namespace: field(`${CLUSTER.defaultNamespace} Absent if none is stated.`, z.string().optional()),
  allowed_namespaces: field(
    `${CLUSTER.allowedNamespaces} Absent if none is stated.`,
    z.array(z.string()).readonly().optional(),
  ),
  cost: field(`${CLUSTER.cost} Absent if none is stated.`, clusterCost.view.optional()),
});
