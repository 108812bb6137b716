import { create } from "@bufbuild/protobuf";
import { oprcData } from "@oaas/contracts/grpc";
import type { KubeObject } from "@oaas/kube-core";
import { isFault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { StoreNetwork, type StoreNode } from "@oaas/test-store";
import { serveStoreNode, type ServedNode } from "@oaas/test-store/grpc";
import { storeEnv, type Layout } from "@oaas/test-store/testing";
import { afterEach, expect, test } from "vitest";
import { createStoreNodes } from "../src/adapters/store-nodes.ts";
import type { Pod } from "../src/lifecycle/observation/observed-objects.ts";
import { startGrpcServices, unit, type GrpcFixture } from "./support/grpc-fixture.ts";

const DEPLOYMENT = { deploymentId: "cart" };
const NODES = [1, 2, 3];
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A class whose store has three nodes; those of `elsewhere` are in another cluster. */
interface StoreUnderTest {
  readonly grpc: GrpcFixture;
  readonly network: StoreNetwork;
  readonly nodes: readonly StoreNode[];
  readonly logs: readonly Readonly<Record<string, unknown>>[];
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startStore(layout: Layout = {}, elsewhere: readonly number[] = []): Promise<StoreUnderTest> {
  const network = new StoreNetwork({ ambient: realAmbient });
  const here = NODES.filter((id) => !elsewhere.includes(id));
  const envs = NODES.map((id) => storeEnv(id, { partitions: 2, ...layout }));
  const nodes = envs.map((env, index) => network.start(env, { name: `cart-${index}`, cluster: "edge" }));
  const served = new Map<string, ServedNode>();
  for (const [index, node] of nodes.entries()) {
    const listener = await serveStoreNode(node, { host: "127.0.0.1", port: 0, ambient: realAmbient });
    served.set(`cart-${index}`, listener);
    closing.push(() => listener.close());
  }
  const metadata = { name: "cart", namespace: "shop" };
  const children = [
    { kind: "ConfigMap", metadata, data: { "collections.json": envs[0]?.["ODGM_COLLECTION"] } },
    ...here.map((id) => statefulSet(id)),
  ] as unknown as readonly KubeObject[];
  const logs: Readonly<Record<string, unknown>>[] = [];
  const logger = { child: () => logger, warn: (_: string, fields: object) => void logs.push(fields as never) };
  const grpc = await startGrpcServices({
    logger: { ...logger, info: () => undefined, debug: () => undefined, error: () => undefined } as never,
    state: {
      nodes: createStoreNodes(({ name }) => served.get(name.replace(/-0$/, ""))?.address, realAmbient.clock, 1000),
      childrenOf: () => children,
      podsOf: () => here.map((id) => pod(id)),
      annotate: () => Promise.reject(new Error("not used")),
    },
  });
  closing.push(() => grpc.close());
  const byCluster = { edge: { ids: here.map(BigInt) }, cloud: { ids: elsewhere.map(BigInt) } };
  await grpc.deployments.deploy({
    namespace: "shop",
    deploymentUnit: unit("cart", {
      odgmConfig: { collections: ["shop.Cart"], envNodeIds: byCluster },
    }),
  });
  return { grpc, network, nodes, logs };
}

function statefulSet(id: number): object {
  const env = [{ name: "ODGM_NODE_ID", value: String(id) }];
  const template = { spec: { containers: [{ name: "odgm", env }] } };
  const metadata = { name: `cart-${id - 1}`, namespace: "shop" };
  return { kind: "StatefulSet", metadata, spec: { replicas: 1, template } };
}

function pod(id: number): Pod {
  const state = { running: { startedAt: "2026-01-01T00:00:00Z" } };
  return {
    metadata: { name: `cart-${id - 1}-0`, namespace: "shop", uid: String(id) },
    status: { phase: "Running", containerStatuses: [{ name: "odgm", state }] },
  } as unknown as Pod;
}

const objectOf = (entries: Readonly<Record<string, Uint8Array>>) =>
  create(oprcData.ObjDataSchema, {
    entries: Object.fromEntries(Object.entries(entries).map(([key, data]) => [key, { data }])),
  });
const object = (text: string) => objectOf({ note: encode(text) });

test("writes, reads, lists and deletes objects on the nodes that hold the partition", async () => {
  const { grpc, nodes, logs } = await startStore();
  for (const objectId of ["b", "a"])
    await grpc.state.setStateObject({ ...DEPLOYMENT, partition: 1, objectId, object: object(objectId) });
  const read = await grpc.state.getStateObject({ ...DEPLOYMENT, partition: 1, objectId: "a" });
  expect(new TextDecoder().decode(read.object?.entries["note"]?.data)).toBe("a");
  expect(read).toMatchObject({ version: 1n, collection: "shop.Cart" });
  expect(await nodes[2]?.get({ collection: "shop.Cart", partition: 1, id: "b" })).toBeDefined();
  const list = await grpc.state.listStateObjects({ ...DEPLOYMENT, partition: 1, fresh: true });
  expect(list).toMatchObject({
    collection: "shop.Cart",
    partitionCount: 2,
    objects: [{ objectId: "a" }, { objectId: "b" }],
  });
  await grpc.state.deleteStateObject({ ...DEPLOYMENT, partition: 1, objectId: "a" });
  await expect(grpc.state.getStateObject({ ...DEPLOYMENT, partition: 1, objectId: "a" })).rejects.toThrow('"a"');
  await expect(grpc.state.deleteStateObject({ ...DEPLOYMENT, partition: 1, objectId: "a" })).rejects.toSatisfy(
    (thrown: unknown) => isFault(thrown, "not-found") && thrown.detail.resource === "object",
  );
  expect(logs.filter(({ action }) => action === "deleteStateObject")).toMatchObject([
    { target: "cart//1/a", outcome: "done" },
    { target: "cart//1/a", outcome: "refused" },
  ]);
});

test("pages a partition, and leaves out objects of the platform", async () => {
  const { grpc, nodes } = await startStore();
  for (const id of ["a", "b", "oaas.health.edge", "z"])
    await nodes[0]?.set({ collection: "shop.Cart", partition: 0, id }, new Map());
  const ids: string[] = [];
  let pageToken: Uint8Array | undefined;
  do {
    const page = await grpc.state.listStateObjects({
      ...DEPLOYMENT,
      partition: 0,
      limit: 2,
      ...(pageToken ? { pageToken } : {}),
    });
    ids.push(...page.objects.map(({ objectId }) => objectId));
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  expect(ids).toEqual(["a", "b", "z"]);
  const prefixed = await grpc.state.listStateObjects({ ...DEPLOYMENT, partition: 0, prefix: "b" });
  expect(prefixed.objects).toMatchObject([{ objectId: "b" }]);
});

test("asks the next node when one does not have the partition or does not respond", async () => {
  const { grpc, nodes } = await startStore();
  await grpc.state.setStateObject({ ...DEPLOYMENT, partition: 0, objectId: "a", object: object("x") });
  nodes[0]?.dropShard("shop.Cart", 0);
  nodes[1]?.kill();
  const read = await grpc.state.getStateObject({ ...DEPLOYMENT, partition: 0, objectId: "a" });
  expect(read.object?.entries).toHaveProperty("note");
  nodes[2]?.kill();
  await expect(grpc.state.getStateObject({ ...DEPLOYMENT, partition: 0, objectId: "a" })).rejects.toThrow(
    /no node of partition 0 of shop.Cart responds \(cart-0-0: does not have it; cart-1-0: /,
  );
});

test("says that a partition without a quorum was not written, and still reads it", async () => {
  const { grpc, nodes } = await startStore();
  const at = { ...DEPLOYMENT, partition: 0, objectId: "a" };
  await grpc.state.setStateObject({ ...at, object: object("x") });
  nodes[1]?.kill();
  nodes[2]?.kill();
  await expect(grpc.state.setStateObject({ ...at, object: object("y") })).rejects.toSatisfy(
    (thrown: unknown) => isFault(thrown, "unavailable") && /has no quorum.*nothing was written/.test(thrown.message),
  );
  expect((await grpc.state.getStateObject(at)).object?.entries).toHaveProperty("note");
  await expect(grpc.state.listStateObjects({ ...DEPLOYMENT, partition: 0, fresh: true })).rejects.toThrow("no quorum");
});

test("names the clusters that hold a partition when this one does not", async () => {
  const { grpc } = await startStore({ nodes: [3] }, [3]);
  await expect(grpc.state.listStateObjects({ ...DEPLOYMENT, partition: 0 })).rejects.toSatisfy(
    (thrown: unknown) =>
      isFault(thrown, "failed-precondition") && thrown.message.endsWith("is not in this cluster, but in cloud"),
  );
});

test("removes the entries of an object that is written without any", async () => {
  const { grpc } = await startStore();
  const at = { ...DEPLOYMENT, partition: 0, objectId: "a" };
  await grpc.state.setStateObject({ ...at, object: object("x") });
  await grpc.state.setStateObject({ ...at, object: objectOf({}) });
  expect((await grpc.state.getStateObject(at)).object?.entries).toEqual({});
});

test.each([
  { why: "a partition that does not exist", request: { partition: 2 }, text: "use 0 to 1" },
  { why: "a collection that does not exist", request: { collection: "x" }, text: 'collection "x"' },
  { why: "an id that the store would change", request: { objectId: "Ab" }, text: "$.object_id" },
  { why: "an id of the platform", request: { objectId: "oaas.health.x" }, text: "belongs to the platform" },
  {
    why: "a key that the store would change",
    request: { object: objectOf({ "A b": encode("x") }) },
    text: '"A b" is not a key',
  },
  {
    why: "an object that is too large",
    request: { object: objectOf({ a: new Uint8Array(3 * 1024 * 1024) }) },
    text: "use at most",
  },
])("rejects $why and changes nothing", async ({ request, text }) => {
  const { grpc, nodes } = await startStore();
  const write = { ...DEPLOYMENT, partition: 0, objectId: "a", object: object("x"), ...(request as object) };
  await expect(grpc.state.setStateObject(write)).rejects.toThrow(text);
  expect((await nodes[0]?.stats())?.map(({ count }) => count)).toEqual([0, 0]);
});
