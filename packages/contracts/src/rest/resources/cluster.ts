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
} from "../fields.ts";
import { pascal } from "../spelling.ts";

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
    cluster_name: "The cluster.",
    status: "How it is.",
    crm_version: "The version of its class runtime manager.",
    last_seen: "When it answered last; null when it never did.",
    node_count: "Its nodes.",
    ready_nodes: "Those of them that are ready.",
    availability: "How much of the time it is up, between 0 and 1; null when nobody knows.",
    error: "Why it could not be asked the last time; absent when it could.",
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
  { name: "The cluster.", health: "How it is." },
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
    ca_cert: "Authority by which the cluster's certificate is judged; the machine's own when absent.",
    client_cert: "Certificate that is shown to the cluster.",
    client_key: "Key of that certificate.",
    insecure: "Take any certificate; for trying out only.",
  },
);

const CLUSTER = {
  name: "Its name.",
  url: "Address of its class runtime manager.",
  labels: "`env` says its kind.",
  timeout: "Seconds that a call may take; 0 or none: 5 for reads, 15 for writes.",
  retry_attempts: "Tries of one call, the first included.",
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
    api_key: "Bearer token sent with every call; never shown again.",
    api_key_file: "File of the token, in `CRM_SECRETS_DIR`.",
    tls: "Files for TLS, in `CRM_SECRETS_DIR`.",
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
    tls: "Whether calls are encrypted.",
    origin: "Whether the configuration names it or it was added over the API.",
    health: "How it is.",
  },
);
