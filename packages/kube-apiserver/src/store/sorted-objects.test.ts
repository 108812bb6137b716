import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChangeHistory } from "./change-history.ts";
import { SortedObjects } from "./sorted-objects.ts";
import { StoredObject } from "./stored-object.ts";

const steps = fc.array(
  fc.record({ key: fc.nat(400).map((n) => `ns/${String(n).padStart(3, "0")}`), isDeletion: fc.boolean() }),
  { maxLength: 600 },
);

describe("sorted objects", () => {
  test("match a map in order at every step and at every retained revision", () => {
    fc.assert(
      fc.property(steps, fc.nat(600), (changes, back) => {
        const model = new Map<string, number>();
        const pictures: string[] = [""];
        const history = new ChangeHistory(1000, 0);
        let objects = SortedObjects.none;
        changes.forEach(({ key, isDeletion }, index) => {
          const revision = index + 1;
          const before = objects.get(key);
          const after = new StoredObject(key, revision, { metadata: { resourceVersion: String(revision) } });
          if (isDeletion) model.delete(key);
          else model.set(key, revision);
          objects = isDeletion ? objects.without(key) : objects.with(after);
          if (!isDeletion || before !== undefined) {
            history.add({ revision, isDeletion, after, ...(before === undefined ? {} : { before }) });
          }
          pictures.push(formatObjects(objects));
        });
        const expected = [...model].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, revision]) => `${key}@${revision}`);
        expect(formatObjects(objects)).toBe(expected.join());
        expect(objects.size).toBe(model.size);
        const revision = Math.min(back, changes.length);
        const then = history.undone(objects, revision);
        expect(then === undefined ? undefined : formatObjects(then)).toBe(pictures[revision]);
        const start = `ns/${String(back % 400).padStart(3, "0")}`;
        expect([...objects.from(start)].map(({ key }) => key)).toEqual(
          [...model.keys()].filter((key) => key >= start).sort(),
        );
      }),
      { numRuns: 60 },
    );
  });
});

function formatObjects(objects: SortedObjects): string {
  return [...objects.from("")].map(({ key, revision }) => `${key}@${revision}`).join();
}
