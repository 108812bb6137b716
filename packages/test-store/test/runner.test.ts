import { oprcData } from "@oaas/contracts/grpc";
import { realAmbient } from "@oaas/foundation/real";
import { embeddedServer, MemoryTransport } from "@oaas/kube-apiserver";
import { KubeClient, resourceType, type ResourceType } from "@oaas/kube-runtime";
import type { KubeObject } from "@oaas/kube-core";
import { RpcChannel } from "@oaas/rpc";
import { eventually } from "@oaas/testkit";
import { afterEach, expect, test } from "vitest";
import { StoreNetwork } from "@oaas/test-store";
import { runStateStores, type StateStores } from "@oaas/test-store/runner";
import { storeEnv } from "@oaas/test-store/testing";

const kind = (group: string, name: string, resource: string): ResourceType<KubeObject> =>
  resourceType({ group, version: "v1", kind: name, resource, namespaced: true });
const STATEFUL_SETS = kind("apps", "StatefulSet", "statefulsets");
const CONFIG_MAPS = kind("", "ConfigMap", "configmaps");
const PODS = kind("", "Pod", "pods");
const CART = { clsId: "shop.Cart", partitionId: 0, objectId: "a" };

const closers: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Cluster {
  readonly client: KubeClient;
  readonly stores: StateStores;
}

async function startCluster(name: string, network: StoreNetwork): Promise<Cluster> {
  const { server } = embeddedServer({ ...realAmbient, simulation: { nodes: 1 } });
  await server.start();
  const client = new KubeClient({ transport: new MemoryTransport(server), ambient: realAmbient, userAgent: "test" });
  const stores = runStateStores({ client, cluster: name, network, ambient: realAmbient });
  closers.push(
    () => server.close(),
    () => client.close(),
    () => stores.close(),
  );
  await stores.ready;
  return { client, stores };
}

const nodes = [100, 101, 200];

/** A store with the variables that the class runtime manager renders. */
async function createStore({ client }: Cluster, prefix: number, replicas: number): Promise<void> {
  const namespace = "default";
  const { ODGM_COLLECTION: collections = "" } = storeEnv(1, { nodes, guarded: true });
  await client.resource(CONFIG_MAPS).create({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "cart", namespace },
    data: { "collections.json": collections },
  } as KubeObject);
  const env = [
    { name: "POD_IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } },
    {
      name: "POD_INDEX",
      valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } },
    },
    { name: "ODGM_NODE_ID", value: `${prefix}$(POD_INDEX)` },
    { name: "ODGM_COLLECTION", valueFrom: { configMapKeyRef: { name: "cart", key: "collections.json" } } },
  ];
  const labels = { app: "cart", "oaas.io/component": "odgm" };
  await client.resource(STATEFUL_SETS).create({
    apiVersion: "apps/v1",
    kind: "StatefulSet",
    metadata: { name: "cart", namespace },
    spec: {
      replicas,
      serviceName: "cart",
      podManagementPolicy: "Parallel",
      updateStrategy: { type: "OnDelete" },
      selector: { matchLabels: { app: "cart" } },
      template: { metadata: { labels }, spec: { containers: [{ name: "odgm", image: "odgm:1", env }] } },
    },
  } as KubeObject);
}

const addressOf = ({ stores }: Cluster, pod: string): Promise<string> =>
  eventually(() => {
    const address = stores.addressOf("default", pod);
    expect(address).toBeDefined();
    return address as string;
  });

async function openStore(address: string) {
  const channel = new RpcChannel({ name: "the store", address, clock: realAmbient.clock, deadlineMs: 5_000 });
  closers.push(() => channel.close());
  return channel.client(oprcData.DataService);
}

test("replicates over the pods of two clusters, and a new pod catches up", async () => {
  const network = new StoreNetwork({ ambient: realAmbient });
  const edge = await startCluster("edge", network);
  const cloud = await startCluster("cloud", network);
  await createStore(edge, 10, 2);
  await createStore(cloud, 20, 1);
  const first = await openStore(await addressOf(edge, "cart-0"));
  const remote = await openStore(await addressOf(cloud, "cart-0"));
  const object = { entries: { n: { data: new TextEncoder().encode("x") } } };
  await first.set({ ...CART, object });
  expect(String((await remote.get(CART)).obj?.entries["n"]?.data)).toBe("x");

  const before = await addressOf(edge, "cart-1");
  await edge.client.resource(PODS).delete({ namespace: "default", name: "cart-1" });
  await eventually(() => {
    expect(edge.stores.addressOf("default", "cart-1")).not.toBe(before);
    expect(edge.stores.addressOf("default", "cart-1")).toBeDefined();
  });
  const restarted = await openStore(await addressOf(edge, "cart-1"));
  expect((await restarted.stats({})).shards).toMatchObject([{ collection: "shop.Cart", partitionId: 0, count: 1n }]);
  expect(network.nodes.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(nodes);
});

test("cuts the stores on a lost node off, and connects them again", async () => {
  const network = new StoreNetwork({ ambient: realAmbient });
  const edge = await startCluster("edge", network);
  const cloud = await startCluster("cloud", network);
  await createStore(edge, 10, 2);
  await createStore(cloud, 20, 1);
  await addressOf(edge, "cart-1");
  const remote = await openStore(await addressOf(cloud, "cart-0"));
  await eventually(() => remote.set({ ...CART, object: { entries: {} } }));
  const pod = await cloud.client.resource(PODS).get({ namespace: "default", name: "cart-0" });
  const { nodeName } = (pod as unknown as { spec: { nodeName: string } }).spec;
  const cut = cloud.stores.loseMachine(nodeName);
  const write = remote.set({ ...CART, object: { entries: { n: { data: new Uint8Array() } } } });
  await expect(write).rejects.toThrow("No leader available");
  expect(cloud.stores.addressOf("default", "cart-0")).toBeUndefined();
  cut.heal();
  await remote.set({ ...CART, object: { entries: { n: { data: new Uint8Array() } } } });
});

test("starts a store when its ConfigMap appears, finds it by pod IP, and ends it with its pod", async () => {
  const network = new StoreNetwork({ ambient: realAmbient });
  const edge = await startCluster("edge", network);
  await createStore(edge, 10, 1);
  const address = await addressOf(edge, "cart-0");
  const pod = await edge.client.resource(PODS).get({ namespace: "default", name: "cart-0" });
  const { podIP } = (pod as unknown as { status: { podIP: string } }).status;
  expect(edge.stores.addressOf("default", podIP)).toBe(address);
  expect(edge.stores.nodeOf("default", "cart-0")?.id).toBe(100);
  await edge.client.resource(STATEFUL_SETS).setScale({ namespace: "default", name: "cart" }, 0);
  await eventually(() => expect(edge.stores.addressOf("default", "cart-0")).toBeUndefined());
  expect(network.nodes).toEqual([]);
});
