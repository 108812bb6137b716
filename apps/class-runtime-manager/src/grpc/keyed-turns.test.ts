import { cancelled, isFault } from "@oaas/foundation";
import { expect, test } from "vitest";
import { KeyedTurns } from "./keyed-turns.ts";

const never = new AbortController().signal;

test("one key goes one after another, others at once; a failure harms nobody; nothing is left", async () => {
  const turns = new KeyedTurns();
  const seen: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = turns.take("a", never, async () => {
    await gate.promise;
    seen.push("a1");
    throw new Error("broken");
  });
  const second = turns.take("a", never, async () => void seen.push("a2"));
  await turns.take("b", never, async () => void seen.push("b1"));
  gate.resolve();
  await expect(first).rejects.toThrow("broken");
  await second;
  expect(seen).toEqual(["b1", "a1", "a2"]);
  await Promise.resolve();
  expect(turns.size).toBe(0);
});

test("who gives up while waiting is out, and those behind still wait for those before", async () => {
  const turns = new KeyedTurns();
  const gate = Promise.withResolvers<void>();
  const abort = new AbortController();
  const seen: string[] = [];
  const first = turns.take("a", never, async () => {
    await gate.promise;
    seen.push("first");
  });
  const gone = turns.take("a", abort.signal, async () => void seen.push("never"));
  const last = turns.take("a", never, async () => void seen.push("last"));
  abort.abort(cancelled());
  expect(isFault(await gone.catch((thrown: unknown) => thrown), "cancelled")).toBe(true);
  expect(seen).toEqual([]);
  gate.resolve();
  await Promise.all([first, last]);
  expect(seen).toEqual(["first", "last"]);
});
