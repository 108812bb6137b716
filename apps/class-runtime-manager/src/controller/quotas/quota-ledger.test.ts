import { parseQuantity, type Quantity } from "@oaas/kube-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NO_DEMAND, type Demand } from "../../templates/index.ts";
import { QuotaLedger, type Account, type Claim } from "./quota-ledger.ts";

const cores = (count: number): Quantity => {
  const parsed = parseQuantity(count);
  if (!parsed.ok) throw new Error("no quantity");
  return parsed.value;
};
const demand = (cpu: number): Demand => ({ ...NO_DEMAND, classes: 1, cpu: cores(cpu) });
const accountOf = (quotas: Account["quotas"], key = "shop/prod"): Account => ({ key, name: "prod", quotas });
const claim = (id: string, cpu: number): Claim => ({ id, order: id, asked: demand(cpu) });

/** A ledger over classes that hold so much already, or would ask for so much if they were heard. */
function setUp(holders: Readonly<Record<string, number>> = {}, newcomers: Readonly<Record<string, number>> = {}) {
  const admitted: string[] = [];
  let account = accountOf({ cpu: "10" });
  const ledger = new QuotaLedger(
    {
      classesOf: (key) =>
        key === "shop/prod"
          ? [...Object.keys(holders), ...Object.keys(newcomers)].map((id) => ({ id, order: id }))
          : [],
      heldBy: (id) => (holders[id] === undefined ? NO_DEMAND : demand(holders[id])),
      hear: (id) => ({ account, claim: claim(id, newcomers[id] ?? holders[id] ?? 0) }),
    },
    { admitted: (ids) => admitted.push(...ids) },
  );
  const asks = (id: string, cpu: number, of = account): boolean => ledger.settle(of, claim(id, cpu)).length === 0;
  const limit = (cpu: string): void => {
    account = accountOf({ cpu });
  };
  const taken = (key = "shop/prod"): number => Number((ledger.taken(key)?.cpu.nano ?? 0n) / 1_000_000_000n);
  return { ledger, admitted, asks, limit, taken, account: () => account };
}

test("a newcomer that does not fit is refused with the field, the numbers and the fix; one that fits is let in", () => {
  const { ledger, asks, account, taken } = setUp({ a: 6 });
  expect(ledger.settle(account(), claim("b", 5))).toEqual([
    {
      path: "$.target_environment",
      message: 'the class requests 5, but other classes of environment "prod" use 6 of 10 (quotas.cpu)',
      fix: "request less, delete another class, or raise quotas.cpu of the EnvironmentConfig",
    },
  ]);
  expect([asks("c", 4), asks("d", 1), taken()]).toEqual([true, false, 10]);
});

test("who lives there stays: after a restart, when the quota is lowered, and when an older newcomer comes", () => {
  const world = setUp({ z: 9 });
  expect([world.asks("a", 2), world.asks("z", 9)]).toEqual([false, true]);
  world.limit("3");
  expect([world.asks("z", 9), world.asks("z", 8), world.asks("z", 9), world.taken()]).toEqual([true, true, false, 8]);
});

test("growing beyond the quota is refused and keeps what is held; less is always allowed and makes room", () => {
  const world = setUp({ a: 4, b: 4 });
  expect([world.asks("a", 7), world.taken()]).toEqual([false, 8]);
  expect(world.asks("b", 3)).toBe(true);
  expect(world.admitted).toEqual(["a"]);
  expect(world.taken()).toBe(10);
});

test("room goes to those who wait in the order of their turns, each as it fits, and they are told", () => {
  const world = setUp({ a: 10 });
  for (const [id, cpu] of [["d", 2] as const, ["b", 9] as const, ["c", 3] as const]) world.asks(id, cpu);
  world.ledger.release("a");
  expect([world.admitted, world.taken()]).toEqual([["b"], 9]);
  world.limit("14");
  expect([world.asks("d", 2), world.admitted, world.taken()]).toEqual([true, ["b", "c", "d"], 14]);
});

test("nobody goes before an older one that has not been looked at yet", () => {
  const world = setUp({}, { a: 8, b: 8 });
  expect([world.asks("b", 8), world.asks("a", 8), world.taken()]).toEqual([false, true, 8]);
  const late = setUp({ a: 1 });
  late.asks("a", 1);
  late.ledger.expect({ id: "c", order: "c" }, "shop/prod");
  expect([late.ledger.check(late.account(), claim("new", 9)).length, late.asks("d", 9)]).toEqual([0, true]);
});

test("after a term of somebody else everything is looked at anew", () => {
  const holders: Record<string, number> = { a: 2 };
  const world = setUp(holders);
  expect(world.asks("a", 2)).toBe(true);
  holders["a"] = 9;
  world.ledger.clear();
  expect([world.asks("b", 2), world.asks("a", 9), world.taken()]).toEqual([false, true, 9]);
});

test("a question changes nothing; a class that moves takes what it holds along", () => {
  const world = setUp({ a: 6 });
  expect(world.ledger.check(world.account(), claim("b", 5)).length).toBe(1);
  expect(world.ledger.check(world.account(), claim("b", 4))).toEqual([]);
  expect([world.asks("a", 6), world.taken()]).toEqual([true, 6]);
  const other = accountOf({ cpu: "1" }, "shop/edge");
  expect(world.asks("a", 6, other)).toBe(true);
  expect([world.taken(), world.taken("shop/edge")]).toEqual([0, 6]);
});

test("classes are counted too, and no quota lets everyone in", () => {
  const ledger = new QuotaLedger(
    { classesOf: () => [], heldBy: () => NO_DEMAND, hear: () => undefined },
    { admitted: () => undefined },
  );
  const account = accountOf({ max_classes: 1 });
  expect(ledger.settle(account, claim("a", 100))).toEqual([]);
  expect(ledger.settle(account, claim("b", 1))[0]?.message).toContain("use 1 of 1 (quotas.max_classes)");
  expect(ledger.settle(accountOf(undefined, "shop/free"), claim("c", 1_000))).toEqual([]);
});

test("whatever happens, the sum is what the admitted hold, and only those who lived there may exceed the quota", () => {
  const id = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.oneof(
    fc.record({ does: fc.constant("asks" as const), id, cpu: fc.nat(9) }),
    fc.record({ does: fc.constant("leaves" as const), id, cpu: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const world = setUp();
      const asked = new Map<string, number>();
      const held = new Map<string, number>();
      for (const { does, id: who, cpu } of steps) {
        const before = world.admitted.length;
        if (does === "leaves") {
          asked.delete(who);
          held.delete(who);
          world.ledger.release(who);
        } else {
          asked.set(who, cpu);
          if (world.asks(who, cpu)) held.set(who, cpu);
        }
        for (const admitted of world.admitted.slice(before)) held.set(admitted, asked.get(admitted) ?? 0);
        const sum = [...held.values()].reduce((total, each) => total + each, 0);
        expect(world.taken()).toBe(sum);
        expect(sum).toBeLessThanOrEqual(10);
      }
    }),
  );
});
