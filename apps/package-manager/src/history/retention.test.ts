import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ALL_RETAINED, missingRevision, pruneRevisions, retainedNumbers, type RetainedRevisions } from "./retention.ts";

const NONE = () => false;

describe("pruning", () => {
  test("keeps the newest revisions and removes one per write", () => {
    expect(pruneRevisions(ALL_RETAINED, 3, { keep: 3, isPinned: NONE }).removed).toEqual([]);
    const { retained, removed } = pruneRevisions(ALL_RETAINED, 4, { keep: 3, isPinned: NONE });
    expect(removed).toEqual([1]);
    expect(retainedNumbers(retained, 4)).toEqual([4, 3, 2]);
  });

  test("keeps a pinned revision until it is released", () => {
    const isPinned = (revision: number): boolean => revision === 1;
    const { retained } = pruneRevisions(ALL_RETAINED, 6, { keep: 2, isPinned });
    expect(retainedNumbers(retained, 6)).toEqual([6, 5, 1]);
    const released = pruneRevisions(retained, 7, { keep: 2, isPinned: NONE });
    expect(released.removed).toEqual([1, 5]);
    expect(retainedNumbers(released.retained, 7)).toEqual([7, 6]);
  });

  test("removes a bounded number per write after the limit was lowered", () => {
    const { removed, retained } = pruneRevisions(ALL_RETAINED, 1000, { keep: 2, isPinned: NONE });
    expect(removed).toEqual([1, 2, 3, 4, 5]);
    expect(retained.oldest).toBe(6);
  });

  test("never forgets a stored revision, and reaches the limit", () => {
    const pins = fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 8 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 10 }), fc.array(pins, { minLength: 60, maxLength: 60 }), (keep, pinned) => {
        const stored = new Set<number>();
        let retained: RetainedRevisions = ALL_RETAINED;
        for (let newest = 1; newest <= 60; newest += 1) {
          stored.add(newest);
          const isPinned = (revision: number): boolean => pinned[newest - 1]?.includes(revision) ?? false;
          const pruned = pruneRevisions(retained, newest, { keep, isPinned });
          for (const revision of pruned.removed) {
            expect(stored.delete(revision), `${revision} was stored`).toBe(true);
            expect(isPinned(revision)).toBe(false);
          }
          ({ retained } = pruned);
          expect([...stored].toSorted((a, b) => b - a)).toEqual(
            [...retainedNumbers(retained, newest)].toSorted((a, b) => b - a),
          );
        }
        const last = pruneRevisions(retained, 60, { keep, isPinned: NONE }).retained;
        expect(retainedNumbers(last, 60).length).toBeLessThanOrEqual(keep + 8);
      }),
      { numRuns: 50 },
    );
  });
});

test("says whether a missing revision was removed", () => {
  const shop = { resource: "package", name: "shop", setting: "PACKAGE_REVISIONS_KEEP" } as const;
  expect(missingRevision(shop, 2, { oldest: 11, pinned: [] }).message).toBe(
    'revision 2 of package "shop" was removed; the oldest is 11 (PACKAGE_REVISIONS_KEEP)',
  );
  expect(missingRevision(shop, 99, { oldest: 11, pinned: [] }).message).toBe(
    'package revision "shop 99" was not found',
  );
});
