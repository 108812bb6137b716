import type { UnitId } from "@oaas/models";
import fc from "fast-check";
import { expect, test } from "vitest";
import { UnitTable, type UnitAddress } from "./unit-table.ts";

const address = fc.record({
  unitId: fc.constantFrom("a", "b").map((id) => id as UnitId),
  namespace: fc.constantFrom(undefined, "x", "y"),
});
type Item = UnitAddress & { readonly value: number };
const nameOf = ({ unitId, namespace }: UnitAddress): string => `${unitId}/${namespace ?? ""}`;

test("keeps one unit per id and namespace", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ at: address, value: fc.nat(9), isRemoved: fc.boolean() })), (changes) => {
      const table = new UnitTable<Item>((item) => item);
      const model = new Map<string, Item>();
      for (const { at, value, isRemoved } of changes) {
        const item = { ...at, value };
        if (isRemoved) expect(table.delete(at)).toBe(model.delete(nameOf(at)));
        else {
          table.set(item);
          model.set(nameOf(at), item);
        }
        expect(table.size).toBe(model.size);
        expect(table.find(at)).toEqual(model.get(nameOf(at)));
        expect(new Set(table.values())).toEqual(new Set(model.values()));
      }
    }),
  );
});

test("reads a unit by namespace, and one without a reported namespace for any", () => {
  const of = (...namespaces: readonly (string | undefined)[]) =>
    new UnitTable(
      (item: UnitAddress) => item,
      namespaces.map((namespace) => ({ unitId: "a" as UnitId, namespace })),
    );
  expect(of("x", "y").get("a" as UnitId, "y")?.namespace).toBe("y");
  expect(of("x", "y").get("a" as UnitId, "z")).toBeUndefined();
  expect(of(undefined).get("a" as UnitId, "z")).toBeDefined();
  expect(of("x", "y").get("a" as UnitId)?.namespace).toBe("x");
});
