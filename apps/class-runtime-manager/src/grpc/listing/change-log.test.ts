import fc from "fast-check";
import { expect, test } from "vitest";
import { ChangeLog } from "./change-log.ts";
import type { ClassChange } from "../../classes/ports.ts";

/** A log of the given capacity and its input. */
function createLog(capacity: number) {
  let append: (change: ClassChange) => void = () => undefined;
  const log = new ChangeLog(
    {
      onChange: (handler) => {
        append = handler;
        return () => undefined;
      },
    },
    "epoch",
    capacity,
  );
  return { log, append: () => append({ type: "added", object: {} as never }) };
}

test("since returns every change after a position, or undefined", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.nat(40), fc.nat(40), (capacity, count, from) => {
      const { log, append } = createLog(capacity);
      for (let n = 0; n < count; n += 1) append();
      const position = Math.min(from, count);
      const isComplete = count - position <= capacity;
      const want = Array.from({ length: count - position }, (_, index) => position + index + 1);
      expect(log.since(position)?.map((one) => one.position)).toEqual(isComplete ? want : undefined);
    }),
  );
});

test.each([
  { case: "of this log", token: "epoch.1", want: 1 },
  { case: "of another process", token: "other.1", want: undefined },
  { case: "after the newest position", token: "epoch.3", want: undefined },
  { case: "without a number", token: "epoch", want: undefined },
  { case: "with a negative number", token: "epoch.-1", want: undefined },
])("a token $case", ({ token, want }) => {
  const { log, append } = createLog(4);
  append();
  append();
  expect(log.position(token)).toBe(want);
});

test("next resolves on a change or an abort", async () => {
  const { log, append } = createLog(4);
  const abort = new AbortController();
  const [changed, aborted] = [log.next(new AbortController().signal), log.next(abort.signal)];
  abort.abort();
  await aborted;
  append();
  await changed;
  await log.next(abort.signal);
});
