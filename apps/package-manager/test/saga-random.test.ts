import { Fault, randomInt, sleep, unavailable, type Random } from "@oaas/foundation";
import { seededRandom } from "@oaas/foundation/virtual";
import type { ClusterName, DeploymentKey } from "@oaas/models";
import { sweepSize } from "@oaas/testkit";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  memoryFixtureStore,
  deploymentFor,
  type ManagerUnderTest,
} from "./fakes/deployment-fixture.ts";
import { lostResponse } from "./fakes/hooked-store.ts";

const CLUSTERS = ["a", "b", "c", "d"];
const KEYS = ["x", "y", "z"] as DeploymentKey[];
const ABSENT = "absent";

/** The possible final states of a key: one after a response, several while the outcome is unknown. */
class Expectation {
  possible = new Set([ABSENT]);
  /** An undo restores an earlier state that is not tracked here. */
  isOpen = false;

  answered(state: string): void {
    this.possible = new Set([state]);
  }

  unknown(state: string): void {
    this.possible.add(state);
  }
}

/** Two package managers on one store with random faults from one seed. */
class Chaos {
  readonly #fixture: DeploymentFixture;
  readonly #random: Random;
  readonly #managers: ManagerUnderTest[] = [];
  readonly #expected = new Map(KEYS.map((key) => [key, new Expectation()]));
  readonly #turns = new Map<DeploymentKey, Promise<void>>();

  readonly #isUndone: boolean;

  constructor(fixture: DeploymentFixture, seed: number) {
    this.#fixture = fixture;
    this.#random = seededRandom(seed);
    this.#isUndone = this.#random.next() < 0.3;
  }

  async run(steps: number): Promise<void> {
    for (let index = 0; index < 2; index += 1) this.#managers.push(await this.#manager());
    for (let step = 0; step < steps; step += 1) {
      await this.#happen();
      await this.#fixture.advance(this.#pick([0, 10, 200, 2_000]));
    }
    await this.#heal();
  }

  async #happen(): Promise<void> {
    const { clusters } = this.#fixture;
    const dice = this.#random.next();
    if (dice < 0.3) this.#apply(this.#pick(KEYS));
    else if (dice < 0.36) this.#interfere(this.#pick(KEYS));
    else if (dice < 0.5) this.#remove(this.#pick(KEYS));
    else if (dice < 0.6) clusters.down.add(this.#pick(CLUSTERS));
    else if (dice < 0.75) clusters.down.delete(this.#pick(CLUSTERS));
    else if (dice < 0.82) this.#fixture.publish();
    else if (dice < 0.9)
      void this.#pick(this.#managers)
        .drift.sweep()
        .catch(() => undefined);
    else if (dice < 0.96) await this.#replace(randomInt(this.#random, this.#managers.length));
    else clusters.units.get(this.#pick(CLUSTERS) as ClusterName)?.clear();
  }

  #apply(key: DeploymentKey): void {
    const chosen = CLUSTERS.filter(() => this.#random.next() < 0.6);
    const targets = chosen.length === 0 ? ["a"] : chosen;
    this.#inTurn(key, async ({ service }) => {
      const state = (): string => targets.map((name) => `${name}:${this.#fixture.packageRevision}`).join(" ");
      const before = state();
      const answer = service.apply({ deployment: deploymentFor(targets, { key }) }, CALL, {});
      // The plan may or may not include a package that was published in the meantime.
      return [answer, [...new Set([before, state()])]];
    });
  }

  /** Random requests during another operation. */
  #interfere(key: DeploymentKey): void {
    const { service } = this.#pick(this.#managers);
    (this.#expected.get(key) as Expectation).isOpen = true;
    const cluster = this.#pick(CLUSTERS) as ClusterName;
    const request = this.#pick([
      () => service.cancel(key, CALL),
      () => service.rollBack(key, 1 + randomInt(this.#random, 3), CALL, {}),
      () => service.remove(key, CALL, { cluster }),
    ])();
    request.catch(() => undefined);
  }

