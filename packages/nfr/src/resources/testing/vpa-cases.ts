import { randomInt, type Random } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";

/** One step of a case, in the form that `packages/real-components/components/vpa/recommend` reads. */
export type VpaStep =
  | {
      readonly op: "cpu" | "memory";
      readonly pod: string;
      readonly atMs: number;
      readonly stepMs: number;
      /** Whole millicores or bytes. */
      readonly values: readonly number[];
    }
  | { readonly op: "oom"; readonly pod: string; readonly atMs: number; readonly requestBytes: number }
  | { readonly op: "recommend" };

export interface VpaCase {
  readonly name: string;
  readonly steps: readonly VpaStep[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const START_MS = Date.UTC(2026, 10, 1);

/** Random histories of up to four pods, with gaps, pods that are replaced, and OOM kills. */
export function randomVpaCase(seed: number, maxSamplesPerRound: number): VpaCase {
  const random = seededRandom(seed);
  const rounds = 1 + randomInt(random, 5);
  const roundMs = (1 + randomInt(random, 6)) * HOUR_MS;
  const cpuScale = 10 ** (1 + random.next() * 4);
  const memoryScale = 10 ** (7 + random.next() * 4);
  const podCount = 1 + randomInt(random, 4);
  const generations = Array.from({ length: podCount }, () => 0);
  const lastOomMs = new Map<string, number>();
  const steps: VpaStep[] = [];
  let fromMs = START_MS + randomInt(random, 48 * HOUR_MS);
  for (let round = 0; round < rounds; round++) {
    for (let pod = 0; pod < podCount; pod++) {
      if (random.next() < 0.2) generations[pod] = round;
      const count = 1 + randomInt(random, maxSamplesPerRound);
      const span = { pod: `pod-${pod}-${generations[pod]}`, atMs: fromMs, stepMs: Math.floor(roundMs / count) };
      steps.push({ op: "cpu", ...span, values: randomValues(random, count, cpuScale) });
      const memory = randomValues(random, Math.ceil(count / 4), memoryScale).map((value) => value + 1);
      steps.push({ op: "memory", ...span, stepMs: span.stepMs * 4, values: memory });
      if (random.next() < 0.25) {
        const backMs = random.next() < 0.2 && generations[pod] === 0 ? 30 * HOUR_MS : randomInt(random, HOUR_MS);
        const atMs = Math.max(fromMs + roundMs - backMs, (lastOomMs.get(span.pod) ?? 0) + 1);
        lastOomMs.set(span.pod, atMs);
        steps.push({ op: "oom", pod: span.pod, atMs, requestBytes: Math.floor(memoryScale * 2 * random.next()) });
      }
    }
    steps.push({ op: "recommend" });
    fromMs += roundMs + (random.next() < 0.3 ? randomInt(random, 12 * HOUR_MS) : 0);
  }
  return { name: `random ${seed}`, steps };
}

/** Mostly small values with a long tail; sometimes all equal, so that percentiles are at the edge of buckets. */
function randomValues(random: Random, count: number, scale: number): number[] {
  const isFlat = random.next() < 0.2;
  const first = random.next();
  return Array.from({ length: count }, () => Math.floor(scale * (isFlat ? first : random.next() ** 3)));
}

/** Cases for what random ones seldom reach. */
export function namedVpaCases(): VpaCase[] {
  const run = (op: "cpu" | "memory", pod: string, fromHours: number, stepMs: number, values: number[]): VpaStep => ({
    op,
    pod,
    atMs: START_MS + fromHours * HOUR_MS,
    stepMs,
    values,
  });
  const oom = (pod: string, hours: number, requestBytes: number): VpaStep => {
    return { op: "oom", pod, atMs: START_MS + hours * HOUR_MS, requestBytes };
  };
  const wave = (count: number, scale: number): number[] =>
    Array.from({ length: count }, (_, index) => Math.floor(scale * (1.2 + Math.sin((index / 288) * 2 * Math.PI))));
  return [
    {
      name: "one sample",
      steps: [run("cpu", "a", 0, MINUTE_MS, [100]), run("memory", "a", 0, MINUTE_MS, [3e8]), { op: "recommend" }],
    },
    {
      name: "equal samples at the edges of buckets",
      steps: [
        run(
          "cpu",
          "a",
          0,
          MINUTE_MS,
          Array.from({ length: 10 }, (_, index) => index * 10),
        ),
        run("memory", "a", 0, 24 * HOUR_MS, [1e7, 2.05e7, 1e7, 2.05e7, 1e12, 2e12]),
        { op: "recommend" },
      ],
    },
    {
      name: "idle and beyond the last bucket",
      steps: [
        run("cpu", "a", 0, MINUTE_MS, [0, 0, 1, 9, 10, 11]),
        { op: "recommend" },
        run("cpu", "a", 1, MINUTE_MS, [2e6, 2e6, 2e6, 2e6]),
        { op: "recommend" },
      ],
    },
    {
      name: "three days with a daily wave",
      steps: [
        run("cpu", "a", 0, 30 * MINUTE_MS, wave(144, 400)),
        run("memory", "a", 0, 60 * MINUTE_MS, wave(72, 5e8)),
        { op: "recommend" },
      ],
    },
    {
      name: "half a year, which shifts the reference time",
      steps: [
        run("cpu", "a", 0, 24 * HOUR_MS, wave(180, 300)),
        run("memory", "a", 0, 24 * HOUR_MS, wave(180, 4e8)),
        { op: "recommend" },
        run("cpu", "a", 181 * 24, HOUR_MS, wave(24, 900)),
        { op: "recommend" },
      ],
    },
    {
      name: "samples that are repeated or out of order",
      steps: [
        run("cpu", "a", 5, MINUTE_MS, [100, 200, 300]),
        run("cpu", "a", 5, MINUTE_MS, [100, 200, 300, 400]),
        run("cpu", "a", 1, MINUTE_MS, [900]),
        run("memory", "a", 5, MINUTE_MS, [3e8, 5e8]),
        run("memory", "a", 5, MINUTE_MS, [3e8, 5e8, 4e8]),
        { op: "recommend" },
      ],
    },
    {
      name: "OOM kills of one pod, the request raised in between",
      steps: [
        run("cpu", "a", 0, HOUR_MS, [100, 100, 100]),
        run("memory", "a", 0, HOUR_MS, [4e8, 4.5e8]),
        oom("a", 2, 5e8),
        { op: "recommend" },
        oom("a", 3, 5e8),
        { op: "recommend" },
        oom("a", 4, 9e8),
        { op: "recommend" },
        oom("a", 30, 3e9),
        run("memory", "a", 31, HOUR_MS, [3.2e9]),
        { op: "recommend" },
      ],
    },
  ];
}
