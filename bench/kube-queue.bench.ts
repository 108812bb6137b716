import { realAmbient } from "@oaas/foundation/real";
import { WorkQueue } from "@oaas/kube-runtime";
import type { Bench } from "./harness.ts";
import { median } from "./kube/run-client-program.ts";
import { scaled } from "./kube/scale.ts";

const KEYS = scaled(100_000);
const NAMESPACES = 100;
const ROUNDS = 15;

interface Timed {
  readonly addMs: number;
  readonly takeMs: number;
}

/** Adding and taking 100,000 keys: our work queue compared with a minimal queue that only de-duplicates. */
export const bench: Bench = {
  name: "kube-queue",
  async run(log) {
    const keys = Array.from({ length: KEYS }, (_, index) => `namespace-${index % NAMESPACES}/object-${index}`);
    const queue: Timed[] = [];
    const anchor: Timed[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      queue.push(await workQueueRound(keys));
      anchor.push(await anchorRound(keys));
    }
    log(`${ROUNDS} rounds of ${KEYS} keys in ${NAMESPACES} namespaces`);
    const rate = (rounds: readonly Timed[], ms: (round: Timed) => number): number =>
      (KEYS / median(rounds.map(ms))) * 1000;
    const adds = ({ addMs }: Timed): number => addMs;
    const takes = ({ takeMs }: Timed): number => takeMs;
    return {
      title: `Work queue: ${KEYS} keys (medians of ${ROUNDS} rounds)`,
      measurements: [
        { name: "WorkQueue: adds", value: rate(queue, adds), unit: "per second" },
        { name: "WorkQueue: takes", value: rate(queue, takes), unit: "per second", note: "take and done" },
        { name: "Map and array: adds", value: rate(anchor, adds), unit: "per second" },
        { name: "Map and array: takes", value: rate(anchor, takes), unit: "per second", note: "take and done" },
      ],
      ratios: [
        {
          name: "adds, WorkQueue / Map and array",
          value: rate(queue, adds) / rate(anchor, adds),
          floor: 0.1,
          explains: "ours records when each key was added, has a queue per namespace and checks for a pending delay",
        },
        {
          name: "takes, WorkQueue / Map and array",
          value: rate(queue, takes) / rate(anchor, takes),
          floor: 0.1,
          explains: "ours picks namespaces in turn and measures queue and work time of each key",
        },
      ],
    };
  },
};

async function workQueueRound(keys: readonly string[]): Promise<Timed> {
  const queue = new WorkQueue<string>({
    ...realAmbient,
    limit: keys.length,
    groupOf: (key) => key.slice(0, key.indexOf("/")),
  });
  const timed = await timeRound(keys, {
    add: (key) => queue.add(key),
    take: async () => (await queue.take())?.key,
    done: (key) => queue.done(key),
  });
  await queue.stop();
  return timed;
}

/** First in, first out, each key once. */
function anchorRound(keys: readonly string[]): Promise<Timed> {
  const waiting = new Map<string, boolean>();
  const line: string[] = [];
  const working = new Set<string>();
  let head = 0;
  return timeRound(keys, {
    add: (key) => {
      if (waiting.has(key)) return;
      waiting.set(key, true);
      line.push(key);
    },
    take: async () => {
      const key = line[head];
      head += 1;
      if (key === undefined) return undefined;
      waiting.delete(key);
      working.add(key);
      return key;
    },
    done: (key) => void working.delete(key),
  });
}

interface Queue {
  add(key: string): void;
  take(): Promise<string | undefined>;
  done(key: string): void;
}

async function timeRound(keys: readonly string[], queue: Queue): Promise<Timed> {
  const start = performance.now();
  for (const key of keys) queue.add(key);
  const added = performance.now();
  for (let count = 0; count < keys.length; count += 1) {
    const key = await queue.take();
    if (key === undefined) throw new Error(`only ${count} keys came out`);
    queue.done(key);
  }
  return { addMs: added - start, takeMs: performance.now() - added };
}
