import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { meets, quorumAvailability } from "./quorum.ts";
import { findLargestShortfall, sizeReplicas, type Demand, type SizingRules } from "./replicas.ts";

const demandOf = (more: Partial<Demand> = {}): Demand => ({
  subject: "",
  target: 0.99,
  strong: false,
  atLeast: 1,
  ...more,
});

function rulesOf(demand: Partial<Demand> = {}, more: Partial<SizingRules> = {}): SizingRules {
  return { demands: [demandOf(demand)], maxReplicas: 50, algorithm: "quorum", canExclude: true, ...more };
}

const same = (availability: number, count: number): number[] => Array.from({ length: count }, () => availability);

describe("counts that equal the earlier implementation", () => {
  test.each([
    { why: "one cluster of 0.99 is enough for 0.99", clusters: same(0.99, 3), demand: {}, want: 1, reaches: 0.99 },
    {
      why: "three for 0.999, because two reach only 0.9801",
      clusters: same(0.99, 3),
      demand: { target: 0.999 },
      want: 3,
      reaches: 0.999702,
    },
    { why: "a target of 0 still needs one", clusters: [0.5], demand: { target: 0 }, want: 1, reaches: 0.5 },
    { why: "STRONG raises 1 to 3", clusters: same(0.99, 3), demand: { strong: true }, want: 3, reaches: 0.999702 },
    {
      why: "STRONG keeps 3",
      clusters: same(0.99, 3),
      demand: { strong: true, target: 0.999 },
      want: 3,
      reaches: 0.999702,
    },
    {
      why: "the two worst clusters are not enough, the third is needed",
      clusters: [0.5, 0.999, 0.999],
      demand: {},
      want: 3,
      reaches: 0.999,
    },
  ])("$why", ({ clusters, demand, want, reaches }) => {
    const [size] = sizeReplicas(clusters, rulesOf(demand)).sizes;
    expect(size?.replicas).toBe(want);
    expect(size?.availability).toBeCloseTo(reaches, 9);
  });
});

describe("counts that differ from the earlier implementation", () => {
  test("places replicas round robin when they outnumber clusters", () => {
    expect(sizeReplicas([0.95], rulesOf())).toMatchObject({ reached: true, sizes: [{ replicas: 3 }] });
  });

  test("STRONG raises an even count to the next odd one", () => {
    const clusters = [0.1, 1, 1, 1];
    const weak = sizeReplicas(clusters, rulesOf({ atLeast: 4 }, { canExclude: false }));
    expect(weak.sizes[0]?.replicas).toBe(4);
    const strong = sizeReplicas(clusters, rulesOf({ atLeast: 4, strong: true }, { canExclude: false }));
    expect(strong.sizes[0]?.replicas).toBe(5);
  });

  test("raises a requested count that misses the target", () => {
    expect(sizeReplicas(same(0.99, 3), rulesOf({ atLeast: 2 })).sizes[0]?.replicas).toBe(3);
  });

  test("excludes a cluster that puts the target out of reach, unless the user named it", () => {
    const clusters = [0.1, 0.95];
    expect(sizeReplicas(clusters, rulesOf())).toMatchObject({ excluded: 1, reached: true });
    expect(sizeReplicas(clusters, rulesOf({}, { canExclude: false }))).toMatchObject({ excluded: 0, reached: false });
  });

  test("the independent algorithm needs fewer replicas", () => {
    const independent = rulesOf({ target: 0.999 }, { algorithm: "independent" });
    expect(sizeReplicas(same(0.9, 2), independent).sizes[0]?.replicas).toBe(3);
    expect(sizeReplicas(same(0.99, 2), independent).sizes[0]?.replicas).toBe(2);
  });

  test.each([0.5, 0.9, 0.99, 0.3])("the independent algorithm equals the closed formula for %s", (p) => {
    for (const target of [0.9, 0.95, 0.99, 0.9999]) {
      const [size] = sizeReplicas([p], rulesOf({ target }, { algorithm: "independent" })).sizes;
      expect(size?.replicas).toBe(Math.max(1, Math.ceil(Math.log(1 - target) / Math.log(1 - p) - 1e-9)));
    }
  });
});

test("returns the closest size and the demand with the largest shortfall", () => {
  const rules = rulesOf(
    { target: 0.9999 },
    { maxReplicas: 3, demands: [demandOf(), demandOf({ subject: "f", target: 0.9999 })] },
  );
  const sizing = sizeReplicas([0.95], rules);
  expect(sizing.reached).toBe(false);
  expect(sizing.sizes[0]).toMatchObject({ replicas: 3, reached: true });
  expect(sizing.sizes[1]).toMatchObject({ replicas: 3, reached: false });
  expect(findLargestShortfall(sizing, rules.demands)).toMatchObject({
    demand: { subject: "f" },
    best: { replicas: 3 },
  });
});

test("allows no count when the cap is below the minimum for STRONG", () => {
  const rules = rulesOf({ strong: true }, { maxReplicas: 2 });
  const sizing = sizeReplicas([1], rules);
  expect(sizing).toMatchObject({ reached: false, sizes: [undefined] });
  expect(findLargestShortfall(sizing, rules.demands)).toEqual({ demand: rules.demands[0] });
});

const shares = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 8 });
const targets = fc.double({ min: 0, max: 1, noNaN: true });
const sorted = (clusters: readonly number[]): number[] => clusters.toSorted((a, b) => a - b);

test("returns the smallest allowed count that meets the target", () => {
  fc.assert(
    fc.property(shares, targets, fc.boolean(), fc.integer({ min: 1, max: 5 }), (clusters, target, strong, atLeast) => {
      const worstFirst = sorted(clusters);
      const sizing = sizeReplicas(worstFirst, rulesOf({ target, strong, atLeast }, { maxReplicas: 12 }));
      const pool = worstFirst.slice(sizing.excluded);
      const tried = Array.from({ length: 12 }, (_, index) => index + 1)
        .filter((n) => n >= atLeast && (!strong || (n >= 3 && n % 2 === 1)))
        .map((n) => ({ n, q: quorumAvailability(Array.from({ length: n }, (_, turn) => pool[turn % pool.length]!)) }));
      const first = tried.find(({ q }) => meets(q, target));
      expect(sizing.reached).toBe(first !== undefined);
      if (first === undefined) {
        expect(sizing.sizes[0]?.availability).toBeCloseTo(Math.max(...tried.map(({ q }) => q)), 12);
      } else expect(sizing.sizes[0]?.replicas).toBe(first.n);
    }),
  );
});

test("more or better clusters never lower the best availability", () => {
  const best = (clusters: readonly number[]): number =>
    sizeReplicas(sorted(clusters), rulesOf({ target: 1.1 }, { maxReplicas: 15 })).sizes[0]?.availability ?? 0;
  fc.assert(
    fc.property(shares, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(), (clusters, more, at) => {
      expect(best([...clusters, more]) + 1e-8).toBeGreaterThanOrEqual(best(clusters));
      const index = at % clusters.length;
      const better = clusters.with(index, Math.max(more, clusters[index]!));
      expect(best(better) + 1e-8).toBeGreaterThanOrEqual(best(clusters));
    }),
  );
});
