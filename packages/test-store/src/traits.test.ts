import { virtualAmbient } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  MEASURED_MISSING_SHARDS,
  readStoreEnvironment,
  StoreNetwork,
  type StoreNetworkOptions,
  type StoreNode,
} from "./index.ts";
import { entries, setText, storeEnv, text, type Layout } from "./testing/store-env.ts";

const CART = { collection: "shop.Cart", partition: 0, id: "a" };
const NO_LEADER = /No leader available/;

interface Lab {
  readonly network: StoreNetwork;
  readonly advance: (byMs: number) => Promise<void>;
  /** Starts a node, empty, in place of one with the same id. */
  readonly start: (id: number, layout?: Layout, cluster?: string) => StoreNode;
  /** Starts one node for each id of a layout. */
  readonly group: (layout: Layout) => readonly [StoreNode, StoreNode, StoreNode, ...StoreNode[]];
}

function openLab(options: Partial<StoreNetworkOptions> = {}, seed = 1): Lab {
  const { time, ...ambient } = virtualAmbient(seed);
  const network = new StoreNetwork({ ambient, ...options });
  const start: Lab["start"] = (id, layout = {}, cluster = "edge") => {
    network.nodes.find((node) => node.id === id)?.kill();
    return network.start(storeEnv(id, layout), { name: `cart-${id}`, cluster });
  };
  const group: Lab["group"] = (layout) => {
    const ids = layout.nodes ?? [1, 2, 3];
    return ids.map((id) => start(id, layout)) as unknown as ReturnType<Lab["group"]>;
  };
  return { network, start, group, advance: (byMs) => time.advance(byMs) };
}

/** The text of an entry of the object in each node; undefined for an absent object. */
function readAll(nodes: readonly StoreNode[]): Promise<readonly (string | undefined)[]> {
  return Promise.all(nodes.map(async (node) => text((await node.getValue(CART, "n")).value)));
}

describe("T1 memory", () => {
  it("loses the objects of an unreplicated store that restarts, with persistent volumes too", async () => {
    const { start } = openLab();
    const layout = { nodes: [1], type: "basic", options: { persistent: "true" } };
    await setText(start(1, layout), CART, "x");
    await expect(start(1, layout).get(CART)).rejects.toThrow("object not found");
  });
});

