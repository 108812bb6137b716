import { Fault, randomInt, sleep, unavailable, type Random } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CALL, DeploymentWorld, memoryWorldStore, wishFor, type ManagerUnderTest } from "./fakes/deployment-world.ts";
import { lostAnswer } from "./fakes/mortal-store.ts";

const CLUSTERS = ["a", "b", "c", "d"];
const KEYS = ["x", "y", "z"] as DeploymentKey[];
const ABSENT = "absent";

/** What a key may turn out to be in the end: one state once it was answered, more while nobody can tell. */
class Expectation {
  possible = new Set([ABSENT]);
  /** Undoing leads back to what nobody here keeps a list of. */
  isOpen = false;

  answered(state: string): void {
    this.possible = new Set([state]);
  }

  unknown(state: string): void {
    this.possible.add(state);
  }
}

/** Two package managers on one store, and everything that can happen to them, from one seed. */
class Chaos {
  readonly #world: DeploymentWorld;
  readonly #random: Random;
  readonly #managers: ManagerUnderTest[] = [];
  readonly #expected = new Map(KEYS.map((key) => [key, new Expectation()]));
  readonly #turns = new Map<DeploymentKey, Promise<void>>();

  readonly #isUndone: boolean;

  constructor(world: DeploymentWorld, seed: number) {
    this.#world = world;
    this.#random = seededRandom(seed);
    this.#isUndone = this.#random.next() < 0.3;
  }

  async run(steps: number): Promise<void> {
    for (let index = 0; index < 2; index += 1) this.#managers.push(await this.#manager());
    for (let step = 0; step < steps; step += 1) {
      await this.#happen();
      await this.#world.pass(this.#pick([0, 10, 200, 2_000]));
    }
    await this.#heal();
  }

  async #happen(): Promise<void> {
    const { clusters } = this.#world;
    const dice = this.#random.next();
    if (dice < 0.3) this.#apply(this.#pick(KEYS));
    else if (dice < 0.36) this.#interfere(this.#pick(KEYS));
    else if (dice < 0.5) this.#remove(this.#pick(KEYS));
    else if (dice < 0.6) clusters.down.add(this.#pick(CLUSTERS));
    else if (dice < 0.75) clusters.down.delete(this.#pick(CLUSTERS));
    else if (dice < 0.82) this.#world.publish();
    else if (dice < 0.9)
      void this.#pick(this.#managers)
        .keeper.sweep()
        .catch(() => undefined);
    else if (dice < 0.96) await this.#replace(randomInt(this.#random, this.#managers.length));
    else clusters.units.get(this.#pick(CLUSTERS) as ClusterName)?.clear();
  }

  #apply(key: DeploymentKey): void {
    const chosen = CLUSTERS.filter(() => this.#random.next() < 0.6);
    const targets = chosen.length === 0 ? ["a"] : chosen;
    this.#inTurn(key, async ({ service }) => {
      const state = (): string => targets.map((name) => `${name}:${this.#world.packageRevision}`).join(" ");
      const before = state();
      const answer = service.apply({ deployment: wishFor(targets, { key }) }, CALL, {});
      // A package published meanwhile may or may not be the one that was planned with.
      return [answer, [...new Set([before, state()])]];
    });
  }

  /** Whatever may be asked while something else is under way. */
  #interfere(key: DeploymentKey): void {
    const { service } = this.#pick(this.#managers);
    (this.#expected.get(key) as Expectation).isOpen = true;
    const cluster = this.#pick(CLUSTERS) as ClusterName;
    const asked = this.#pick([
      () => service.cancel(key, CALL),
      () => service.rollBack(key, 1 + randomInt(this.#random, 3), CALL, {}),
      () => service.remove(key, CALL, { cluster }),
    ])();
    asked.catch(() => undefined);
  }

