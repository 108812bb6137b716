import {
  CLUSTER_NAME,
  ClusterStatus,
  COUNT_RANGE,
  ENDPOINT_URL,
  FILE_PATH,
  type ClusterHealth,
  type ClusterName,
} from "@oaas/models";
import { z } from "zod";
import {
  flag,
  input,
  mapOf,
  object,
  optional,
  present,
  share,
  text,
  textOf,
  view,
  whole,
  withDefault,
} from "../../reading/fields.ts";
import { pascal } from "../../reading/spelling.ts";

/** Peers may report a word of their own; whatever is not known is unknown. */
const statusInput = text().transform(
  (word): ClusterStatus => STATUS_BY_WORD.get(word.toLowerCase()) ?? ClusterStatus.unknown,
);
const STATUS_BY_WORD = new Map<string, ClusterStatus>(Object.values(ClusterStatus).map((status) => [status, status]));

/** A reading of a cluster's health as a PM answers it, read back by a client. */
export const clusterHealthInput = object({
  cluster_name: textOf<ClusterName>(CLUSTER_NAME),
  status: statusInput,
  crm_version: optional(text()),
  last_seen: optional(text()),
  node_count: optional(whole(COUNT_RANGE)),
  ready_nodes: optional(whole(COUNT_RANGE)),
  availability: optional(share()),
}).transform((wire): ClusterHealth =>
  present({
    cluster: wire.cluster_name,
    status: wire.status,
    crmVersion: wire.crm_version,
    lastSeen: wire.last_seen,
    nodeCount: wire.node_count,
    readyNodes: wire.ready_nodes,
    availability: wire.availability,
  }),
);

/** A reading of a cluster's health as it is sent. */
export const clusterHealthView = view(
  {
    cluster_name: z.string(),
    status: z.string().meta({ examples: Object.values(ClusterStatus).map(pascal) }),
    crm_version: z.string().nullable(),
    last_seen: z.string().nullable(),
    node_count: z.int().nullable(),
    ready_nodes: z.int().nullable(),
    availability: z.number().nullable(),
    error: z.string().optional(),
  },
  {
    cluster_name: "Cluster name.",
    status: "Health of the cluster.",
    crm_version: "Version of the class runtime manager.",
    last_seen: "Time of the last response; null if it has never responded.",
    node_count: "Number of nodes.",
    ready_nodes: "Number of ready nodes.",
    availability: "Share of time the cluster is available, 0 to 1; null when unknown.",
    error: "Error of the last health check; absent when it succeeded.",
  },
);

/** Writes a reading of health in the contract's JSON, with why there is no newer one. */
export function clusterHealthToWire(health: ClusterHealth, error?: string): z.output<typeof clusterHealthView> {
  return {
    cluster_name: health.cluster,
    status: pascal(health.status),
    crm_version: health.crmVersion ?? null,
    last_seen: health.lastSeen ?? null,
    node_count: health.nodeCount ?? null,
    ready_nodes: health.readyNodes ?? null,
    availability: health.availability ?? null,
    ...(error === undefined ? {} : { error }),
  };
}

/** A cluster in the list of clusters. */
export const clusterView = view(
  { name: z.string(), health: clusterHealthView },
  { name: "Cluster name.", health: "Health of the cluster." },
);

const file = () => optional(textOf(FILE_PATH));

/** How calls to a cluster are encrypted. */
export const clusterTlsInput = input(
  {
    ca_cert: file(),
    client_cert: file(),
    client_key: file(),
    insecure: withDefault(flag(), false),
  },
  {
    ca_cert: "CA certificate that verifies the cluster's certificate. Default: the system's CA store.",
    client_cert: "Client certificate.",
    client_key: "Private key of the client certificate.",
    insecure: "Skip certificate verification; for development only.",
  },
);

const CLUSTER = {
  name: "Cluster name.",
  url: "URL of the cluster's class runtime manager.",
  labels: "Labels; `env` is the environment kind.",
  timeout: "Timeout of a call in seconds. 0 or absent: 5 for reads, 15 for writes.",
  retry_attempts: "Maximum attempts per read or health check, including the first.",
};

/** What PM is told about a cluster that is added while it runs; the members are those of CRM_CLUSTERS_JSON. */
export const clusterRegistrationInput = input(
  {
    name: textOf<ClusterName>(CLUSTER_NAME),
    url: textOf(ENDPOINT_URL),
    labels: mapOf(text()),
    timeout: optional(whole({ min: 0, max: 3600 })),
    retry_attempts: withDefault(whole({ min: 0, max: 100 }), 3),
    api_key: optional(text()),
    api_key_file: file(),
    tls: optional(clusterTlsInput),
  },
  {
    ...CLUSTER,
    api_key: "Bearer token sent with every call; never returned by the API.",
    api_key_file: "File with the token, in `CRM_SECRETS_DIR`.",
    tls: "TLS files, in `CRM_SECRETS_DIR`.",
  },
);

/** A registered cluster as it is shown; secrets and files stay inside. */
export const clusterRegistrationView = view(
  {
    name: z.string(),
    url: z.string(),
    labels: z.record(z.string(), z.string()),
    timeout: z.int().nullable(),
    retry_attempts: z.int(),
    tls: z.boolean(),
    origin: z.enum(["configuration", "api"]),
    health: clusterHealthView,
  },
  {
    ...CLUSTER,
    tls: "Whether calls use TLS.",
    origin: "Whether the cluster comes from the configuration or was registered with the API.",
    health: "Health of the cluster.",
  },
);
