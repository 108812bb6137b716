import { randomInt, type Random } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";
import type { Fate } from "@oaas/kube-apiserver";
import type { Wish } from "../../../apps/class-runtime-manager/test/world.ts";
import { ClassCluster } from "./class-cluster.ts";

/** How a story went. */
export interface Story {
  /** Everything that the manager asked and was answered, with its time. */
  readonly trace: string;
  /** How the classes are that are asked for in the end, and that are there. */
  readonly phases: Readonly<Record<string, string | undefined>>;
  /** The classes that are asked for in the end. */
  readonly asked: readonly string[];
}

const MOST_STEPS = 3;
const MOST_BETWEEN_MS = 4_000;
/** Time for the last wish to come about: longer than the longest back-off after a fault. */
const REST_MS = 120_000;

const WISHES: readonly Wish[] = [
  { functions: { a: "1" }, template: "dev" },
  { functions: { a: "2" }, template: "dev" },
  { functions: { a: "1", b: "1" }, template: "dev" },
  { functions: { a: "1" }, template: "statefulset" },
];

/** Users ask for classes, change and delete them, while requests of the manager are late, lost, or find their watch cut: all by the seed. */
export async function tellStory(seed: number): Promise<Story> {
  const lines: string[] = [];
  let isFaulty = true;
  await using cluster = await ClassCluster.start(seed, {
    tell: (line) => lines.push(line),
    fateOf: (random) => (isFaulty ? fateOf(random) : undefined),
  });
  const dice = seededRandom(seed);
  const asked = new Set<string>();
  const steps = 1 + randomInt(dice, MOST_STEPS);
  for (let step = 0; step < steps; step += 1) {
    const name = `order-${randomInt(dice, 2)}`;
    // A class that is on its way out takes no wishes: its name is used again only when it is gone.
    const isGoing = !asked.has(name) && name in (await cluster.phases());
    if (asked.has(name) && dice.next() < 0.25) {
      asked.delete(name);
      await cluster.delete(name);
    } else if (!isGoing) {
      asked.add(name);
      await cluster.ask(name, WISHES[randomInt(dice, WISHES.length)] as Wish);
    }
    await cluster.pass(randomInt(dice, MOST_BETWEEN_MS));
  }
  isFaulty = false;
  await cluster.pass(REST_MS);
  return { trace: lines.join("\n"), phases: await cluster.phases(), asked: [...asked].toSorted() };
}

function fateOf(random: Random): Fate | undefined {
  const draw = random.next();
  if (draw < 0.05) return { kind: "delay", ms: randomInt(random, 500) };
  if (draw < 0.08) return { kind: "drop", when: random.next() < 0.5 ? "before" : "after" };
  if (draw < 0.12)
    return { kind: "cut", afterChunks: 1 + randomInt(random, 3), as: random.next() < 0.5 ? "lost" : "expired" };
  return undefined;
}
