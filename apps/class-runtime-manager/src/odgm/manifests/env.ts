import { environmentName, envList, routerPeers, type Env, type EnvVar } from "../../rendering/manifests/env.ts";
import { TELEMETRY_VARIABLES, telemetryEnv } from "../../rendering/manifests/telemetry-env.ts";
import { serviceHost, type FunctionPlan } from "../../rendering/plan/class-plan.ts";
import { odgmHost, ODGM_PORT, ZENOH_PORT, type OdgmPlan } from "../plan/odgm-plan.ts";
import { COLLECTIONS_KEY } from "../../state-store/store-layout.ts";
import { LAYOUT_KEY, layoutFile } from "../plan/stored-layout.ts";

/** Pods of the state store that share their environment variables. */
export interface NodeGroup {
  readonly name: string;
  readonly replicas: number;
  /** A fixed id; absent when each pod derives its id from the prefix and its index. */
  readonly nodeId?: number;
}

/** Field with the index of a StatefulSet pod. */
const POD_INDEX = "metadata.labels['apps.kubernetes.io/pod-index']";

/** State store settings of a function. */
export function functionOdgmEnv(plan: OdgmPlan, fn: FunctionPlan): Env {
  const { access_mode: stated, caching_strategy: caching, collections } = fn.spec.odgm_integration ?? {};
  const access = stated ?? commonAccess(plan, collections);
  return {
    ODGM_ENABLED: "true",
    ODGM_SERVICE: plan.service,
    ODGM_ENDPOINT: `http://${plan.service}`,
    ODGM_CLUSTER_ID: plan.clusterId,
    ODGM_NODE_ROLE: "client",
    ODGM_COLLECTIONS: (collections ?? plan.layout.collections.map(({ name }) => name)).join(","),
    ...(access === undefined ? {} : { ODGM_ACCESS_MODE: access }),
    ...(caching === undefined ? {} : { ODGM_CACHING_STRATEGY: caching }),
  };
}

/** The access that the patterns of all collections of a function have in common; undefined when they differ. */
function commonAccess({ described: collections }: OdgmPlan, names: readonly string[] | undefined): string | undefined {
  const used = collections.filter(({ name }) => names === undefined || names.includes(name));
  const [first] = used;
  return used.every(({ accessMode }) => accessMode === first?.accessMode) ? first?.accessMode : undefined;
}

/**
 * The environment variables of a state store container. Pod fields come first, since other variables refer to them. All
 * that can change while the store runs comes from its ConfigMap, so that the pod template stays as it is.
 */
export function odgmEnv(plan: OdgmPlan, group: NodeGroup): readonly (EnvVar & { readonly valueFrom?: unknown })[] {
  const { cluster } = plan.classPlan.input;
  const own: Env = {
    ODGM_NODE_ID: group.nodeId === undefined ? `${plan.nodes.prefix}$(POD_INDEX)` : String(group.nodeId),
    ODGM_NODE_ADDR: `http://$(POD_IP):${ODGM_PORT}`,
    ODGM_HTTP_PORT: String(ODGM_PORT),
    // Each further session has its own port, which nothing reaches.
    ODGM_MAX_SESSIONS: "1",
    ODGM_REFLECTION_ENABLED: "false",
    OPRC_ZENOH_MODE: "peer",
    OPRC_ZENOH_PORT: String(ZENOH_PORT),
    OPRC_ZENOH_SCOUTING_MULTICAST_ENABLED: "false",
    ...cluster.odgm.extraEnv,
  };
  const ofPod: EnvVar[] = [
    { name: "POD_IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
    ...(group.nodeId === undefined
      ? [{ name: "POD_INDEX", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: POD_INDEX } } }]
      : []),
  ];
  const ofConfig = Object.entries(CONFIG_KEYS).map(([name, { key, optional }]) => ({
    name,
    valueFrom: { configMapKeyRef: { name: plan.names.config, key, ...(optional ? { optional } : {}) } },
  }));
  const isOwn = ({ name }: EnvVar): boolean => !Object.hasOwn(own, name);
  return [...ofPod.filter(isOwn), ...ofConfig.filter(isOwn), ...envList(own)];
}

interface ConfigKey {
  readonly key: string;
  /** Whether the ConfigMap may lack it; then the variable is not set. */
  readonly optional?: boolean;
}

/** Variables that the state store reads when it starts, with their keys in its ConfigMap. */
const CONFIG_KEYS: Readonly<Record<string, ConfigKey>> = {
  ODGM_CLUSTER_ID: { key: "cluster-id" },
  ODGM_COLLECTION: { key: COLLECTIONS_KEY },
  ODGM_COLLECTIONS: { key: "collections" },
  ODGM_EVENTS_ENABLED: { key: "events-enabled" },
  ODGM_LOG: { key: "log" },
  ODGM_MAX_TRIGGER_DEPTH: { key: "max-trigger-depth" },
  ODGM_MEMBERS: { key: "members" },
  ODGM_TRIGGER_TIMEOUT_MS: { key: "trigger-timeout-ms" },
  OPRC_ZENOH_PEERS: { key: "peers", optional: true },
  ...Object.fromEntries(TELEMETRY_VARIABLES.map((name) => [name, { key: name, optional: true }])),
  RUST_LOG: { key: "log" },
};

/** The values behind those keys. */
export function configData(plan: OdgmPlan, groups: readonly NodeGroup[]): Readonly<Record<string, string>> {
  const { input } = plan.classPlan;
  const { events, layout } = plan;
  const peers = peersOf(plan, groups);
  return {
    "cluster-id": plan.clusterId,
    collections: layout.collections.map(({ name }) => name).join(","),
    [COLLECTIONS_KEY]: JSON.stringify(plan.requests),
    "events-enabled": String(events.enabled),
    [LAYOUT_KEY]: layoutFile(layout),
    log: input.spec.odgm_config?.log ?? defaultLog(plan),
    "max-trigger-depth": String(events.maxTriggerDepth),
    members: layout.members.join(","),
    "trigger-timeout-ms": String(events.triggerTimeoutMs),
    ...(peers.length === 0 ? {} : { peers: peers.join(",") }),
    ...telemetryEnv(input, `${input.owner.name}-odgm`),
  };
}

function defaultLog(plan: OdgmPlan): string {
  const { input } = plan.classPlan;
  const level = input.environment?.spec.kind === "dev" || environmentName(input) === "dev" ? "DEBUG" : "INFO";
  return `${level},openraft=info,zenoh=info,h2=warn`;
}

/** Addresses to connect to at start: routers, and the nodes of this cluster. */
function peersOf(plan: OdgmPlan, groups: readonly NodeGroup[]): readonly string[] {
  const { input } = plan.classPlan;
  const host = serviceHost(input, plan.names.pods);
  const nodes = groups.flatMap(({ name, replicas }) =>
    Array.from({ length: replicas }, (_, index) => `tcp/${name}-${index}.${host}:${ZENOH_PORT}`),
  );
  return [...routerPeers(input.cluster.routers), ...(nodes.length < 2 ? [] : nodes)];
}

/** Address that functions wait for. */
export function waitAddress(plan: OdgmPlan): { readonly host: string; readonly port: number } {
  return { host: odgmHost(plan), port: ODGM_PORT };
}
