import type { Bench } from "./harness.ts";
import { scaled } from "./kube/scale.ts";
import { deployed, startFleet, type Fleet } from "./pm/fleet.ts";
import { concurrently } from "./storage/rounds.ts";

const CLUSTERS = 3;
const DEPLOYMENTS = scaled(2_000);
const WIDTH = 32;
const DELAY_MS = 50;
const SLOW = scaled(200);

/** Deployments per second in three clusters, lost or leftover units, and the gain of eight concurrent requests. */
export const bench: Bench = {
  name: "pm-deployments",
  async run(log) {
    log(`${DEPLOYMENTS} deployments over ${CLUSTERS} clusters, ${WIDTH} at once`);
    const created = await createAndRemove();
    log(`one at a time and eight at once, clusters of ${DELAY_MS} ms`);
    await using slow = await startFleet(CLUSTERS, DELAY_MS);
    await rate(slow, "warm", Math.ceil(SLOW / 4), 8);
    const alone = await rate(slow, "alone", Math.ceil(SLOW / 8), 1);
    const eight = await rate(slow, "eight", SLOW, 8);
    return {
      title: `${DEPLOYMENTS} deployments over ${CLUSTERS} scripted clusters, in memory`,
      measurements: [
        {
          name: `created, ${WIDTH} at once`,
          value: created.perSecond,
          unit: "deployments/s",
          note: `${CLUSTERS} clusters each`,
        },
        { name: `removed, ${WIDTH} at once`, value: created.removedPerSecond, unit: "deployments/s" },
        { name: "lost: acknowledged, not in a cluster", value: created.lost, unit: "units" },
        { name: "orphans: in a cluster without a deployment", value: created.orphans, unit: "units" },
        { name: `clusters of ${DELAY_MS} ms, one at a time`, value: alone, unit: "deployments/s" },
        { name: `clusters of ${DELAY_MS} ms, eight at once`, value: eight, unit: "deployments/s" },
      ],
      ratios: [
        {
          name: "none lost, no orphan",
          value: created.lost + created.orphans === 0 ? 1 : 0,
          floor: 1,
          explains: "after creating all, and after removing all",
        },
        {
          name: "eight at once / one at a time",
          value: eight / alone,
          floor: 6,
          explains: `clusters of ${DELAY_MS} ms; the earlier implementation gained 5 %`,
        },
      ],
    };
  },
};

interface Made {
  readonly perSecond: number;
  readonly removedPerSecond: number;
  readonly lost: number;
  readonly orphans: number;
}

async function createAndRemove(): Promise<Made> {
  await using fleet = await startFleet(CLUSTERS, 0);
  const perSecond = await rate(fleet, "order", DEPLOYMENTS, WIDTH);
  const wanted = Array.from({ length: DEPLOYMENTS }, (_, index) => keyOf("order", index + 1));
  const held = await fleet.held();
  const lost = held.reduce((sum, keys) => sum + missing(wanted, keys), 0);
  const surplus = held.reduce((sum, keys) => sum + keys.length - (wanted.length - missing(wanted, keys)), 0);
  const start = performance.now();
  await concurrently(DEPLOYMENTS, WIDTH, async (n) => {
    const { status, text } = await fleet.pm.call("DELETE", `/api/v1/deployments/${keyOf("order", n)}`);
    if (status !== 200) throw new Error(`${status} ${text}`);
  });
  const removedPerSecond = (DEPLOYMENTS * 1000) / (performance.now() - start);
  const left = (await fleet.held()).reduce((sum, keys) => sum + keys.length, 0);
  return { perSecond, removedPerSecond, lost, orphans: surplus + left };
}

function missing(wanted: readonly string[], held: readonly string[]): number {
  const known = new Set(held);
  return wanted.filter((key) => !known.has(key)).length;
}

function keyOf(name: string, n: number): string {
  return `${name}-${String(n).padStart(5, "0")}`;
}

async function rate({ pm, clusters }: Fleet, name: string, count: number, width: number): Promise<number> {
  const start = performance.now();
  await concurrently(count, width, (n) => deployed(pm, keyOf(name, n), clusters));
  return (count * 1000) / (performance.now() - start);
}