  #remove(key: DeploymentKey): void {
    this.#inTurn(key, async ({ service }) => [
      service.remove(key, CALL, {}).catch((thrown: unknown) => {
        if (!(thrown instanceof Fault) || thrown.kind !== "not-found") throw thrown;
      }),
      [ABSENT],
    ]);
  }

  /** One request after another for one key, so that the last answer says how it must end. */
  #inTurn(
    key: DeploymentKey,
    ask: (manager: ManagerUnderTest) => Promise<readonly [Promise<unknown>, readonly string[]]>,
  ): void {
    const manager = this.#pick(this.#managers);
    const expectation = this.#expected.get(key) as Expectation;
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.then(async () => {
      const revision = this.#world.packageRevision;
      const [answer, states] = await ask(manager);
      const died = manager.died.then(() => Promise.reject(new Error("died")));
      try {
        await Promise.race([answer, died]);
        const isSure = states.length === 1 && revision === this.#world.packageRevision;
        if (isSure) expectation.answered(states[0] as string);
        else for (const state of this.#since(revision, states)) expectation.unknown(state);
      } catch {
        for (const state of this.#since(revision, states)) expectation.unknown(state);
      }
    });
    this.#turns.set(key, turn);
  }

  /** The same clusters with every package published since. */
  #since(revision: number, states: readonly string[]): readonly string[] {
    const revisions = Array.from(
      { length: this.#world.packageRevision - revision + 1 },
      (_, index) => revision + index,
    );
    return states.flatMap((state) => revisions.map((each) => state.replaceAll(/:\d+/g, `:${each}`)));
  }

  async #manager(): Promise<ManagerUnderTest> {
    const manager = await this.#world.manager({ rollBackOnPartial: this.#isUndone });
    const { timers } = this.#world.at.ambient;
    manager.onCall = async (call, effect, { signal }) => {
      const dice = this.#random.next();
      if (dice < 0.1) throw unavailable(call.cluster, "the connection broke");
      const delay = sleep(timers, this.#pick([0, 5, 50, 3_000]));
      // A caller that gives up does not take back what is on its way.
      const given = Promise.withResolvers<never>();
      signal?.addEventListener("abort", () => given.reject(unavailable(call.cluster, "given up")));
      const arrived = delay.then(effect);
      await Promise.race([arrived, given.promise]);
      if (dice < 0.2) throw unavailable(call.cluster, "the answer got lost");
    };
    manager.onCommit = async (_, commit) => {
      const dice = this.#random.next();
      if (dice < 0.03) throw lostAnswer();
      const committed = await commit();
      if (dice < 0.06) throw lostAnswer();
      return committed;
    };
    return manager;
  }

  async #replace(index: number): Promise<void> {
    await (this.#managers[index] as ManagerUnderTest).kill();
    this.#managers[index] = await this.#manager();
  }

  async #heal(): Promise<void> {
    this.#world.clusters.down.clear();
    for (const manager of this.#managers) {
      manager.onCall = async (_, effect) => effect();
      manager.onCommit = undefined;
    }
    await this.#world.drive(Promise.all(this.#turns.values()));
    await this.#world.pass(30_000);
    const [manager] = this.#managers as [ManagerUnderTest];
    await this.#world.assertConverged(manager, { mayFindSurplus: true });
    for (const [key, { possible, isOpen }] of this.#expected) {
      if (!isOpen && !this.#isUndone) expect([...possible]).toContain(this.#state(key));
    }
  }

  #state(key: DeploymentKey): string {
    const there = [...this.#world.clusters.units].flatMap(([cluster, units]) =>
      [...units.values()]
        .filter((unit) => unit.deploymentKey === key)
        .map((unit) => `${cluster}:${unit.functions[0]?.provisionConfig?.containerImage?.split(":").at(-1)}`),
    );
    return there.length === 0 ? ABSENT : there.sort().join(" ");
  }

  #pick<T>(items: readonly T[]): T {
    return items[randomInt(this.#random, items.length)] as T;
  }
}

test(
  "whatever happens to two managers on one store: nothing is lost, nothing is left over, nothing is there twice",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1_000_000 }), async (seed) => {
        const world = new DeploymentWorld(await memoryWorldStore(seed), CLUSTERS);
        try {
          await new Chaos(world, seed).run(40);
        } finally {
          await world.dispose();
        }
      }),
      { numRuns: sweepSize(25, 1_000), endOnFailure: true },
    );
  },
  sweepSize(120_000, 3_600_000),
);
