import { CrmInfoService } from "@oaas/contracts/grpc";
import type { KubeClient } from "@oaas/kube-runtime";
import {
  describeOnTarget,
  eventually,
  makeRunFolder,
  startTcpProxy,
  type KubernetesUnderTest,
  type RunFolder,
  type TcpFault,
  type TcpProxy,
} from "@oaas/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLASS_RUNTIMES, CORE_CHILD_KINDS, NODES } from "../src/controller/kinds/resource-types.ts";
import { startClassCluster } from "./support/class-cluster.ts";
import { startFaultInjectingManager, type FaultInjectingManager } from "./support/fault-injecting-manager.ts";
import { startManagerProcess, type ManagerProcess } from "./support/manager-process.ts";
import {
  applyClass,
  differences,
  createNamespace,
  assertEqualSnapshots,
  adminClient,
  snapshotNamespace,
  type DesiredClass,
  type NamespaceSnapshot,
} from "./support/namespace-snapshot.ts";

const BEFORE: DesiredClass = { functions: { a: "1", b: "1" }, template: "dev" };
const AFTER: DesiredClass = { functions: { a: "2", b: "1", c: "1" }, template: "statefulset" };
const SERVICES = CORE_CHILD_KINDS.find(({ kind }) => kind === "Service");

/** An outage between the controllers and the API server; `begin` returns the function that ends it. */
interface Outage {
  readonly case: string;
  readonly begin: (tcp: TcpProxy, crm: FaultInjectingManager) => () => void;
}

const bytes = (fault: TcpFault) => (tcp: TcpProxy) => {
  tcp.set(fault);
  return () => tcp.set("pass");
};

const OUTAGES: readonly Outage[] = [
  { case: "packets are dropped silently", begin: bytes("swallow") },
  { case: "every connection is reset", begin: bytes("reset") },
  { case: "traffic is delayed", begin: bytes("delay") },
  { case: "connections break within a response", begin: bytes("halve") },
  { case: "caches lag behind", begin: (_tcp, crm) => crm.transport.holdWatches() },
  {
    case: "watches break repeatedly and miss events",
    begin: (_tcp, crm) => {
      const timer = setInterval(() => crm.transport.cutWatches(), 50);
      return () => clearInterval(timer);
    },
  },
  {
    case: "resource versions expire",
    begin: (_tcp, crm) => {
      crm.transport.expireWatches();
      return () => undefined;
    },
  },
];

/** Outages of the servers. */
const SERVER_OUTAGES: readonly {
  readonly name: string;
  readonly begin: (cluster: KubernetesUnderTest) => unknown;
  readonly end: (cluster: KubernetesUnderTest) => unknown;
}[] = [
  { name: "etcd-frozen", begin: ({ etcd }) => etcd.freeze(), end: ({ etcd }) => etcd.thaw() },
  { name: "etcd-killed", begin: ({ etcd }) => etcd.kill(), end: ({ etcd }) => etcd.start() },
  { name: "api-server-frozen", begin: ({ apiServer }) => apiServer.freeze(), end: ({ apiServer }) => apiServer.thaw() },
  { name: "api-server-killed", begin: ({ apiServer }) => apiServer.kill(), end: ({ apiServer }) => apiServer.start() },
];

