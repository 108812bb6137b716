import { ClusterStatus, estimateAvailability } from "@oaas/models";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clusterName } from "../testing/plan-inputs.ts";
import { clusterBound, countReplicas, type ClusterReplicas } from "./cluster-failures.ts";
import { domainAvailability, limitingDomain } from "./failure-domains.ts";

const placedIn = (
  cluster: string,
  availability: number,
  replicas: number,
  more: Partial<ClusterReplicas> = {},
): ClusterReplicas => ({ cluster: clusterName(cluster), availability, replicas, ...more });
const zone = (name: string, availability: number) => ({ zone: { name, availability } });

describe("availability by failure domains", () => {
  test.each([
    {
      why: "three replicas in one cluster are as available as the cluster",
      placed: [placedIn("a", 0.95, 3)],
      needed: 2,
      want: 0.95,
    },
    {
      why: "three clusters fail independently",
      placed: [placedIn("a", 0.95, 1), placedIn("b", 0.99, 1), placedIn("c", 0.999, 1)],
      needed: 2,
      want: 0.999441,
    },
    {
      why: "clusters of one zone fail together with it",
      placed: ["a", "b", "c"].map((name) => placedIn(name, 0.99, 1, zone("z", 0.99))),
      needed: 2,
      want: 0.99,
    },
    {
      why: "nodes of one cluster fail independently while it is up",
      placed: [placedIn("a", 0.99 * 0.9, 3, { nodes: { count: 3, availability: 0.9 } })],
      needed: 2,
      want: 0.99 * 0.972,
    },
    {
      why: "replicas on one node fail together",
      placed: [placedIn("a", 0.99 * 0.9, 3, { nodes: { count: 1, availability: 0.9 } })],
      needed: 2,
      want: 0.99 * 0.9,
    },
  ])("$why", ({ placed, needed, want }) => {
    expect(domainAvailability(placed, needed)).toBeCloseTo(want, 12);
  });

  test("names the domain that limits it", () => {
    expect(limitingDomain([placedIn("a", 0.95, 3)], 2)).toMatchObject({ kind: "cluster", name: "a" });
    const shared = ["a", "b", "c"].map((name) => placedIn(name, 0.98, 1, zone("z", 0.99)));
    expect(limitingDomain(shared, 2)).toEqual({ kind: "zone", name: "z", availability: 0.99 });
    expect(limitingDomain([placedIn("a", 0.89, 3, zone("z", 0.9))], 2)).toMatchObject({ kind: "zone", name: "z" });
    const onNodes = [placedIn("a", 0.8, 2, { nodes: { count: 2, availability: 0.8 } })];
    expect(limitingDomain(onNodes, 2)).toMatchObject({ kind: "node", availability: 0.8 });
  });

  const share = fc.double({ min: 0.5, max: 1, noNaN: true });
  const anyPlaced = fc.array(
    fc.record({
      availability: share,
      replicas: fc.integer({ min: 1, max: 5 }),
      zone: fc.option(fc.constantFrom("x", "y", "z"), { nil: undefined }),
      nodes: fc.option(fc.record({ count: fc.integer({ min: 1, max: 6 }), availability: share }), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 5 },
  );
  const ZONES = { x: 0.9, y: 0.97, z: 0.999 } as const;
  const built = anyPlaced.map((all) =>
    all.map(({ availability, replicas, zone: name, nodes }, index) =>
      placedIn(`c${index}`, availability, replicas, {
        ...(name === undefined ? {} : zone(name, ZONES[name])),
        ...(nodes === undefined ? {} : { nodes }),
      }),
    ),
  );

  test("never exceeds the bound that whole clusters set without zones and nodes, and is a probability", () => {
    fc.assert(
      fc.property(built, (placed) => {
        const needed = Math.floor(countReplicas(placed) / 2) + 1;
        const value = domainAvailability(placed, needed);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        const plain = placed.map(({ cluster, availability, replicas }) => ({ cluster, availability, replicas }));
        expect(domainAvailability(plain, needed)).toBeCloseTo(clusterBound(plain, needed), 9);
        const withoutZones = placed.map(({ zone: _zone, ...each }) => each);
        expect(domainAvailability(withoutZones, needed)).toBeLessThanOrEqual(clusterBound(withoutZones, needed) + 1e-9);
      }),
    );
  });

  /** Clusters whose prior, API and nodes are measured, as the planner passes them on. */
  const measured = fc.array(
    fc
      .record({
        api: share,
        nodes: share,
        evidence: fc.double({ min: 0.1, max: 720, noNaN: true }),
        count: fc.integer({ min: 1, max: 6 }),
        replicas: fc.integer({ min: 1, max: 5 }),
      })
      .map(({ api, nodes, evidence, count, replicas }) => {
        const measurement = {
          value: api * nodes,
          apiAvailability: api,
          nodeAvailability: nodes,
          windowHours: 720,
          halfLifeHours: 240,
          samples: 1,
          observedHours: evidence,
          evidenceHours: evidence,
        };
        const reading = { cluster: clusterName("a"), status: ClusterStatus.healthy, measurement };
        const estimate = estimateAvailability(reading, undefined);
        return placedIn("a", estimate?.value ?? 0, replicas, {
          nodes: { count, availability: estimate?.nodeAvailability ?? 0 },
        });
      }),
    { minLength: 1, maxLength: 4 },
  );

  test("one replica in a measured cluster is as available as the cluster", () => {
    fc.assert(
      fc.property(measured, ([one]) => {
        if (one === undefined) return;
        const alone = [{ ...one, replicas: 1 }];
        expect(domainAvailability(alone, 1)).toBeCloseTo(one.availability, 12);
        // More nodes help, and never beyond the part of the cluster.
        expect(domainAvailability([one], 1)).toBeGreaterThanOrEqual(one.availability - 1e-12);
        expect(domainAvailability([one], 1)).toBeLessThanOrEqual(
          one.availability / (one.nodes?.availability ?? 1) + 1e-12,
        );
      }),
    );
  });

  test("agrees with a simulation of measured nodes", () => {
    const draws = sweepSize(20_000, 10_000_000);
    fc.assert(
      fc.property(measured, fc.integer({ min: 1, max: 2 ** 31 - 1 }), (placed, seed) => {
        const needed = Math.floor(countReplicas(placed) / 2) + 1;
        const exact = domainAvailability(placed, needed);
        const error = Math.sqrt(Math.max(exact * (1 - exact), 1 / draws) / draws);
        expect(Math.abs(simulate(placed, needed, draws, seed) - exact)).toBeLessThan(6 * error);
      }),
      { numRuns: sweepSize(20, 8) },
    );
  });

  test("agrees with a simulation of clusters, zones and nodes", () => {
    const draws = sweepSize(20_000, 10_000_000);
    fc.assert(
      fc.property(built, fc.integer({ min: 1, max: 2 ** 31 - 1 }), (placed, seed) => {
        const needed = Math.floor(countReplicas(placed) / 2) + 1;
        const exact = domainAvailability(placed, needed);
        const error = Math.sqrt(Math.max(exact * (1 - exact), 1 / draws) / draws);
        expect(Math.abs(simulate(placed, needed, draws, seed) - exact)).toBeLessThan(6 * error);
      }),
      { numRuns: sweepSize(20, 8) },
    );
  });
});

/** Draws the state of every zone, cluster and node, and counts how often enough replicas are up. */
function simulate(placed: readonly ClusterReplicas[], needed: number, draws: number, seed: number): number {
  const random = randomFrom(seed);
  const zones = [...new Map(placed.flatMap(({ zone: one }) => (one ? [[one.name, one.availability] as const] : [])))];
  const index = new Map(zones.map(([name], at) => [name, at]));
  const clusters = placed.map(({ availability, replicas, zone: one, nodes }) => {
    const rest = (one?.availability ?? 1) * (nodes?.availability ?? 1);
    const used = Math.min(replicas, nodes?.count ?? replicas);
    const held = Array.from({ length: used }, (_, node) => Math.floor((replicas - node - 1) / used) + 1);
    return {
      share: Math.min(1, availability / rest),
      zone: one === undefined ? -1 : (index.get(one.name) ?? -1),
      node: nodes?.availability ?? 1,
      held,
    };
  });
  const isUp = zones.map(() => true);
  let enough = 0;
  for (let draw = 0; draw < draws; draw += 1) {
    for (let at = 0; at < zones.length; at += 1) isUp[at] = random() < (zones[at]?.[1] ?? 1);
    let up = 0;
    for (const cluster of clusters) {
      const clusterUp = random() < cluster.share && (cluster.zone < 0 || isUp[cluster.zone] === true);
      for (const held of cluster.held) if (random() < cluster.node && clusterUp) up += held;
    }
    if (up >= needed) enough += 1;
  }
  return enough / draws;
}

/** A small generator with a seed (mulberry32), so that a failure can be repeated. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
