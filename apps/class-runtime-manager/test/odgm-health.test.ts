import { createServer } from "node:http";
import { oprcData } from "@oaas/contracts/grpc";
import { Fault, sleep } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { bindService, listenOnePort, RpcServer, type OnePort } from "@oaas/rpc";
import { freePorts } from "@oaas/testkit";
import { afterEach, expect, test } from "vitest";
import { createOdgmClient } from "../src/adapters/odgm-client.ts";
import type { Grid } from "../src/odgm-health/grid.ts";

const GRID: Grid = {
  uid: "u",
  key: { namespace: "shop", name: "order" },
  service: "order-odgm-svc.shop",
  nodesService: "order-odgm-pods.shop",
  port: 8080,
  nodes: 2,
  isShared: false,
  collections: [{ name: "shop.Order", partitions: 2, replicas: 1 }],
  nodeOfShard: new Map(),
  lastReading: undefined,
};

const nodes: OnePort[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close(50);
});

/** Starts a data grid node that serves the health API. */
async function startNode(
  shards: number[],
  behaviour: "normal" | "hanging" | "without capabilities" = "normal",
): Promise<string> {
  const service = bindService(oprcData.DataService, {
    stats: async (_request, call) => {
      if (behaviour === "hanging") await sleep(realAmbient.timers, 60_000, call.signal);
      return {
        shards: shards.map((n) => ({ collection: "shop.Order", partitionId: n, shardId: BigInt(n), count: 7n })),
      };
    },
    capabilities: async () => {
      if (behaviour === "without capabilities")
        throw new Fault({ kind: "unimplemented", feature: "Capabilities" }, "not implemented");
      return { stringIds: true, eventPipelineV2: true };
    },
  });
  const node = await listenOnePort({
    host: "127.0.0.1",
    port: 0,
    rpc: new RpcServer({ services: [service], ambient: realAmbient }),
    http: (_, response) => void response.end(),
    timers: realAmbient.timers,
  });
  nodes.push(node);
  return `127.0.0.1:${node.port}`;
}

const queryNodes = (addresses: readonly string[], withinMs = 60_000) =>
  createOdgmClient(async () => addresses, realAmbient.clock, withinMs).query(GRID, new AbortController().signal);

test("returns shards and capabilities of every node", async () => {
  const addresses = [await startNode([0, 1]), await startNode([1], "without capabilities")];
  expect(await queryNodes(addresses)).toEqual([
    {
      address: addresses[0],
      shards: [
        { collection: "shop.Order", partition: 0, shard: 0, objects: 7 },
        { collection: "shop.Order", partition: 1, shard: 1, objects: 7 },
      ],
      capabilities: ["string_ids", "event_pipeline_v2"],
    },
    { address: addresses[1], shards: [{ collection: "shop.Order", partition: 1, shard: 1, objects: 7 }] },
  ]);
});

test("skips nodes that hang, are down, or do not speak gRPC", async () => {
  const [closedPort = 0] = await freePorts(1);
  const other = createServer((_request, response) => response.end("hello"));
  await new Promise<void>((resolve) => void other.listen(0, "127.0.0.1", resolve));
  const address = other.address();
  const web = typeof address === "object" ? (address?.port ?? 0) : 0;
  const addresses = [
    await startNode([0], "hanging"),
    `127.0.0.1:${closedPort}`,
    `127.0.0.1:${web}`,
    await startNode([1]),
  ];
  let answers = await queryNodes(addresses, 1_000);
  // On a busy machine the healthy node may need a longer timeout.
  for (let withinMs = 2_000; answers.length === 0; withinMs *= 2) answers = await queryNodes(addresses, withinMs);
  other.closeAllConnections();
  other.close();
  expect(answers.map(({ shards }) => shards.length)).toEqual([1]);
});

test("rejects when the name does not resolve", async () => {
  const client = createOdgmClient(() => Promise.reject(new Error("no such name")), realAmbient.clock, 1_000);
  await expect(client.query(GRID, new AbortController().signal)).rejects.toThrow("no such name");
});
