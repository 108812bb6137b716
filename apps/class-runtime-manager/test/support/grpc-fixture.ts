import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  CrmInfoService,
  DeploymentService,
  InspectionService,
  StateStoreService,
  TopologyService,
  type DeploymentUnitSchema,
} from "@oaas/contracts/grpc";
import { ok } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { listenOnePort, RpcChannel, RpcServer, type RpcClient } from "@oaas/rpc";
import { createAuditLog } from "../../src/grpc/access/audit.ts";
import { authorizeCall, type Credentials } from "../../src/grpc/access/authorize.ts";
import type { ClusterReader } from "../../src/grpc/cluster/kube-cluster-reader.ts";
import { createGrpcServices, type GrpcServices, type GrpcServicesDeps } from "../../src/grpc/services.ts";
import { NO_FUNCTIONS } from "../../src/grpc/functions/testing/no-functions.ts";
import { MemoryClasses } from "../../src/classes/testing/memory-classes.ts";
import { crmMetrics } from "../../src/telemetry.ts";

/** A cluster of three nodes, two of them ready. */
export const CLUSTER: ClusterReader = {
  nodes: () => [node("True"), node("True"), node("False")],
  demand: async () => ({ cpuMillicores: 1500n, memoryBytes: 2n ** 30n, pods: 4, byNode: new Map() }),
  apiFault: () => undefined,
  isServing: async () => true,
  kubernetesVersion: async () => "v1.35.0",
  capabilities: () => ["odgm", "hpa"],
  templates: () => ["dev", "edge"],
  zeroScaleTemplates: () => ["knative"],
  environments: () => ["edge"],
};

/** A node with this Ready condition. */
export function node(ready: string) {
  return {
    status: { conditions: [{ type: "Ready", status: ready }], allocatable: { cpu: "4", memory: "8Gi", pods: "110" } },
  };
}

/** The services on a loopback port, and clients for them. */
export interface GrpcFixture {
  readonly port: number;
  readonly classes: MemoryClasses;
  readonly grpc: GrpcServices;
  readonly deployments: RpcClient<typeof DeploymentService>;
  readonly info: RpcClient<typeof CrmInfoService>;
  readonly inspection: RpcClient<typeof InspectionService>;
  readonly state: RpcClient<typeof StateStoreService>;
  readonly topology: RpcClient<typeof TopologyService>;
  channel(token?: string): RpcChannel;
  close(): Promise<void>;
}

/** Starts the services with fake ports; `over` replaces fakes. */
export async function startGrpcServices(
  over: Partial<GrpcServicesDeps> = {},
  tokens: ReturnType<Credentials["tokens"]> = [],
): Promise<GrpcFixture> {
  const classes = new MemoryClasses();
  const grpc = createGrpcServices({
    ambient: realAmbient,
    namespaces: { served: ["shop", "edge"], fallback: "shop" },
    profile: "dev",
    directory: classes,
    store: classes,
    leadership: { isLeading: true, leader: "crm-0" },
    check: { canServe: () => ok(undefined) },
    ...NO_FUNCTIONS,
    explainer: {
      explain: async (object, functionKey) => ({
        deploymentId: object.spec.origin?.deployment_id ?? "",
        summary: `about ${functionKey ?? "all"}`,
        verdict: "healthy",
        action: "",
        root: { level: "class", name: "c", verdict: "healthy", reason: "", message: "", action: "", causes: [] },
        observedAt: "2026-01-01T00:00:00Z",
      }),
    },
    cluster: CLUSTER,
    usage: async () => [],
    inspection: {
      pods: { arePodsKnown: true, podsOf: () => [], nodesOf: () => [] },
      childrenOf: () => [],
      events: async () => [],
      signals: () => undefined,
    },
    state: {
      nodes: { open: () => Promise.reject(new Error("not called")) },
      childrenOf: () => [],
      podsOf: () => [],
      annotate: () => Promise.reject(new Error("not used")),
    },
    version: "1.2.3",
    labels: { region: "eu" },
    logger: NOOP_LOGGER,
    metrics: crmMetrics(NOOP_METER),
    ...over,
  });
  const rpc = new RpcServer({
    services: grpc.services,
    ambient: realAmbient,
    onRejected: (method, { peer }, fault) =>
      createAuditLog(over.logger ?? NOOP_LOGGER).reject(method.localName, peer.address, fault),
    authorize: (method, head) => authorizeCall(method, head, { tokens: () => tokens }),
  });
  const { timers, clock } = realAmbient;
  const port = await listenOnePort({
    host: "127.0.0.1",
    port: 0,
    rpc,
    http: (_, response) => void response.end(),
    timers,
  });
  const channels: RpcChannel[] = [];
  const channel = (token?: string): RpcChannel => {
    const created = new RpcChannel({ name: "crm", address: `127.0.0.1:${port.port}`, clock, token: () => token });
    channels.push(created);
    return created;
  };
  const first = channel();
  return {
    port: port.port,
    classes,
    grpc,
    deployments: first.client(DeploymentService),
    info: first.client(CrmInfoService),
    state: first.client(StateStoreService),
    inspection: first.client(InspectionService),
    topology: first.client(TopologyService),
    channel,
    close: async () => {
      for (const one of channels) one.close();
      await port.close(100);
    },
  };
}

