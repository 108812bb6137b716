import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ClusterName } from "@oaas/models";
import {
  clusterBound,
  countReplicas,
  neededReplicas,
  singlePointsOfFailure,
  withClustersDown,
  worstReplicas,
  type ClusterReplicas,
} from "./cluster-failures.ts";
import { availabilityOf } from "./quorum.ts";

const placed = (...clusters: readonly (readonly [availability: number, replicas: number])[]): ClusterReplicas[] =>
  clusters.map(([availability, replicas], index) => ({ cluster: `c${index}` as ClusterName, availability, replicas }));

const boundOf = (all: readonly ClusterReplicas[], algorithm: "quorum" | "independent"): number =>
  clusterBound(all, neededReplicas(countReplicas(all), algorithm));

/** Every combination of clusters that are up and down, one by one. */
function enumerated(clusters: readonly ClusterReplicas[], needed: number): number {
  let sum = 0;
  for (let world = 0; world < 2 ** clusters.length; world += 1) {
    let probability = 1;
    let up = 0;
    for (const [index, { availability, replicas }] of clusters.entries()) {
      const isUp = ((world >> index) & 1) === 1;
      probability *= isUp ? availability : 1 - availability;
      up += isUp ? replicas : 0;
    }
    if (up >= needed) sum += probability;
  }
  return sum;
}

const share = fc.double({ min: 0, max: 1, noNaN: true });
const algorithms = fc.constantFrom("quorum" as const, "independent" as const);
const clusters = fc
  .array(fc.tuple(share, fc.integer({ min: 1, max: 9 })), { minLength: 1, maxLength: 9 })
  .map((all) => placed(...all));

describe("the bound that clusters set", () => {
  test("equals enumeration over clusters that are up and down", () => {
    fc.assert(
      fc.property(clusters, algorithms, (all, algorithm) => {
        const needed = neededReplicas(countReplicas(all), algorithm);
        const want = enumerated(all, needed);
        expect(Math.abs(clusterBound(all, needed) - want)).toBeLessThan(1e-12);
      }),
      { numRuns: sweepSize(300, 3000) },
    );
  });

  test("is the availability of the cluster when there is only one, however many replicas it has", () => {
    fc.assert(
      fc.property(share, fc.integer({ min: 1, max: 50 }), algorithms, (availability, replicas, algorithm) => {
        expect(boundOf(placed([availability, replicas]), algorithm)).toBeCloseTo(availability, 12);
      }),
    );
  });

  test("equals the quorum when every cluster has one replica", () => {
    fc.assert(
      fc.property(fc.array(share, { minLength: 1, maxLength: 12 }), algorithms, (all, algorithm) => {
        const one = placed(...all.map((availability) => [availability, 1] as const));
        expect(boundOf(one, algorithm)).toBeCloseTo(availabilityOf(all, algorithm), 12);
      }),
    );
  });

  test("never falls when a cluster gets better", () => {
    fc.assert(
      fc.property(clusters, fc.nat(), share, algorithms, (all, at, other, algorithm) => {
        const index = at % all.length;
        const before = all[index]!;
        const better = all.with(index, { ...before, availability: Math.max(before.availability, other) });
        expect(boundOf(better, algorithm) + 1e-12).toBeGreaterThanOrEqual(boundOf(all, algorithm));
      }),
    );
  });

  test("does not depend on the order of clusters", () => {
    fc.assert(
      fc.property(clusters, algorithms, (all, algorithm) => {
        expect(boundOf(all.toReversed(), algorithm)).toBeCloseTo(boundOf(all, algorithm), 12);
      }),
    );
  });

  test.each([
    { all: placed(), want: 0, why: "no replica is up" },
    { all: placed([0.999, 3]), want: 0.999, why: "three replicas in one cluster fail together" },
    { all: placed([0.999, 3], [0.9, 2]), want: 0.999, why: "only the first cluster has a majority" },
    { all: placed([0.999, 1], [0.99, 1], [0.95, 1]), want: 0.999_441, why: "two of three clusters" },
    { all: placed([0.9, 1], [0.9, 1]), want: 0.81, why: "both of two must be up" },
  ])("is $want for $all: $why", ({ all, want }) => expect(boundOf(all, "quorum")).toBeCloseTo(want, 12));
});

test("a single point of failure is a cluster without which the bound is 0", () => {
  fc.assert(
    fc.property(clusters, algorithms, (all, algorithm) => {
      const certain = all.map((each) => ({ ...each, availability: 1 }));
      const needed = neededReplicas(countReplicas(all), algorithm);
      const points = singlePointsOfFailure(all, needed);
      for (const { cluster } of all) {
        const left = clusterBound(withClustersDown(certain, new Set([cluster])), needed);
        expect(left).toBe(points.includes(cluster) ? 0 : 1);
      }
    }),
  );
});

test("the worst replicas are those of the worst clusters", () => {
  const nodes = placed([0.99, 2], [0.9, 1], [0.95, 3]);
  expect(worstReplicas(nodes, 3).map(({ cluster, replicas }) => [cluster, replicas])).toEqual([
    ["c1", 1],
    ["c2", 2],
  ]);
});