describe("T2 members", () => {
  it("gives a restarted member the objects of the living majority", async () => {
    const { group, start } = openLab();
    const [first] = group({});
    await setText(first, CART, "x");
    expect(await readAll([start(1)])).toEqual(["x"]);
  });

  it.each([
    { why: "3 to 5 copies", from: [1, 2, 3], to: [1, 2, 3, 4, 5], restarted: [3, 4, 5] },
    { why: "1 to 3 copies", from: [1], to: [1, 2, 3], restarted: [2, 3] },
    { why: "3 to 1 copies", from: [1, 2, 3], to: [1], restarted: [1] },
  ])("loses all objects when a group changes from $why", async ({ from, to, restarted }) => {
    const { group, start, network } = openLab();
    await setText(group({ nodes: from })[0], CART, "x");
    const changed = restarted.map((id) => start(id, { nodes: to }));
    expect(await readAll(changed)).toEqual(changed.map(() => undefined));
    await setText(changed[0] as StoreNode, CART, "new");
    const old = network.nodes.filter((node) => !changed.includes(node) && to.includes(node.id));
    for (const node of old) await expect(setText(node, CART, "late")).rejects.toThrow(NO_LEADER);
  });

  it("loses all objects when a majority restarts at once, and stops the member that still has them", async () => {
    const { group, network, start } = openLab();
    const [first, , third] = group({});
    await setText(first, CART, "x");
    for (const node of network.nodes.slice(0, 2)) node.kill();
    const restarted = [start(1), start(2)];
    expect(await readAll([...restarted, third])).toEqual([undefined, undefined, "x"]);
    await expect(setText(third, CART, "y")).rejects.toThrow(NO_LEADER);
  });

  it("keeps acknowledged objects when members restart one at a time, however the network splits", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const { group, network, start, advance } = openLab({ catchUpMs: 20 }, seed);
        const ids = [1, 2, 3];
        group({ nodes: ids });
        await advance(30);
        const { random } = network.ambient;
        const pick = <T>(list: readonly T[]): T => list[Math.floor(random.next() * list.length)] as T;
        const acknowledged: string[] = [];
        for (let step = 0; step < 30; step += 1) {
          const node = pick(network.nodes);
          const id = `o-${step}`;
          const action = random.next();
          if (action < 0.6) {
            await setText(node, { ...CART, id }, "x").then(
              () => acknowledged.push(id),
              () => undefined,
            );
          } else if (action < 0.8) {
            const cut = network.split([pick(network.nodes)]);
            await setText(pick(network.nodes), { ...CART, id }, "x").then(
              () => acknowledged.push(id),
              () => undefined,
            );
            cut.heal();
          } else {
            start(node.id);
            await advance(30);
          }
        }
        for (const node of network.nodes) {
          const { items } = await node.listObjects("shop.Cart", 0, { limit: 0 });
          expect(items.map(([id]) => id)).toEqual(expect.arrayContaining(acknowledged));
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe("T3 shards", () => {
  const layout = { partitions: 4 };
  const countShards = (nodes: readonly StoreNode[]): number =>
    nodes.reduce((sum, { shards }) => sum + shards.length, 0);
  const missed = (layout: Layout): number => {
    let groups = 0;
    for (let seed = 0; seed < 200; seed += 1) {
      const { group } = openLab({ missingShards: MEASURED_MISSING_SHARDS }, seed);
      if (countShards(group(layout)) < 12) groups += 1;
    }
    return groups / 200;
  };

  it("misses shards in some new groups, unless the node of the first replica alone initialises", () => {
    expect(missed(layout)).toBeGreaterThan(0.4);
    expect(missed({ ...layout, guarded: true })).toBe(0);
  });

  it("misses a shard in some restarted nodes until the next restart", () => {
    let nodes = 0;
    for (let seed = 0; seed < 200; seed += 1) {
      const { group, start } = openLab({ missingShards: MEASURED_MISSING_SHARDS }, seed);
      group({ ...layout, guarded: true });
      if (start(1, { ...layout, guarded: true }).shards.length < 4) nodes += 1;
    }
    expect(nodes / 200).toBeGreaterThan(0.15);
    expect(nodes / 200).toBeLessThan(0.5);
  });

  it("leaves a dropped shard out of requests, statistics and votes", async () => {
    const { group } = openLab();
    const [first, second, third] = group(layout);
    first.dropShard("shop.Cart", 0);
    await expect(first.get(CART)).rejects.toThrow("not found shard");
    expect((await first.stats()).map(({ partition }) => partition)).toEqual([1, 2, 3]);
    await setText(second, CART, "x");
    third.kill();
    await expect(setText(second, CART, "y")).rejects.toThrow(NO_LEADER);
  });
});

describe("T4 quorum", () => {
  it("refuses writes without a majority; reads, statistics and deletions of absent objects succeed", async () => {
    const { group, network } = openLab();
    const [first, second, third] = group({});
    await setText(first, CART, "old");
    const cut = network.split([third]);
    await setText(second, CART, "new");
    await expect(setText(third, CART, "lost")).rejects.toMatchObject({ kind: "internal", message: NO_LEADER });
    await expect(third.delete(CART)).rejects.toThrow(NO_LEADER);
    expect(await readAll([third])).toEqual(["old"]);
    expect(await third.stats()).toMatchObject([{ count: 1 }]);
    await third.delete({ ...CART, id: "absent" });
    cut.heal();
    expect(await readAll([third])).toEqual(["new"]);
  });

  it("has no leader for a while after the loss of one", async () => {
    const { group, advance } = openLab({ electionMs: 1_500 });
    const [first, second] = group({});
    first.kill();
    await expect(setText(second, CART, "x")).rejects.toThrow(NO_LEADER);
    await advance(1_500);
    await setText(second, CART, "x");
  });

  it("acknowledges a write after a majority has it, over a slow network that loses messages", async () => {
    const { group, network, advance } = openLab();
    const [first, second, third] = group({});
    network.latencyMs = 50;
    network.lossRate = 0.5;
    let done = false;
    const write = setText(first, CART, "x").then(() => (done = true));
    await advance(40);
    expect(done).toBe(false);
    await advance(4_000);
    await write;
    expect(await readAll([first, second, third])).toEqual(["x", "x", "x"]);
  });

  it("does not know the outcome of a write whose messages are lost", async () => {
    const { group, network, advance } = openLab();
    const [first, second] = group({});
    network.lossRate = 1;
    const write = expect(setText(first, CART, "x")).rejects.toMatchObject({ kind: "deadline-exceeded" });
    await advance(6_000);
    await write;
    network.lossRate = 0;
    await advance(200);
    expect(await readAll([first, second])).toEqual(["x", "x"]);
  });
});

describe("T5 types", () => {
  it("accepts mst writes without a majority and converges when nodes meet again", async () => {
    const { group, network } = openLab();
    const nodes = group({ type: "mst" });
    const cut = network.split([nodes[0]]);
    await setText(nodes[0], CART, "x");
    expect(await readAll(nodes)).toEqual(["x", undefined, undefined]);
    cut.heal();
    expect(await readAll(nodes)).toEqual(["x", "x", "x"]);
  });

  it("catches up after the restart of an mst node", async () => {
    const { group, start } = openLab();
    const [first] = group({ type: "mst" });
    await setText(first, CART, "x");
    expect(await readAll([start(1, { type: "mst" })])).toEqual(["x"]);
  });

  it("takes the remote object in an mst conflict", async () => {
    const { group, network } = openLab();
    const nodes = group({ type: "mst", nodes: [1, 2] });
    const cut = network.split([nodes[0]]);
    await setText(nodes[0], CART, "mine");
    await setText(nodes[1], CART, "remote");
    cut.heal();
    expect(await readAll(nodes)).toEqual(["remote", "remote"]);
  });

  it("exchanges mst copies at the interval", async () => {
    const { group, advance } = openLab({ mstIntervalMs: 5_000 });
    const nodes = group({ type: "mst" });
    await setText(nodes[0], CART, "x");
    expect(await readAll(nodes)).toEqual(["x", undefined, undefined]);
    await advance(5_000);
    expect(await readAll(nodes)).toEqual(["x", "x", "x"]);
  });

  it.each(["basic", "single", "none"])("keeps separate copies of type %s", async (type) => {
    const { group } = openLab();
    const nodes = group({ type });
    await setText(nodes[0], CART, "x");
    expect(await readAll(nodes)).toEqual(["x", undefined, undefined]);
  });
});

describe("T6 sessions", () => {
  const writable = (sessions: number): number => {
    let count = 0;
    for (let seed = 0; seed < 50; seed += 1) {
      const { group } = openLab({ allowsPort: (port) => port === 17_447 }, seed);
      const [first] = group({ partitions: 4, env: { ODGM_MAX_SESSIONS: String(sessions) } });
      count += first.shards.filter(({ isWritable }) => isWritable).length;
    }
    return count / 200;
  };

  it("leaves about half of the partitions without a leader with four sessions under a network policy", () => {
    expect(writable(1)).toBe(1);
    expect(writable(4)).toBeGreaterThan(0.3);
    expect(writable(4)).toBeLessThan(0.7);
  });
});

describe("T7 keys", () => {
  it("shares the mst objects of two deployments with equal collections, and a gateway reaches one", async () => {
    const { group, network } = openLab();
    const [first] = group({ type: "mst", nodes: [1, 2] });
    await setText(first, CART, "x");
    const [other] = group({ type: "mst", nodes: [8, 9] });
    expect(await readAll([other])).toEqual(["x"]);
    expect(network.gateway("shop.Cart", 0)).toBe(first);
  });
});

describe("T8 network", () => {
  const clusters = ["edge", "cloud", "core"];
  const start = (lab: Lab) =>
    clusters.map((cluster, index) => lab.start(index + 1, {}, cluster)) as [StoreNode, StoreNode];

  it("survives the loss of a cluster with a mesh of routers, and dies with the hub of a star", async () => {
    const mesh = openLab();
    const [edge] = start(mesh);
    mesh.network.loseCluster("cloud");
    await setText(edge, CART, "x");
    const star = openLab({ routers: { hub: "cloud" } });
    const [cutOff] = start(star);
    const lost = star.network.loseCluster("cloud");
    await expect(setText(cutOff, CART, "x")).rejects.toThrow(NO_LEADER);
    lost.heal();
    await setText(cutOff, CART, "x");
  });

  it("enables multicast scouting by default", () => {
    const read = (env: object) => {
      const settings = readStoreEnvironment({ ...storeEnv(1), ...env });
      return settings.ok && settings.value.multicast;
    };
    expect(read({})).toBe(true);
    expect(read({ OPRC_ZENOH_SCOUTING_MULTICAST_ENABLED: "false" })).toBe(false);
  });
});

describe("T9 requests", () => {
  it("does not forward requests for a partition that another node holds", async () => {
    const { network } = openLab();
    const env = storeEnv(1, { nodes: [2] });
    const node = network.start(env, { name: "a", cluster: "edge" });
    network.start(storeEnv(2, { nodes: [2] }), { name: "b", cluster: "edge" });
    const notFound = { kind: "not-found", message: "not found shard" };
    await expect(node.get(CART)).rejects.toMatchObject(notFound);
    await expect(setText(node, CART, "x")).rejects.toMatchObject(notFound);
    await expect(node.listObjects("shop.Cart", 0, { limit: 0 })).rejects.toMatchObject(notFound);
  });
});

describe("T10 stop", () => {
  it("ends gRPC on SIGTERM and goes on voting until it is killed", async () => {
    const { group } = openLab();
    const [first, second, third] = group({});
    third.kill();
    second.signal("SIGTERM");
    await expect(second.get(CART)).rejects.toMatchObject({ kind: "unavailable" });
    await setText(first, CART, "x");
    second.signal("SIGKILL");
    await expect(setText(first, CART, "y")).rejects.toThrow(NO_LEADER);
  });

  it("ends in two seconds on SIGINT", async () => {
    const { group, advance } = openLab();
    const [first] = group({});
    first.signal("SIGINT");
    await advance(1_999);
    expect(first.state).toBe("draining");
    await advance(1);
    expect(first.state).toBe("ended");
  });
});

describe("T11 environment", () => {
  it.each([
    { why: "a node id that is a name", env: { ODGM_NODE_ID: "cart-0" }, at: "$.ODGM_NODE_ID" },
    { why: "an empty node id", env: { ODGM_NODE_ID: "" }, at: "$.ODGM_NODE_ID" },
    { why: "a member that is a name", env: { ODGM_MEMBERS: "1,two" }, at: "$.ODGM_MEMBERS" },
    { why: "a fraction in the time limit", env: { ODGM_TRIGGER_TIMEOUT_MS: "0.5" }, at: "$.ODGM_TRIGGER_TIMEOUT_MS" },
  ])("ends the process for $why", ({ env, at }) => {
    const { network } = openLab();
    const start = () => network.start({ ...storeEnv(1), ...env }, { name: "a", cluster: "edge" });
    expect(start).toThrow(at.slice(2));
    expect(network.nodes).toEqual([]);
  });

  it.each([
    { why: "text that is not JSON", collection: "[" },
    { why: "no shard type", collection: [{ name: "a", partition_count: 1, replica_count: 1, shard_assignments: [] }] },
    { why: "fewer assignments than partitions", collection: [{ ...storedCollection(), partition_count: 2 }] },
  ])("lives without shards for a collection with $why", async ({ collection }) => {
    const { network } = openLab();
    const stated = typeof collection === "string" ? collection : JSON.stringify(collection);
    const env = { ...storeEnv(1), ODGM_COLLECTION: stated };
    const node = network.start(env, { name: "a", cluster: "edge" });
    expect(node.settings.problems).toHaveLength(1);
    expect(await node.stats()).toEqual([]);
  });

  it("ignores variables that it does not read", () => {
    const ignored = [
      "ODGM_CLUSTER_ID",
      "ODGM_COLLECTIONS",
      "ODGM_LOG",
      "ODGM_NODE_ADDR",
      "OPRC_CLS_ID",
      "OPRC_DEPLOYMENT_ID",
    ];
    const env = { ...storeEnv(1), ...Object.fromEntries(ignored.map((name) => [name, "x"])), RUST_LOG: "debug" };
    const settings = readStoreEnvironment(env);
    expect(settings).toMatchObject({ ok: true, value: { ignored, log: "debug" } });
  });

  it("uses ODGM_MEMBERS only without shard assignments", () => {
    const nodesOf = (assigned: boolean) => {
      const [collection] = JSON.parse(storeEnv(1, { partitions: 2 })["ODGM_COLLECTION"] ?? "[]") as [object];
      const stated = assigned ? collection : { ...collection, shard_assignments: [] };
      const env = { ...storeEnv(1), ODGM_MEMBERS: "7,8,9", ODGM_COLLECTION: JSON.stringify([stated]) };
      const settings = readStoreEnvironment(env);
      return (
        settings.ok && settings.value.collections[0]?.partitions.map(({ members }) => members.map(({ node }) => node))
      );
    };
    expect(nodesOf(true)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
    expect(nodesOf(false)).toEqual([
      [7, 8, 9],
      [8, 9, 7],
    ]);
  });
});

describe("T12 the rest", () => {
  it("backs up by pages of ids, and versions start again after a restore", async () => {
    const { group } = openLab();
    const [source] = group({ nodes: [1], type: "none" });
    const [target] = group({ nodes: [2], type: "none" });
    for (let index = 0; index < 25; index += 1) {
      const key = { ...CART, id: `o-${String(index).padStart(2, "0")}` };
      await setText(source, key, "first");
      await setText(source, key, "second");
    }
    let cursor: Uint8Array | undefined;
    const ids: string[] = [];
    do {
      const page = await source.listObjects("shop.Cart", 0, { prefix: "o-", limit: 10, cursor });
      for (const [id] of page.items) {
        ids.push(id);
        await target.set({ ...CART, id }, (await source.get({ ...CART, id })).entries);
      }
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(ids).toHaveLength(25);
    expect(await source.get({ ...CART, id: "o-07" })).toMatchObject({ version: 2n });
    expect(await target.get({ ...CART, id: "o-07" })).toEqual({ version: 1n, entries: entries("second") });
  });
});

function storedCollection(): object {
  const [collection] = JSON.parse(storeEnv(1)["ODGM_COLLECTION"] ?? "[]") as [object];
  return collection;
}
