import fc from "fast-check";
import { expect, test } from "vitest";
import { SortedList } from "./sorted-list.ts";

interface Item {
  readonly id: number;
  readonly value: number;
}

test("equals a full sort after any sequence of changes", () => {
  const change = fc.record({ id: fc.nat(15), value: fc.option(fc.nat(30)) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), fc.boolean(), (changes, descending) => {
      const options = {
        keyOf: ({ id, value }: Item) => `${String(value).padStart(3, "0")}/${String(id).padStart(3, "0")}`,
        includes: ({ value }: Item) => value % 3 !== 0,
        descending,
      };
      const items = new Map<number, Item>();
      const list = new SortedList<Item>([], options);
      for (const { id, value } of changes) {
        const before = items.get(id);
        const after = value === null ? undefined : { id, value };
        if (after) items.set(id, after);
        else items.delete(id);
        list.replace(before, after);
      }
      const resorted = new SortedList(items.values(), options);
      expect(list.items).toEqual(resorted.items);
      expect(list.keys).toEqual(resorted.keys);
    }),
  );
});
