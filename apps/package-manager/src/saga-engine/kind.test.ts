import type { ContextStore, WorkContext } from "@oaas/observability";
import { expect, test } from "vitest";
import type { SagaKind } from "./kind.ts";
import type { SagaRecord, SagaStep } from "./saga.ts";
import { withCorrelation } from "./kind.ts";

test("every call of a saga carries the correlation id of its request", async () => {
  let current: WorkContext = {};
  const context: ContextStore = {
    current: () => current,
    run: (inner, work) => {
      const outer = current;
      current = inner;
      try {
        return work();
      } finally {
        current = outer;
      }
    },
  };
  const ids: unknown[] = [];
  const note = async (): Promise<string> => {
    ids.push(context.current().correlationId);
    return "";
  };
  const kind: SagaKind = {
    name: "toy",
    open: async () => ({
      perform: note,
      confirm: async () => void (await note()),
      undo: note,
      finish: async () => ({ transaction: { writes: [] } }),
    }),
  };
  const saga = { data: { correlationId: "c-7" } } as SagaRecord;
  const work = await withCorrelation(kind, context).open(saga);
  const call = { signal: new AbortController().signal };
  await work.perform({} as SagaStep, call);
  await work.confirm?.({} as SagaStep, call);
  await work.undo({} as SagaStep, call);
  expect(ids).toEqual(["c-7", "c-7", "c-7"]);
  expect(context.current()).toEqual({});
});
