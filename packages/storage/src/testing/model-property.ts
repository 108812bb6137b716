import { unreachable } from "@oaas/foundation";
import fc from "fast-check";
import { expect, test } from "vitest";
import { conflictOf } from "../port/store-faults.ts";
import type { KeyValueStore, Write } from "../port/key-value-store.ts";
import { KeyValueModel, type ModelStep, type ConditionState } from "./kv-model.ts";
import type { StoreUnderTest, SuiteOptions } from "./kv-suite.ts";
import { take } from "./waiting.ts";

/** Few keys, so that they collide; prefixes of each other; characters that sort differently in UTF-16 and UTF-8. */
const KEYS = [
  "a",
  "a/",
  "a/1",
  "a/1/x",
  "a/2",
  "a0",
  "b",
  "b/\u{1F600}",
  "b/\uFFFD",
  "b/\uD7FF",
  "b/\uE000",
  "c\u0001",
];
const PREFIXES = ["", "a", "a/", "a/1", "b/", "b/\uD7FF", "b/\uFFFD", "c", "zz"];
const CONDITION_STATES: ConditionState[] = [
  "absent",
  "present",
  "unchanged",
  "changed",
  "same-incarnation",
  "other-incarnation",
];

const key = fc.constantFrom(...KEYS);
const write: fc.Arbitrary<Write> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ op: fc.constant("put" as const), key, value: fc.string({ maxLength: 6 }) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("delete" as const), key }) },
  {
    weight: 1,
    arbitrary: fc.record({ op: fc.constant("delete-prefix" as const), prefix: fc.constantFrom(...PREFIXES.slice(1)) }),
  },
);
const step: fc.Arbitrary<ModelStep> = fc.record({
  conditions: fc.array(fc.record({ key, state: fc.constantFrom(...CONDITION_STATES) }), { maxLength: 2 }),
  writes: fc.array(write, { maxLength: 4 }).map(withoutOverlap),
});

const action = fc.oneof(
  { weight: 5, arbitrary: step.map((transaction) => ({ type: "commit" as const, transaction })) },
  {
    weight: 2,
    arbitrary: fc.array(step, { minLength: 2, maxLength: 6 }).map((steps) => ({ type: "together" as const, steps })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("get" as const), keys: fc.array(key, { maxLength: 4 }), back: fc.nat(5) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant("range" as const),
      prefix: fc.constantFrom(...PREFIXES),
      limit: fc.integer({ min: 1, max: 4 }),
      back: fc.nat(5),
    }),
  },
);

/** Any sequence of calls, and a watch from the start, match the model. */
async function checkAgainstModel(open: () => Promise<StoreUnderTest>, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 20 }), async (actions) => {
      const under = await open();
      const { store } = under;
      try {
        const model = new KeyValueModel(await store.revision());
        const first = model.revision + 1;
        for (const each of actions) await perform(store, model, each);
        const watched = take(store.watch({ prefix: "", fromRevision: first, withPrevious: true }), model.log.length);
        expect(await watched).toEqual(model.log);
      } finally {
        await under.dispose();
      }
    }),
    { numRuns: runs },
  );
}

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

async function perform(store: KeyValueStore, model: KeyValueModel, each: Action): Promise<void> {
  switch (each.type) {
    case "commit":
      await commitOne(store, model, each.transaction);
      break;
    case "together":
      await commitTogether(store, model, each.steps);
      break;
    case "get": {
      const atRevision = back(model, each.back);
      const found = await store.getMany(each.keys, { atRevision });
      const known = model.entries(atRevision);
      expect(found).toEqual(each.keys.map((key) => known.find((entry) => entry.key === key)));
      break;
    }
    case "range":
      await readPages(store, model, each);
      break;
    default:
      unreachable(each);
  }
}

async function commitOne(store: KeyValueStore, model: KeyValueModel, step: ModelStep): Promise<void> {
  const transaction = model.resolve(step);
  try {
    const { revision, changed } = await store.commit(transaction);
    expect(revision).toBeGreaterThanOrEqual(model.revision);
    expect(model.apply(transaction, revision)).toBe(changed ? "changed" : "unchanged");
  } catch (thrown) {
    if (conflictOf(thrown) === undefined) throw thrown;
    expect(model.apply(transaction, model.revision + 1)).toBe("conflict");
  }
}

/** Concurrent commits take effect in the order of their revisions, like sequential ones. */
async function commitTogether(store: KeyValueStore, model: KeyValueModel, steps: readonly ModelStep[]): Promise<void> {
  const transactions = steps.map((step) => ({ writes: model.resolve(step).writes }));
  const done = await Promise.all(transactions.map((transaction) => store.commit(transaction)));
  const order = done.map((_, index) => index).filter((index) => done[index]?.changed);
  order.sort((a, b) => (done[a]?.revision ?? 0) - (done[b]?.revision ?? 0));
  for (const index of order) {
    expect(model.apply(transactions[index] as never, done[index]?.revision as number)).toBe("changed");
  }
}

async function readPages(
  store: KeyValueStore,
  model: KeyValueModel,
  query: { readonly prefix: string; readonly limit: number; readonly back: number },
): Promise<void> {
  const { prefix, limit } = query;
  const revision = back(model, query.back);
  const expected = model.entries(revision).filter((entry) => entry.key.startsWith(prefix));
  const found = [];
  let after: string | undefined;
  do {
    const page = await store.range({
      prefix,
      limit,
      count: true,
      atRevision: revision,
      ...(after === undefined ? {} : { after }),
    });
    expect(page.total).toBe(expected.length);
    found.push(...page.entries);
    after = page.next;
  } while (after !== undefined);
  expect(found).toEqual(expected);
}

function back(model: KeyValueModel, steps: number): number {
  return model.revisions.at(-1 - steps) ?? model.revision;
}

function withoutOverlap(writes: readonly Write[]): Write[] {
  const targets = writes.map((each) => (each.op === "delete-prefix" ? each.prefix : each.key));
  return writes.filter((each, index) =>
    targets.slice(0, index).every((other, at) => {
      const target = targets[index] as string;
      const covers = writes[at]?.op === "delete-prefix" && target.startsWith(other);
      return other !== target && !covers && !(each.op === "delete-prefix" && other.startsWith(target));
    }),
  );
}

/** The property as part of the suite. */
export function modelCases(options: SuiteOptions): void {
  test("any sequence of calls matches the model", { timeout: 120_000 }, async () => {
    await checkAgainstModel(options.open, options.modelRuns);
  });
}