describeOnTarget("outages between the controller and the API server", {}, () => {
  let cluster: KubernetesUnderTest;
  let client: KubeClient;
  let tcp: TcpProxy;
  let undisturbed: NamespaceSnapshot;

  /** Creates a class and waits until the controllers, behind the proxy, are idle. */
  const startWithClass = async (namespace: string): Promise<FaultInjectingManager> => {
    await createNamespace(client, namespace);
    const crm = await startFaultInjectingManager(cluster, namespace, `https://127.0.0.1:${tcp.port}`);
    await applyClass(client, namespace, "order", BEFORE);
    await waitUntilObserved(namespace);
    await crm.waitUntilIdle();
    return crm;
  };
  const waitUntilObserved = (namespace: string): Promise<unknown> =>
    eventually(
      async () => {
        const { metadata, status } = await client.resource(CLASS_RUNTIMES).get({ namespace, name: "order" });
        return status?.observedGeneration === metadata.generation;
      },
      { timeoutMs: 60_000, what: `a reconcile of the class in ${namespace}` },
    );

  beforeAll(async () => {
    cluster = await startClassCluster();
    client = adminClient(cluster);
    tcp = await startTcpProxy(Number(new URL(cluster.url).port));
    const crm = await startWithClass("undisturbed");
    await applyClass(client, "undisturbed", "order", AFTER);
    await waitUntilObserved("undisturbed");
    await crm.waitUntilIdle();
    undisturbed = await snapshotNamespace(client, "undisturbed");
    await crm.close();
  });
  afterAll(async () => {
    await tcp.close();
    await client.close();
    await cluster.close();
  });

  test.each(OUTAGES)("converges after an outage: $case", async ({ case: name, begin }) => {
    const namespace = name.toLowerCase().replaceAll(/[^a-z]+/g, "-");
    const crm = await startWithClass(namespace);
    const end = begin(tcp, crm);
    await applyClass(client, namespace, "order", AFTER);
    if (SERVICES) await client.resource(SERVICES).delete({ namespace, name: "order-fn-1" });
    end();
    await eventually(async () => assertEqualSnapshots(await snapshotNamespace(client, namespace), undisturbed), {
      timeoutMs: 90_000,
      what: "the state without an outage",
    });
    await crm.waitUntilIdle();
    crm.transport.resetRecords();
    await crm.reconcileOnce(namespace, "order");
    expect(crm.transport.writes).toEqual([]);
    await crm.close();
  });

  describe("outages of the servers, with one manager process", () => {
    const namespaces = ["no-outage", ...SERVER_OUTAGES.map(({ name }) => name)];
    let folder: RunFolder;
    let crm: ManagerProcess;
    let expected: NamespaceSnapshot;

    /** Whether the manager reports a healthy cluster with a leader. */
    const isHealthy = (): Promise<boolean> =>
      crm.channel
        .client(CrmInfoService)
        .getEnvHealth({ env: "" }, { deadlineMs: 5_000 })
        .then(
          ({ status, leader }) => status === "Healthy" && leader === true,
          () => false,
        );
    const changeClass = async (namespace: string): Promise<void> => {
      await applyClass(client, namespace, "order", BEFORE);
      await waitUntilObserved(namespace);
      await applyClass(client, namespace, "order", AFTER);
    };

    beforeAll(async () => {
      folder = await makeRunFolder("outages");
      for (const namespace of namespaces) await createNamespace(client, namespace);
      await createReadyNode(client);
      crm = await startManagerProcess(cluster.kubeconfig, folder.path, {
        OPRC_CRM_K8S_NAMESPACE: namespaces.join(","),
        OPRC_CRM_FEATURES_LEADER_ELECTION: "true",
        OPRC_CRM_LEADER_ELECTION_LEASE_SECS: "3",
      });
      await changeClass("no-outage");
      // The template scores differ with the settings of this manager; everything else is known.
      const isTemplateScore = (difference: string): boolean => difference.includes(".status.template.scores.");
      expected = await eventually(
        async () => {
          const snapshot = await snapshotNamespace(client, "no-outage");
          expect(differences(snapshot, undisturbed).filter((difference) => !isTemplateScore(difference))).toEqual([]);
          return snapshot;
        },
        { timeoutMs: 90_000, what: "the state without an outage" },
      );
    });
    afterAll(async () => {
      await crm.process.stop(0);
      crm.channel.close();
      await folder.remove();
    });

    test.each(SERVER_OUTAGES)(
      "$name: reports unhealthy, and converges afterwards without a restart",
      async ({ name, begin, end }) => {
        await eventually(isHealthy, { timeoutMs: 60_000, what: "health before" });
        await changeClass(name);
        await begin(cluster);
        await eventually(async () => !(await isHealthy()), { timeoutMs: 90_000, what: "an unhealthy report" });
        // A restart of the manager would not help.
        expect((await fetch(`http://127.0.0.1:${crm.port}/healthz`)).status).toBe(200);
        await end(cluster);
        await eventually(async () => assertEqualSnapshots(await snapshotNamespace(client, name), expected), {
          timeoutMs: 90_000,
          what: "the state without an outage",
        });
        await eventually(isHealthy, { timeoutMs: 60_000, what: "health afterwards" });
        expect(crm.process.exit).toBeUndefined();
      },
      240_000,
    );
  });
});

/** Creates a ready node in a cluster without a node controller. */
async function createReadyNode(client: KubeClient): Promise<void> {
  const node = { apiVersion: "v1", kind: "Node", metadata: { name: "node-1" } };
  await client.resource(NODES).create(node);
  const ready = { status: { conditions: [{ type: "Ready", status: "True", reason: "Test", message: "" }] } };
  await client.resource(NODES).patch({ namespace: "", name: "node-1" }, "merge", ready, { subresource: "status" });
}
