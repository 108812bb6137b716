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
const claim = (id: string, cpu: number): Claim => ({ id, order: id, requested: demand(cpu) });

/** A ledger over classes with existing usage, and pending classes with their claims. */
function setUp(existing: Readonly<Record<string, number>> = {}, pending: Readonly<Record<string, number>> = {}) {
  const admitted: string[] = [];
  let account = accountOf({ cpu: "10" });
  const ledger = new QuotaLedger(
    {
      classesOf: (key) =>
        key === "shop/prod" ? [...Object.keys(existing), ...Object.keys(pending)].map((id) => ({ id, order: id })) : [],
      usageOf: (id) => (existing[id] === undefined ? NO_DEMAND : demand(existing[id])),
      renderClaim: (id) => ({ account, claim: claim(id, pending[id] ?? existing[id] ?? 0) }),
    },
    { admitted: (ids) => admitted.push(...ids) },
  );
  const admit = (id: string, cpu: number, of = account): boolean => ledger.admit(of, claim(id, cpu)).length === 0;
  const limit = (cpu: string): void => {
    account = accountOf({ cpu });
  };
  const usage = (key = "shop/prod"): number => Number((ledger.usage(key)?.cpu.nano ?? 0n) / 1_000_000_000n);
  return { ledger, admitted, admit, limit, usage, account: () => account };
}

test("rejects a claim above the quota with field, numbers and fix, and admits one that fits", () => {
  const { ledger, admit, account, usage } = setUp({ a: 6 });
  expect(ledger.admit(account(), claim("b", 5))).toEqual([
    {
      path: "$.target_environment",
      message: 'the class requests 5, but other classes of environment "prod" use 6 of 10 (quotas.cpu)',
      fix: "request less, delete another class, or raise quotas.cpu of the EnvironmentConfig",
    },
  ]);
  expect([admit("c", 4), admit("d", 1), usage()]).toEqual([true, false, 10]);
});

test("keeps existing grants after a restart, a lower quota and an earlier new class", () => {
  const setup = setUp({ z: 9 });
  expect([setup.admit("a", 2), setup.admit("z", 9)]).toEqual([false, true]);
  setup.limit("3");
  expect([setup.admit("z", 9), setup.admit("z", 8), setup.admit("z", 9), setup.usage()]).toEqual([
    true,
    true,
    false,
    8,
  ]);
});

test("rejects growth above the quota and keeps the grant; a smaller claim frees quota", () => {
  const setup = setUp({ a: 4, b: 4 });
  expect([setup.admit("a", 7), setup.usage()]).toEqual([false, 8]);
  expect(setup.admit("b", 3)).toBe(true);
  expect(setup.admitted).toEqual(["a"]);
  expect(setup.usage()).toBe(10);
});

test("admits waiting classes in order as they fit, and notifies the observer", () => {
  const setup = setUp({ a: 10 });
  for (const [id, cpu] of [["d", 2] as const, ["b", 9] as const, ["c", 3] as const]) setup.admit(id, cpu);
  setup.ledger.release("a");
  expect([setup.admitted, setup.usage()]).toEqual([["b"], 9]);
  setup.limit("14");
  expect([setup.admit("d", 2), setup.admitted, setup.usage()]).toEqual([true, ["b", "c", "d"], 14]);
});

test("admits no class before an earlier pending one", () => {
  const setup = setUp({}, { a: 8, b: 8 });
  expect([setup.admit("b", 8), setup.admit("a", 8), setup.usage()]).toEqual([false, true, 8]);
  const late = setUp({ a: 1 });
  late.admit("a", 1);
  late.ledger.registerPending({ id: "c", order: "c" }, "shop/prod");
  expect([late.ledger.check(late.account(), claim("new", 9)).length, late.admit("d", 9)]).toEqual([0, true]);
});

test("reads the cluster again after clear", () => {
  const existing: Record<string, number> = { a: 2 };
  const setup = setUp(existing);
  expect(setup.admit("a", 2)).toBe(true);
  existing["a"] = 9;
  setup.ledger.clear();
  expect([setup.admit("b", 2), setup.admit("a", 9), setup.usage()]).toEqual([false, true, 9]);
});

test("check changes nothing; a class that moves keeps its grant", () => {
  const setup = setUp({ a: 6 });
  expect(setup.ledger.check(setup.account(), claim("b", 5)).length).toBe(1);
  expect(setup.ledger.check(setup.account(), claim("b", 4))).toEqual([]);
  expect([setup.admit("a", 6), setup.usage()]).toEqual([true, 6]);
  const other = accountOf({ cpu: "1" }, "shop/edge");
  expect(setup.admit("a", 6, other)).toBe(true);
  expect([setup.usage(), setup.usage("shop/edge")]).toEqual([0, 6]);
});

test("limits the number of classes, and admits every class without quotas", () => {
  const ledger = new QuotaLedger(
    { classesOf: () => [], usageOf: () => NO_DEMAND, renderClaim: () => undefined },
    { admitted: () => undefined },
  );
  const account = accountOf({ max_classes: 1 });
  expect(ledger.admit(account, claim("a", 100))).toEqual([]);
  expect(ledger.admit(account, claim("b", 1))[0]?.message).toContain("use 1 of 1 (quotas.max_classes)");
  expect(ledger.admit(accountOf(undefined, "shop/free"), claim("c", 1_000))).toEqual([]);
});

test("the usage is the sum of all grants and never exceeds the quota", () => {
  const id = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.oneof(
    fc.record({ action: fc.constant("admit" as const), id, cpu: fc.nat(9) }),
    fc.record({ action: fc.constant("release" as const), id, cpu: fc.constant(0) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const setup = setUp();
      const requested = new Map<string, number>();
      const granted = new Map<string, number>();
      for (const { action, id: target, cpu } of steps) {
        const before = setup.admitted.length;
        if (action === "release") {
          requested.delete(target);
          granted.delete(target);
          setup.ledger.release(target);
        } else {
          requested.set(target, cpu);
          if (setup.admit(target, cpu)) granted.set(target, cpu);
        }
        for (const admitted of setup.admitted.slice(before)) granted.set(admitted, requested.get(admitted) ?? 0);
        const sum = [...granted.values()].reduce((total, each) => total + each, 0);
        expect(setup.usage()).toBe(sum);
        expect(sum).toBeLessThanOrEqual(10);
      }
    }),
  );
});
