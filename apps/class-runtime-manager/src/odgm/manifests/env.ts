import { environmentName, envList, routerPeers, type Env, type EnvVar } from "../../rendering/manifests/env.ts";
import { telemetryEnv } from "../../rendering/manifests/telemetry-env.ts";
import { serviceHost, type FunctionPlan } from "../../rendering/plan/class-plan.ts";
import { odgmHost, ODGM_PORT, ZENOH_PORT, type OdgmPlan } from "../plan/odgm-plan.ts";

/** Pods of the state store that share their environment variables. */
export interface NodeGroup {
  readonly name: string;
  readonly replicas: number;
  /** A fixed id; absent when each pod derives its id from the prefix and its index. */
  readonly nodeId?: number;
  /** Whether pods have an index. */
  readonly numbered: boolean;
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
    ODGM_COLLECTIONS: (collections ?? plan.collections.map(({ name }) => name)).join(","),
    ...(access === undefined ? {} : { ODGM_ACCESS_MODE: access }),
    ...(caching === undefined ? {} : { ODGM_CACHING_STRATEGY: caching }),
  };
}

/** The access that the patterns of all collections of a function have in common; undefined when they differ. */
function commonAccess({ collections }: OdgmPlan, names: readonly string[] | undefined): string | undefined {
  const used = collections.filter(({ name }) => names === undefined || names.includes(name));
  const [first] = used;
  return used.every(({ accessMode }) => accessMode === first?.accessMode) ? first?.accessMode : undefined;
}

/** The environment variables of a state store container. Pod fields come first, since other variables refer to them. */
export function odgmEnv(plan: OdgmPlan, group: NodeGroup): readonly EnvVar[] {
  const { input } = plan.classPlan;
  const { spec, owner, cluster } = input;
  const { events, nodes } = plan;
  const own: Env = {
    ODGM_CLUSTER_ID: plan.clusterId,
    ODGM_NODE_ID:
      group.nodeId === undefined ? `${nodes.prefix}${group.numbered ? "$(POD_INDEX)" : "0"}` : String(group.nodeId),
    ODGM_NODE_ADDR: `http://$(POD_IP):${ODGM_PORT}`,
    ODGM_MEMBERS: nodes.members.join(","),
    ODGM_HTTP_PORT: String(ODGM_PORT),
    ODGM_COLLECTION: JSON.stringify(plan.requests),
    ODGM_COLLECTIONS: plan.collections.map(({ name }) => name).join(","),
    ODGM_EVENTS_ENABLED: String(events.enabled),
    ODGM_MAX_TRIGGER_DEPTH: String(events.maxTriggerDepth),
    ODGM_TRIGGER_TIMEOUT_MS: String(events.triggerTimeoutMs),
    ODGM_MAX_SESSIONS: "4",
    ODGM_REFLECTION_ENABLED: "false",
    ODGM_LOG: spec.odgm_config?.log ?? defaultLog(plan),
    OPRC_ZENOH_MODE: "peer",
    OPRC_ZENOH_PORT: String(ZENOH_PORT),
    ...peerEnv(plan, group),
    ...(spec.package_class_key === undefined ? {} : { OPRC_CLS_ID: spec.package_class_key }),
    OPRC_DEPLOYMENT_ID: owner.name,
    ...telemetryEnv(input, `${owner.name}-odgm`),
    ...cluster.odgm.extraEnv,
  };
  const ofPod: EnvVar[] = [
    { name: "POD_IP", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "status.podIP" } } },
    ...(group.numbered
      ? [{ name: "POD_INDEX", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: POD_INDEX } } }]
      : []),
  ];
  return [...ofPod.filter(({ name }) => !Object.hasOwn(own, name)), ...envList(own)];
}

function defaultLog(plan: OdgmPlan): string {
  const { input } = plan.classPlan;
  const level = input.environment?.spec.kind === "dev" || environmentName(input) === "dev" ? "DEBUG" : "INFO";
  return `${level},openraft=info,zenoh=info,h2=warn`;
}

/** Initial peers: routers and the other nodes of this cluster. */
function peerEnv(plan: OdgmPlan, group: NodeGroup): Env {
  const { input } = plan.classPlan;
  const fellows =
    plan.nodes.ids.length < 2
      ? []
      : plan.nodes.kind === "fixed"
        ? [`tcp/${serviceHost(input, plan.names.pods)}:${ZENOH_PORT}`]
        : Array.from(
            { length: group.replicas },
            (_, index) => `tcp/${group.name}-${index}.${serviceHost(input, plan.names.pods)}:${ZENOH_PORT}`,
          );
  const peers = [...routerPeers(input.cluster.routers), ...fellows];
  return peers.length === 0 ? {} : { OPRC_ZENOH_PEERS: peers.join(",") };
}

/** Address that functions wait for. */
export function waitAddress(plan: OdgmPlan): { readonly host: string; readonly port: number } {
  return { host: odgmHost(plan), port: ODGM_PORT };
}
