import { isValidName } from "@oaas/kube-core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  baseName,
  functionNames,
  jobName,
  monitorNames,
  odgmNames,
  podsServiceName,
  statefulSetName,
} from "./names.ts";

const LONG = "c".repeat(63);

describe("keeps the names of existing clusters", () => {
  test.each([
    { name: "order", keys: ["Order.place"], want: ["order"], case: "names a single function after its class" },
    {
      name: "order",
      keys: ["a", "b"],
      want: ["order-fn-0", "order-fn-1"],
      case: "names one of several functions by position",
    },
    { name: "9lives", keys: ["a"], want: ["a9lives"], case: "prefixes a letter, as Service names require" },
    { name: "a.b", keys: ["a"], want: ["a-b"], case: "dots become dashes" },
    { name: "-", keys: ["a"], want: ["default"], case: "no valid character" },
  ])("$case", ({ name, keys, want }) => {
    expect(functionNames(name, keys)).toEqual(want);
  });

  test("names the objects of the state store", () => {
    expect(odgmNames("order")).toMatchObject({ workload: "order-odgm", service: "order-odgm-svc" });
    expect(monitorNames("order", "function")).toEqual({ service: "order-svcmon", pod: "order-podmon" });
    expect(monitorNames("order", "odgm")).toEqual({ service: "order-odgm-svcmon", pod: "order-odgm-podmon" });
  });
});

describe("keeps the name of a function", () => {
  const assigned = new Map([
    ["a", "order-fn-0"],
    ["b", "order-fn-1"],
    ["c", "order-fn-2"],
  ]);

  test.each([
    { keys: ["a", "c"], want: ["order-fn-0", "order-fn-2"], case: "when one between is removed" },
    { keys: ["c"], want: ["order-fn-2"], case: "when it is the last one left" },
    { keys: ["c", "b", "a"], want: ["order-fn-2", "order-fn-1", "order-fn-0"], case: "when the order changes" },
    {
      keys: ["a", "b", "c", "d"],
      want: ["order-fn-0", "order-fn-1", "order-fn-2", "order-fn-3"],
      case: "when one is added",
    },
  ])("$case", ({ keys, want }) => {
    expect(functionNames("order", keys, assigned)).toEqual(want);
  });

  test("does not reuse the name of another or a removed function", () => {
    const [a, d, c] = functionNames("order", ["a", "d", "c"], assigned);
    expect([a, c]).toEqual(["order-fn-0", "order-fn-2"]);
    expect([...assigned.values()]).not.toContain(d);
    expect(functionNames("order", ["a", "d", "c"], new Map([...assigned, ["d", d!]]))[1]).toBe(d);
  });

  test("keeps the plain name of the first function when others are added", () => {
    expect(functionNames("order", ["a", "b"], new Map([["a", "order"]]))).toEqual(["order", "order-fn-1"]);
  });

  test("ignores names of other classes in an edited status", () => {
    expect(functionNames("order", ["a"], new Map([["a", "payroll"]]))).toEqual(["order"]);
    expect(functionNames("order", ["a"], new Map([["a", "order/../x"]]))).toEqual(["order"]);
  });
});

const classNames = fc.oneof(fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/), fc.constant(LONG));
const keys = fc.uniqueArray(fc.stringMatching(/^[A-Za-z0-9]([A-Za-z0-9._-]{0,80}[A-Za-z0-9])?$/), {
  minLength: 1,
  maxLength: 20,
});

test("generates valid and distinct names for any class, keys and assigned names", () => {
  fc.assert(
    fc.property(classNames, keys, fc.nat(20), (name, all, kept) => {
      const before = functionNames(name, all);
      const assigned = new Map(all.slice(0, kept).map((key, index) => [key, before[index]!]));
      const now = all.slice(Math.floor(kept / 2)).reverse();
      const names = functionNames(name, now, assigned);
      for (const one of [...before, ...names]) expect(isValidName("dns-1035-label", one), one).toBe(true);
      expect(new Set(before).size).toBe(all.length);
      expect(new Set(names).size).toBe(now.length);
      for (const [index, key] of now.entries()) if (assigned.has(key)) expect(names[index]).toBe(assigned.get(key));
    }),
  );
});

test("generates valid names for all other children", () => {
  fc.assert(
    fc.property(classNames, (name) => {
      const [fn = ""] = functionNames(name, ["a"]);
      const monitors = (["function", "odgm"] as const).flatMap((one) => Object.values(monitorNames(name, one)));
      const names = [baseName(name), ...Object.values(odgmNames(name)), ...monitors];
      for (const one of [...names, podsServiceName(fn), jobName(fn, "0123456789"), statefulSetName(fn)]) {
        expect(isValidName("dns-1035-label", one), one).toBe(true);
      }
      expect(statefulSetName(fn).length).toBeLessThanOrEqual(52);
      expect(new Set(Object.values(odgmNames(name))).size).toBe(4);
    }),
  );
});
