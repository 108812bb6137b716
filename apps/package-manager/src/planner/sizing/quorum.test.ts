import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { availabilityByCount, availabilityOf, meets, quorumAvailability } from "./quorum.ts";

/** Every combination of up and down, one by one: slow, and with nothing in common with the recurrence. */
function enumerated(replicas: readonly number[], enough: (up: number) => boolean): number {
  let sum = 0;
  for (let world = 0; world < 2 ** replicas.length; world += 1) {
    let probability = 1;
    let up = 0;
    for (const [index, p] of replicas.entries()) {
      const isUp = ((world >> index) & 1) === 1;
      probability *= isUp ? p : 1 - p;
      up += isUp ? 1 : 0;
    }
    if (enough(up)) sum += probability;
  }
  return sum;
}

const share = fc.double({ min: 0, max: 1, noNaN: true });

describe.each(Array.from({ length: 12 }, (_, index) => index + 1))("%s replicas of any availability", (count) => {
  test("the quorum availability equals enumeration", () => {
    fc.assert(
      fc.property(fc.array(share, { minLength: count, maxLength: count }), (replicas) => {
        const want = enumerated(replicas, (up) => up >= Math.floor(count / 2) + 1);
        expect(Math.abs(quorumAvailability(replicas) - want)).toBeLessThan(1e-12);
      }),
      { numRuns: sweepSize(30, 300) },
    );
  });

  test("the availability of any one equals enumeration", () => {
    fc.assert(
      fc.property(fc.array(share, { minLength: count, maxLength: count }), (replicas) => {
        const want = enumerated(replicas, (up) => up > 0);
        expect(Math.abs(availabilityOf(replicas, "independent") - want)).toBeLessThan(1e-12);
      }),
      { numRuns: sweepSize(10, 100) },
    );
  });
});

test.each([
  { replicas: [], want: 0, why: "no replica is up" },
  { replicas: [0.99], want: 0.99, why: "a single replica" },
  { replicas: [0.99, 0.99], want: 0.9801, why: "both of two must be up" },
  { replicas: [0.99, 0.99, 0.99], want: 0.999702, why: "two of three" },
  { replicas: [0.9, 0.9, 0.9], want: 0.972, why: "two of three" },
  { replicas: [1, 1, 0], want: 1, why: "the third does not matter" },
  { replicas: [0, 0, 1], want: 0, why: "one is not a majority" },
])("a quorum of $replicas is $want: $why", ({ replicas, want }) => {
  expect(quorumAvailability(replicas)).toBeCloseTo(want, 12);
});

test("each entry is the availability of that many replicas placed round robin", () => {
  fc.assert(
    fc.property(
      fc.array(share, { minLength: 1, maxLength: 6 }),
      fc.constantFrom("quorum" as const, "independent" as const),
      (clusters, algorithm) => {
        const curve = availabilityByCount(clusters, 20, algorithm);
        for (const [index, availability] of curve.entries()) {
          const sequence = Array.from({ length: index + 1 }, (_, turn) => clusters[turn % clusters.length]!);
          expect(availability).toBeCloseTo(availabilityOf(sequence, algorithm), 12);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test("a better cluster never lowers the quorum availability", () => {
  fc.assert(
    fc.property(fc.array(share, { minLength: 1, maxLength: 15 }), fc.nat(), share, (replicas, at, other) => {
      const index = at % replicas.length;
      const better = replicas.with(index, Math.max(replicas[index]!, other));
      expect(quorumAvailability(better) + 1e-12).toBeGreaterThanOrEqual(quorumAvailability(replicas));
    }),
  );
});

test("the order of replicas does not matter", () => {
  fc.assert(
    fc.property(fc.array(share, { maxLength: 20 }), (replicas) => {
      expect(quorumAvailability(replicas.toReversed())).toBeCloseTo(quorumAvailability(replicas), 12);
    }),
  );
});

test.each([
  { availability: 0.99, target: 0.99, want: true, why: "equal is enough" },
  { availability: 0.3 * 3, target: 0.9, want: true, why: "rounding is tolerated" },
  { availability: 0.989_999_9, target: 0.99, want: false, why: "lower misses the target" },
  { availability: 0.999_999_999, target: 1, want: true, why: "nine nines are the highest target" },
  { availability: 0.999_999_99, target: 1, want: false, why: "eight nines are too few" },
])("$availability against $target: $want, $why", ({ availability, target, want }) => {
  expect(meets(availability, target)).toBe(want);
});
