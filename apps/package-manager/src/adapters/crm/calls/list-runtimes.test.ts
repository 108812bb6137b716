import { create } from "@bufbuild/protobuf";
import { ClassRuntimeSummarySchema, ListClassRuntimesResponseSchema } from "@oaas/contracts/grpc";
import type { ClusterName } from "@oaas/models";
import { expect, test } from "vitest";
import { listRuntimes } from "./list-runtimes.ts";

const edge = "edge" as ClusterName;
const summaries = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => create(ClassRuntimeSummarySchema, { id: `u${from + index}` }));

async function idsOf(...[query, fetchPage]: [Parameters<typeof listRuntimes>[1], Parameters<typeof listRuntimes>[2]]) {
  const ids: string[] = [];
  for await (const { unitId } of listRuntimes(edge, query, fetchPage)) ids.push(unitId);
  return ids;
}

test("a peer without page tokens is paged by offset until a page is not full", async () => {
  const offsets: (number | undefined)[] = [];
  const ids = await idsOf({}, async ({ offset }) => {
    offsets.push(offset);
    const items = summaries(Math.min(500, 1100 - (offset ?? 0)), offset ?? 0);
    return create(ListClassRuntimesResponseSchema, { items });
  });
  expect([ids.length, offsets]).toEqual([1100, [undefined, 500, 1000]]);
});

test.each([{}, { packageName: "other" }])(
  "a peer that ignores limit and offset is queried at most twice (%j)",
  async (query) => {
    let requests = 0;
    const ids = await idsOf(query, async () => {
      requests += 1;
      return create(ListClassRuntimesResponseSchema, { items: summaries(700) });
    });
    expect([ids.length, requests]).toEqual(["packageName" in query ? 0 : 700, 2]);
  },
);

test("a repeated page token is a fault", async () => {
  let requests = 0;
  const list = idsOf({}, async () => {
    requests += 1;
    return create(ListClassRuntimesResponseSchema, {
      nextPageToken: requests % 2 === 0 ? "even" : "odd",
      totalCount: 9,
    });
  });
  await expect(list).rejects.toMatchObject({ kind: "unavailable", message: expect.stringContaining("edge") });
  expect(requests).toBe(3);
});
