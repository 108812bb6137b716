import fc from "fast-check";
import { expect, test } from "vitest";
import { rollOut, type TemplateUser } from "./roll-out.ts";

const user = (key: string, revision?: string, state: TemplateUser["state"] = "available"): TemplateUser => ({
  key,
  ...(revision === undefined ? {} : { revision }),
  state,
});

test.each([
  { case: "no classes to update", users: [user("a", "2")], want: { may: ["a"], waiting: [] } },
  {
    case: "a new class never waits",
    users: [user("a"), user("b", "2", "moving")],
    want: { may: ["a", "b"], waiting: [] },
  },
  {
    case: "one at a time, in order",
    users: [user("c", "1"), user("b", "1"), user("a", "2")],
    want: { may: ["a", "b"], waiting: ["c"] },
  },
  {
    case: "the next waits for the one being updated",
    users: [user("a", "2", "moving"), user("b", "1")],
    want: { may: ["a"], waiting: ["b"] },
  },
  {
    case: "a failure stops the rollout",
    users: [user("a", "2", "failed"), user("b", "1")],
    want: { may: ["a"], waiting: ["b"], haltedBy: "a" },
  },
  {
    case: "a failure with the old revision does not stop the rollout",
    users: [user("a", "1", "failed"), user("b", "1")],
    want: { may: ["a"], waiting: ["b"] },
  },
  {
    case: "a class that cannot be rendered stops the rollout and may retry",
    users: [user("b", "1"), { ...user("a", "1"), rejects: "2" }],
    want: { may: ["a"], waiting: ["b"], haltedBy: "a" },
  },
  {
    case: "an earlier rejection does not stop the rollout",
    users: [user("b", "1"), { ...user("a", "1"), rejects: "0" }],
    want: { may: ["a"], waiting: ["b"] },
  },
])("$case", ({ users, want }) => {
  const { mayUpdate: mayMove, waiting, haltedBy } = rollOut(users, "2", 1);
  expect({ may: [...mayMove].sort(), waiting, ...(haltedBy === undefined ? {} : { haltedBy }) }).toEqual(want);
});

test("updates one class first, then a tenth at a time", () => {
  const others = Array.from({ length: 39 }, (_, index) => user(`u${index + 10}`, "1"));
  const granted = (first: TemplateUser): number => rollOut([first, ...others], "2").mayUpdate.size - 1;
  expect([granted(user("a", "2", "moving")), granted(user("a", "2")), rollOut(others, "2").mayUpdate.size]).toEqual([
    0, 4, 1,
  ]);
});

test("never exceeds the parallel limit, and completes without failures", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      (keys, parallel) => {
        let users = keys.map((key) => user(key, "1"));
        for (let step = 0; step < 2 * keys.length; step++) {
          const { mayUpdate: mayMove } = rollOut(users, "2", parallel);
          const moving = users.filter(({ key, revision }) => mayMove.has(key) && revision === "1");
          expect(moving.length).toBeLessThanOrEqual(parallel);
          users = users.map((one) => (moving.includes(one) ? user(one.key, "2", "moving") : one));
          expect(rollOut(users, "2", parallel).mayUpdate.size).toBe(
            users.filter(({ revision }) => revision === "2").length +
              Math.min(parallel - moving.length, users.filter(({ revision }) => revision === "1").length),
          );
          users = users.map((one) => (one.state === "moving" ? user(one.key, "2") : one));
        }
        expect(users.every(({ revision }) => revision === "2")).toBe(true);
      },
    ),
  );
});
