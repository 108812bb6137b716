import fc from "fast-check";
import { expect, test } from "vitest";
import { linesOf } from "./json-lines.ts";

async function* stream(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield chunk;
}

async function collect(chunks: readonly Uint8Array[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(stream(chunks))) lines.push(line);
  return lines;
}

/** Cuts bytes at the given positions. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [0, ...at].map((from, index) => bytes.subarray(from, at[index] ?? bytes.length));
}

test("yields whole lines wherever the stream is cut, also inside a character", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue(), { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 12 }),
      async (values, places) => {
        const lines = values.map((value) => JSON.stringify(value));
        const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
        expect(await collect(cut(bytes, places))).toEqual(lines);
      },
    ),
  );
});

test("skips blank lines", async () => {
  expect(await collect([new TextEncoder().encode("\n\n1\n\n2\n")])).toEqual(["1", "2"]);
});

test("fails on a stream that ends inside a line, after yielding the whole lines", async () => {
  const seen: string[] = [];
  const reading = (async () => {
    for await (const line of linesOf(stream([new TextEncoder().encode('{"a":1}\n{"b":')]))) seen.push(line);
  })();
  await expect(reading).rejects.toMatchObject({ kind: "unavailable" });
  expect(seen).toEqual(['{"a":1}']);
});
