import fc from "fast-check";
import { expect, test } from "vitest";
import type { ChangeEvent, Entry } from "../../port/key-value-store.ts";
import { History } from "./history.ts";

const KEYS = ["a/1", "a/2", "b/1", "b/2", "c"];

interface Step {
  /** Each changes another key. */
  readonly changes: readonly { readonly key: string; readonly remove: boolean; readonly size: number }[];
  readonly compactTo: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  changes: fc.uniqueArray(fc.record({ key: fc.constantFrom(...KEYS), remove: fc.boolean(), size: fc.nat(20) }), {
    minLength: 1,
    maxLength: 3,
    selector: ({ key }) => key,
  }),
  compactTo: fc.oneof({ weight: 60, arbitrary: fc.constant(0) }, fc.nat(40)),
});

/** Reference model: every revision, never dropped. */
class Everything {
  readonly table = new Map<string, Entry>();
  readonly revisions: ChangeEvent[][] = [];
  readonly tables: ReadonlyMap<string, Entry>[] = [];

  add({ changes }: Step): ChangeEvent[] {
    const revision = this.revisions.length + 2;
    const events = changes.flatMap(({ key, remove, size }): ChangeEvent[] => {
      const previous = this.table.get(key);
      if (remove) return previous === undefined ? [] : [{ type: "delete", key, revision, previous }];
      const value = "x".repeat(size);
      const entry = { key, value, createRevision: revision, modRevision: revision, version: 1 };
      return [previous === undefined ? { type: "put", entry } : { type: "put", entry, previous }];
    });
    if (events.length === 0) return [];
    this.tables.push(new Map(this.table));
    this.revisions.push(events);
    for (const event of events)
      if (event.type === "put") this.table.set(event.entry.key, event.entry);
      else this.table.delete(event.key);
    return events;
  }
}

function eventsOf(history: History, revision: number, prefix: string, withPrevious: boolean): ChangeEvent[] {
  const to: ChangeEvent[] = [];
  history.collect(revision, { concerns: (key) => key.startsWith(prefix), withPrevious, to });
  return to;
}

function withoutPrevious(event: ChangeEvent): ChangeEvent {
  return event.type === "put"
    ? { type: "put", entry: event.entry }
    : { type: "delete", key: event.key, revision: event.revision };
}

test("returns the retained changes after any number of dropped revisions", () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 40, size: "max" }),
      fc.constantFrom(1, 3, 100),
      fc.integer({ min: 1, max: 3 }),
      (steps, rounds, least) => {
        const history = new History(1, { revisions: least * 20, characters: least * 300 });
        const all = new Everything();
        for (let round = 0; round < rounds; round += 1) {
          for (const each of steps) {
            const events = all.add(each);
            if (events.length > 0) history.append(events);
            if (each.compactTo > 0) history.compact(Math.max(1, history.revision - each.compactTo));
          }
        }
        const { revision: newest, compacted } = history;
        expect(newest).toBe(all.revisions.length + 1);
        for (let revision = compacted + 1; revision <= newest; revision += 1) {
          const events = all.revisions[revision - 2] ?? [];
          const ofA = events.filter((event) => (event.type === "put" ? event.entry.key : event.key).startsWith("a/"));
          expect(eventsOf(history, revision, "", true)).toEqual(events);
          expect(eventsOf(history, revision, "a/", false)).toEqual(ofA.map(withoutPrevious));
          expect(history.touches(revision, (key) => key.startsWith("a/"))).toBe(ofA.length > 0);
        }
        for (let revision = compacted; revision <= newest; revision += 1) {
          const then = all.tables[revision - 1] ?? all.table;
          for (const [key, was] of history.undoTo(revision)) expect(was).toEqual(then.get(key));
        }
        expect(() => history.touches(compacted, () => true)).toThrow(
          expect.objectContaining({ code: "OAAS_STORE_COMPACTED" }),
        );
      },
    ),
    { numRuns: 60, seed: 6, endOnFailure: true },
  );
});
