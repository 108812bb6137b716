import { expect, test } from "vitest";
import { RuntimeLists } from "./runtime-list.ts";

test("a list is created again only after a change", async () => {
  const view = { version: 1 };
  const lists = new RuntimeLists<object>(view);
  let created = 0;
  const create = async (): Promise<object> => ({ number: (created += 1) });
  const first = await lists.get("all", create);
  expect(await lists.get("all", create)).toBe(first);
  expect(await lists.get("other", create)).toEqual({ number: 2 });
  view.version = 2;
  expect(await lists.get("all", create)).toEqual({ number: 3 });
});

test("a list that changed while it was created is not kept, and the number of lists is bounded", async () => {
  const view = { version: 1 };
  const lists = new RuntimeLists<object>(view);
  let created = 0;
  await lists.get("all", async () => ((view.version = 2), {}));
  await lists.get("all", async () => ((created += 1), {}));
  expect(created).toBe(1);
  for (let index = 0; index < 100; index += 1) await lists.get(String(index), async () => ({}));
  await lists.get("all", async () => ((created += 1), {}));
  expect(created, "dropped for the newer ones").toBe(2);
});
