import { MAX_PAGE_BYTES } from "@oaas/storage";
import { describe, expect, test } from "vitest";
import { boundedPage, pageOfRevisions } from "./paging.ts";

const NUMBERS = Array.from({ length: 40 }, (_, index) => 40 - index);

describe("a page of revisions", () => {
  const read = (bytes: number) => async (revision: number) => ({ item: revision, bytes });

  test("has the requested number, and a token for the next page", async () => {
    const page = boundedPage({ limit: 30 });
    const first = await pageOfRevisions(NUMBERS, page, read(1));
    expect(first).toEqual({ items: NUMBERS.slice(0, 30), total: 40, next: "10" });
    expect(await pageOfRevisions(NUMBERS, { ...page, pageToken: first.next! }, read(1))).toEqual({
      items: NUMBERS.slice(30),
      total: 40,
    });
    expect((await pageOfRevisions(NUMBERS, boundedPage({ offset: 38 }), read(1))).items).toEqual([2, 1]);
    expect((await pageOfRevisions(NUMBERS, boundedPage({ offset: 99 }), read(1))).items).toEqual([]);
  });

  test("ends at its size in bytes, with at least one item", async () => {
    const { items, next } = await pageOfRevisions(NUMBERS, boundedPage({}), read(MAX_PAGE_BYTES / 4));
    expect(items).toEqual([40, 39, 38, 37]);
    expect(next).toBe("36");
    expect(await pageOfRevisions(NUMBERS, boundedPage({}), read(MAX_PAGE_BYTES * 2))).toMatchObject({
      items: [40],
      next: "39",
    });
  });

  test("skips revisions that were removed meanwhile, also the one of its token", async () => {
    const page = await pageOfRevisions([9, 8, 3], boundedPage({}), async (revision) =>
      revision === 8 ? undefined : { item: revision, bytes: 1 },
    );
    expect(page).toEqual({ items: [9, 3], total: 3 });
    const next = await pageOfRevisions([9, 8, 3], boundedPage({ pageToken: "7" }), read(1));
    expect(next.items).toEqual([3]);
  });

  test.each(["0", "-1", "x", "", "1e3"])("rejects the token %j", async (pageToken) => {
    await expect(pageOfRevisions(NUMBERS, boundedPage({ pageToken }), read(1))).rejects.toMatchObject({
      kind: "invalid-argument",
    });
  });
});
