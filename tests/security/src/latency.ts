import { setTimeout } from "node:timers/promises";

/** The median time of each request, measured by turns so that a busy machine affects all alike. */
export async function medianLatencies(requests: readonly (() => Promise<void>)[], rounds: number): Promise<number[]> {
  const times: number[][] = requests.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, request] of requests.entries()) {
      const startedAt = performance.now();
      await request();
      times[index]?.push(performance.now() - startedAt);
      await setTimeout(1);
    }
  }
  return times.map((each) => each.toSorted((a, b) => a - b)[Math.floor(each.length / 2)] ?? Number.NaN);
}