  #remove(key: DeploymentKey): void {
    this.#inTurn(key, async ({ service }) => [
      service.remove(key, CALL, {}).catch((thrown: unknown) => {
        if (!(thrown instanceof Fault) || thrown.kind !== "not-found") throw thrown;
      }),
      [ABSENT],
    ]);
  }

  /** Sequential requests for one key, so that the last response determines the final state. */
  #inTurn(
    key: DeploymentKey,
    ask: (manager: ManagerUnderTest) => Promise<readonly [Promise<unknown>, readonly string[]]>,
  ): void {
    const manager = this.#pick(this.#managers);
    const expectation = this.#expected.get(key) as Expectation;
    const before = this.#turns.get(key) ?? Promise.resolve();
    const turn = before.then(async () => {
      const revision = this.#fixture.packageRevision;
      const [answer, states] = await ask(manager);
      const died = manager.died.then(() => Promise.reject(new Error("died")));
      try {
        await Promise.race([answer, died]);
        const isSure = states.length === 1 && revision === this.#fixture.packageRevision;
        if (isSure) expectation.answered(states[0] as string);
        else for (const state of this.#since(revision, states)) expectation.unknown(state);
      } catch {
        for (const state of this.#since(revision, states)) expectation.unknown(state);
      }
    });
    this.#turns.set(key, turn);
  }

  /** The same clusters with every package revision published since. */
  #since(revision: number, states: readonly string[]): readonly string[] {
    const revisions = Array.from(
      { length: this.#fixture.packageRevision - revision + 1 },
      (_, index) => revision + index,
    );
    return states.flatMap((state) => revisions.map((each) => state.replaceAll(/:\d+/g, `:${each}`)));
  }

  async #manager(): Promise<ManagerUnderTest> {
    const manager = await this.#fixture.manager({ rollBackOnPartial: this.#isUndone });
    const { timers } = this.#fixture.at.ambient;
    manager.onCall = async (call, effect, { signal }) => {
      const dice = this.#random.next();
      if (dice < 0.1) throw unavailable(call.cluster, "the connection broke");
      const delay = sleep(timers, this.#pick([0, 5, 50, 3_000]));
      // An aborted call can still have its effect.
      const given = Promise.withResolvers<never>();
      signal?.addEventListener("abort", () => given.reject(unavailable(call.cluster, "aborted")));
      const arrived = delay.then(effect);
      await Promise.race([arrived, given.promise]);
      if (dice < 0.2) throw unavailable(call.cluster, "the response was lost");
    };
    manager.onCommit = async (_, commit) => {
      const dice = this.#random.next();
      if (dice < 0.03) throw lostResponse();
      const committed = await commit();
      if (dice < 0.06) throw lostResponse();
      return committed;
    };
    return manager;
  }

  async #replace(index: number): Promise<void> {
    await (this.#managers[index] as ManagerUnderTest).kill();
    this.#managers[index] = await this.#manager();
  }

  async #heal(): Promise<void> {
    this.#fixture.clusters.down.clear();
    for (const manager of this.#managers) {
      manager.onCall = async (_, effect) => effect();
      manager.onCommit = undefined;
    }
    await this.#fixture.drive(Promise.all(this.#turns.values()));
    await this.#fixture.advance(30_000);
    const [manager] = this.#managers as [ManagerUnderTest];
    await this.#fixture.assertConverged(manager, { mayFindSurplus: true });
    for (const [key, { possible, isOpen }] of this.#expected) {
      if (!isOpen && !this.#isUndone) expect([...possible]).toContain(this.#state(key));
    }
  }

  #state(key: DeploymentKey): string {
    const there = [...this.#fixture.clusters.units].flatMap(([cluster, units]) =>
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
  "two managers on one store lose, leave over and duplicate no unit under random faults",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: 1_000_000 }), async (seed) => {
        const fixture = new DeploymentFixture(await memoryFixtureStore(seed), CLUSTERS);
        try {
          await new Chaos(fixture, seed).run(40);
        } finally {
          await fixture.dispose();
        }
      }),
      { numRuns: sweepSize(25, 1_000), endOnFailure: true },
    );
  },
  sweepSize(120_000, 3_600_000),
);
