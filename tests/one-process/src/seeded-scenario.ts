import { randomInt, type Random } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";
import type { FaultAction } from "@oaas/kube-apiserver";
import type { DesiredClass } from "../../../apps/class-runtime-manager/test/support/namespace-snapshot.ts";
import { ClassCluster } from "./class-cluster.ts";

/** The result of a scenario. */
export interface ScenarioResult {
  /** Every request and response of the manager, with its time. */
  readonly trace: string;
  /** The phases of the existing classes at the end. */
  readonly phases: Readonly<Record<string, string | undefined>>;
  /** The classes that must exist at the end. */
  readonly expected: readonly string[];
}

const MAX_STEPS = 3;
const MAX_PAUSE_MS = 4_000;
/** Time to converge: longer than the longest backoff after a fault. */
const SETTLE_MS = 120_000;

const DESIRED: readonly DesiredClass[] = [
  { functions: { a: "1" }, template: "dev" },
  { functions: { a: "2" }, template: "dev" },
  { functions: { a: "1", b: "1" }, template: "dev" },
  { functions: { a: "1" }, template: "statefulset" },
];

/**
 * Creates, changes and deletes classes while requests of the manager are delayed, dropped or cut, all derived from the
 * seed.
 */
export async function runScenario(seed: number): Promise<ScenarioResult> {
  const lines: string[] = [];
  let isFaulty = true;
  await using cluster = await ClassCluster.start(seed, {
    record: (line) => lines.push(line),
    fateOf: (random) => (isFaulty ? fateOf(random) : undefined),
  });
  const random = seededRandom(seed);
  const expected = new Set<string>();
  const steps = 1 + randomInt(random, MAX_STEPS);
  for (let step = 0; step < steps; step += 1) {
    const name = `order-${randomInt(random, 2)}`;
    // A terminating class cannot be changed: reuse its name only after it is removed.
    const isTerminating = !expected.has(name) && name in (await cluster.phases());
    if (expected.has(name) && random.next() < 0.25) {
      expected.delete(name);
      await cluster.delete(name);
    } else if (!isTerminating) {
      expected.add(name);
      await cluster.applyClass(name, DESIRED[randomInt(random, DESIRED.length)] as DesiredClass);
    }
    await cluster.advance(randomInt(random, MAX_PAUSE_MS));
  }
  isFaulty = false;
  await cluster.advance(SETTLE_MS);
  return { trace: lines.join("\n"), phases: await cluster.phases(), expected: [...expected].toSorted() };
}

function fateOf(random: Random): FaultAction | undefined {
  const draw = random.next();
  if (draw < 0.05) return { kind: "delay", ms: randomInt(random, 500) };
  if (draw < 0.08) return { kind: "drop", when: random.next() < 0.5 ? "before" : "after" };
  if (draw < 0.12)
    return { kind: "cut", afterChunks: 1 + randomInt(random, 3), as: random.next() < 0.5 ? "lost" : "expired" };
  return undefined;
}