type UnitInit = MessageInitShape<typeof DeploymentUnitSchema>;

/** A valid unit. */
export function unit(id: string, over: Partial<UnitInit> = {}): UnitInit {
  return {
    id,
    packageName: "shop",
    classKey: "Order",
    functions: [{ functionKey: "place", provisionConfig: { containerImage: "registry.test/place:1" } }],
    ...over,
  } as UnitInit;
}

const functionWith = (provisionConfig: object): UnitInit => ({
  functions: [{ functionKey: "place", provisionConfig }],
});

/** Invalid requests, each with the paths of its violations. */
export const INVALID_REQUESTS: readonly { case: string; request: object; paths: readonly string[] }[] = [
  { case: "no unit", request: {}, paths: ["$.deployment_unit"] },
  { case: "an empty id", request: { deploymentUnit: unit("") }, paths: ["$.deployment_unit.id"] },
  {
    case: "an id of 80 characters",
    request: { deploymentUnit: unit("a".repeat(80)) },
    paths: ["$.deployment_unit.id"],
  },
  { case: "an id with a slash", request: { deploymentUnit: unit("a/b") }, paths: ["$.deployment_unit.id"] },
  {
    case: "an invalid cpu request",
    request: { deploymentUnit: unit("x", functionWith({ containerImage: "registry.test/a:1", cpuRequest: "lots" })) },
    paths: ["$.deployment_unit.functions[0].provision_config.cpu_request"],
  },
  {
    case: "pod settings that Kubernetes would reject",
    request: {
      deploymentUnit: unit(
        "x",
        functionWith({
          containerImage: "registry.test/a:1",
          pod: {
            hostNetwork: true,
            env: [
              { name: "A", value: "x", valueFrom: { secretKeyRef: { name: "a", key: "b" } } },
              { name: "B", value: 1 },
            ],
            volumes: [{ name: "root", hostPath: { path: "/" } }],
            livenessProbe: { httpGet: { port: 99_999 } },
            securityContext: { runAsUser: 0 },
          },
        }),
      ),
    },
    paths: [
      "$.deployment_unit.functions[0].provision_config.hostNetwork",
      "$.deployment_unit.functions[0].provision_config.env[0].valueFrom",
      "$.deployment_unit.functions[0].provision_config.env[1].value",
      "$.deployment_unit.functions[0].provision_config.volumes[0]",
      "$.deployment_unit.functions[0].provision_config.livenessProbe.httpGet.port",
      "$.deployment_unit.functions[0].provision_config.securityContext.runAsUser",
    ],
  },
  {
    case: "neither functions nor state",
    request: { deploymentUnit: unit("x", { functions: [] }) },
    paths: ["$.deployment_unit.functions"],
  },
  {
    case: "several violations at once",
    request: {
      deploymentUnit: unit("", {
        classKey: "",
        ...functionWith({ containerImage: "Not An Image", memoryRequest: "much", minScale: 3, maxScale: 1 }),
      }),
    },
    paths: [
      "$.deployment_unit.id",
      "$.deployment_unit.class_key",
      "$.deployment_unit.functions[0].provision_config.container_image",
      "$.deployment_unit.functions[0].provision_config.memory_request",
    ],
  },
  {
    case: "an invalid namespace",
    request: { deploymentUnit: unit("x"), namespace: "Not_One" },
    paths: ["$.namespace"],
  },
];
