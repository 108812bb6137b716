import type { Timers } from "@oaas/foundation";
import { virtualAmbient } from "@oaas/foundation/virtual";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoreNode } from "../index.ts";
import { setText, storeEnv, text, type Layout } from "../testing/store-env.ts";
import { startRemoteNode } from "./index.ts";
import { decodeEnvelope, encodeEnvelope, type Envelope, type PeerLinks } from "./messages.ts";

const CART = { collection: "shop.Cart", partition: 0, id: "a" };
const NO_LEADER = /No leader available/;

/** Links in memory, with the encoding of sockets. */
class MemoryLinks {
  readonly #listeners = new Map<number, (from: number, envelope: Envelope) => void>();
  readonly #timers: Timers;
  isCut: (a: number, b: number) => boolean = () => false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  open(self: number): PeerLinks {
    const listeners = this.#listeners;
    const reaches = (other: number): boolean => other !== self && !this.isCut(self, other) && !this.isCut(other, self);
    let own: ((from: number, envelope: Envelope) => void) | undefined;
    return {
      get connected() {
        return new Set([...listeners.keys()].filter(reaches));
      },
      send: (node, envelope) => {
        const target = listeners.get(node);
        if (target === undefined || !reaches(node) || listeners.get(self) !== own) return;
        const line = encodeEnvelope(envelope);
        this.#timers.after(2, () => {
          if (listeners.get(node) === target && reaches(node)) target(self, decodeEnvelope(line));
        });
      },
      onMessage: (listener) => {
        own = listener;
        listeners.set(self, listener);
      },
      close: () => {
        if (listeners.get(self) === own) listeners.delete(self);
      },
    };
  }
}

function openLab(seed = 1) {
  const { time, ...ambient } = virtualAmbient(seed);
  const links = new MemoryLinks(time);
  const nodes = new Map<number, StoreNode>();
  const start = (id: number, layout: Layout = {}): StoreNode => {
    nodes.get(id)?.kill();
    const node = startRemoteNode(storeEnv(id, layout), `cart-${id}`, ambient, ({ id: self }) => links.open(self));
    nodes.set(id, node);
    return node;
  };
  const advance = (byMs: number) => time.advance(byMs);
  const group = async (layout: Layout = {}) => {
    for (const id of layout.nodes ?? [1, 2, 3]) start(id, layout);
    await advance(2_000);
    return [...nodes.values()] as [StoreNode, StoreNode, StoreNode, ...StoreNode[]];
  };
  const write = async (node: StoreNode, id: string): Promise<boolean> => {
    const done = setText(node, { ...CART, id }, id).then(
      () => true,
      () => false,
    );
    await advance(50);
    return Promise.race([done, advance(6_000).then(() => done)]);
  };
  return { links, nodes, start, group, advance, write, ambient };
}

const read = async (node: StoreNode): Promise<string | undefined> => text((await node.getValue(CART, "n")).value);

describe("raft over messages", () => {
  it("replicates, forwards writes to the leader, and applies them everywhere", async () => {
    const { group, write, advance } = openLab();
    const nodes = await group();
    for (const node of nodes) expect(await write(node, "a")).toBe(true);
    await advance(200);
    for (const node of nodes) expect(await node.get(CART)).toMatchObject({ version: 3n });
  });

  it("reports an outdated version of a conditional write through a follower", async () => {
    const { group, write, advance } = openLab();
    const nodes = await group();
    await write(nodes[0], "a");
    await advance(200);
    const batch = { values: new Map(), deleteKeys: ["n"], expectedVersion: 9n };
    for (const node of nodes)
      await expect(node.batchSetValues(CART, batch)).rejects.toMatchObject({ kind: "conflict" });
  });

  it("refuses writes of a minority, and elects another leader", async () => {
    const { group, write, advance, links } = openLab();
    const nodes = await group();
    await write(nodes[0], "a");
    for (const alone of [1, 2, 3]) {
      links.isCut = (a) => a === alone;
      await advance(3_000);
      for (const node of nodes) expect(await write(node, `w-${alone}-${node.id}`)).toBe(node.id !== alone);
      links.isCut = () => false;
      await advance(3_000);
    }
    for (const node of nodes) expect((await node.listObjects("shop.Cart", 0, { limit: 0 })).items).toHaveLength(7);
  });

  it("gives a restarted member the objects of the living majority", async () => {
    const { group, start, write, advance } = openLab();
    const [first] = await group();
    await write(first, "a");
    for (const id of [1, 2, 3]) {
      const node = start(id);
      await advance(3_000);
      expect(await read(node)).toBe("a");
    }
  });

  it("loses all objects when a majority restarts at once, and stops the member that still has them", async () => {
    const { group, start, write, advance } = openLab();
    const [first, , third] = await group();
    await write(first, "a");
    await advance(200);
    const restarted = [start(1), start(2)] as const;
    await advance(5_000);
    expect([await read(restarted[0]), await read(restarted[1]), await read(third)]).toEqual([
      undefined,
      undefined,
      "a",
    ]);
    expect(await write(restarted[1], "b")).toBe(true);
    await expect(setText(third, CART, "late")).rejects.toThrow(NO_LEADER);
  });

  it("founds a group of more members among new ones, and stops the old one", async () => {
    const { group, start, write, advance } = openLab();
    const [old] = await group({ nodes: [1] });
    expect(await write(old, "a")).toBe(true);
    const added = [start(2), start(3)] as const;
    await advance(5_000);
    expect(await read(added[0])).toBeUndefined();
    expect(await write(added[0], "b")).toBe(true);
    await expect(setText(old, CART, "late")).rejects.toThrow(NO_LEADER);
  });

  it("keeps acknowledged objects when members restart one at a time, however the network splits", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer(), async (seed) => {
        const { group, start, write, advance, links, nodes, ambient } = openLab(seed);
        await group();
        const pick = <T>(list: readonly T[]): T => list[Math.floor(ambient.random.next() * list.length)] as T;
        const acknowledged: string[] = [];
        for (let step = 0; step < 12; step += 1) {
          const action = ambient.random.next();
          const alone = pick([1, 2, 3]);
          if (action < 0.4) links.isCut = (a) => a === alone;
          else if (action < 0.6) {
            links.isCut = () => false;
            await advance(4_000);
            start(alone);
            await advance(4_000);
          }
          await advance(ambient.random.next() * 1_500);
          if (await write(pick([...nodes.values()]), `o-${step}`)) acknowledged.push(`o-${step}`);
        }
        links.isCut = () => false;
        await advance(5_000);
        for (const node of nodes.values()) {
          const { items } = await node.listObjects("shop.Cart", 0, { limit: 0 });
          expect(items.map(([id]) => id)).toEqual(expect.arrayContaining(acknowledged));
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe("mst over messages", () => {
  it("replicates writes and deletions, converges after a split, and catches up after a restart", async () => {
    const { group, start, advance, links } = openLab();
    const nodes = await group({ type: "mst" });
    await setText(nodes[0], CART, "x");
    await setText(nodes[0], { ...CART, id: "gone" }, "x");
    await advance(100);
    await nodes[1].delete({ ...CART, id: "gone" });
    links.isCut = (a) => a === 3;
    await setText(nodes[0], CART, "left");
    await setText(nodes[2], CART, "right");
    links.isCut = () => false;
    await advance(3_000);
    const [one, two, three] = await Promise.all(nodes.map(read));
    expect(new Set([one, two, three]).size).toBe(1);
    const restarted = start(2, { type: "mst" });
    await advance(2_000);
    expect(await read(restarted)).toBe(one);
    expect((await restarted.stats())[0]).toMatchObject({ count: 1 });
  });
});
