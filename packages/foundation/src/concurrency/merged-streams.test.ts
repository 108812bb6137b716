import { expect, test } from "vitest";
import { MergedStreams } from "./merged-streams.ts";

const { signal } = new AbortController();

async function* numbers(from: number, count: number, onPull: () => void = () => undefined): AsyncGenerator<number> {
  for (let index = 0; index < count; index += 1) {
    onPull();
    yield from + index;
  }
}

test("yields the items of all streams, and ends with the last one", async () => {
  const merged = new MergedStreams<number>();
  merged.add(numbers(0, 2));
  merged.add(numbers(10, 2));
  const items: number[] = [];
  for (let next = await merged.next(signal); next !== undefined; next = await merged.next(signal)) items.push(next);
  expect(items.toSorted((a, b) => a - b)).toEqual([0, 1, 10, 11]);
  expect(merged.running).toBe(0);
});

test("pulls one item of each stream ahead of a slow consumer", async () => {
  let pulled = 0;
  const merged = new MergedStreams<number>();
  merged.add(numbers(0, 1000, () => (pulled += 1)));
  expect(await merged.next(signal)).toBe(0);
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  expect(pulled).toBeLessThanOrEqual(2);
});

test("ends the streams when it is closed or the signal aborts", async () => {
  let isEnded = false;
  async function* endless(): AsyncGenerator<number> {
    try {
      for (;;) yield 1;
    } finally {
      isEnded = true;
    }
  }
  const merged = new MergedStreams<number>();
  merged.add(endless());
  await merged.next(signal);
  merged.close();
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  expect(isEnded).toBe(true);
  const leaving = new AbortController();
  const quiet = new MergedStreams<number>();
  quiet.add({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) });
  const next = quiet.next(leaving.signal);
  leaving.abort();
  expect(await next).toBeUndefined();
});
