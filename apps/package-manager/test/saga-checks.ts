import { failedPrecondition, unavailable } from "@oaas/foundation";
import { describe, expect, test } from "vitest";
import type { DeploymentPartsOptions } from "../src/deployments/deployment-parts.ts";
import { DeploymentFixture, type ManagerUnderTest, type FixtureStore } from "./fakes/deployment-fixture.ts";

/** One saga with its initial and its expected final state. */
export interface SagaScenario {
  readonly name: string;
  readonly clusters: readonly string[];
  readonly options?: Partial<DeploymentPartsOptions>;
  /** Creates the initial state. */
  readonly before?: (fixture: DeploymentFixture, manager: ManagerUnderTest) => Promise<void>;
  /** The request. A client repeats it when the process dies; a rejection is a response too. */
  readonly act: (fixture: DeploymentFixture, manager: ManagerUnderTest) => Promise<unknown>;
  /** Asserts the final state. */
  readonly after: (fixture: DeploymentFixture, manager: ManagerUnderTest) => Promise<void>;
}

export interface SagaCheckOptions {
  readonly openStore: () => Promise<FixtureStore>;
  /** Selects from n points; all by default. */
  readonly points?: (count: number) => readonly number[];
  /** For stores with real time, which mostly wait for leases to expire. */
  readonly isConcurrent?: boolean;
}

const every = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** A few points, including the first and the last, for stores with real time. */
export function someOf(count: number): readonly number[] {
  return [...new Set([1, Math.ceil(count / 2), count])].filter((point) => point >= 1 && point <= count);
}

/**
 * The four checks of every saga: each step twice, a failure at each step, each undo twice, and a crash at each journal write
 * and each call to a cluster, before and after its effect.
 */
export function describeSaga(scenario: SagaScenario, options: SagaCheckOptions): void {
  const { openStore, points = every, isConcurrent = false } = options;
  const inWorld = async (
    work: (fixture: DeploymentFixture, manager: ManagerUnderTest) => Promise<void>,
  ): Promise<void> => {
    const fixture = new DeploymentFixture(await openStore(), scenario.clusters);
    try {
      const manager = await fixture.manager(scenario.options);
      await scenario.before?.(fixture, manager);
      await fixture.untilIdle(manager);
      await work(fixture, manager);
    } finally {
      await fixture.dispose();
    }
  };

  const request = (fixture: DeploymentFixture, manager: ManagerUnderTest): Promise<unknown> =>
    fixture.retryUnavailable(manager, () => scenario.act(fixture, manager));

  const act = async (fixture: DeploymentFixture, manager: ManagerUnderTest): Promise<void> => {
    await fixture.drive(request(fixture, manager)).catch((thrown: unknown) => {
      if (!(thrown instanceof Error) || thrown.name !== "Fault") throw thrown;
    });
    await fixture.untilIdle(manager);
  };

  const ends = async (fixture: DeploymentFixture, manager: ManagerUnderTest): Promise<void> => {
    await scenario.after(fixture, manager);
    await fixture.assertConverged(manager);
  };

  /** Commits and calls of one undisturbed run. */
  const measured = async (): Promise<{ commits: number; calls: number }> => {
    let commits = 0;
    let calls = 0;
    await inWorld(async (fixture, manager) => {
      const before = manager.hooked.commits;
      manager.onCall = async (_, effect) => {
        calls += 1;
        effect();
      };
      await act(fixture, manager);
      commits = manager.hooked.commits - before;
      manager.onCall = async (_, effect) => effect();
      await ends(fixture, manager);
    });
    return { commits, calls };
  };

  /** Kills the process at the point that `arm` sets, starts a new one, and repeats the request. */
  const crash = async (arm: (manager: ManagerUnderTest, die: () => Promise<never>) => void): Promise<void> =>
    inWorld(async (fixture, manager) => {
      const { promise: died, resolve } = Promise.withResolvers<void>();
      arm(manager, async () => {
        await manager.kill();
        resolve();
        return new Promise<never>(() => undefined);
      });
      const response = request(fixture, manager).catch(() => undefined);
      if (fixture.at.time !== undefined) await fixture.drive(died);
      // With real time the number of writes varies, so a point may lie after the end.
      else await Promise.race([died, response.then(() => fixture.untilIdle(manager)).catch(() => undefined)]);
      if (!manager.isDead) await manager.kill();
      const next = await fixture.manager(scenario.options);
      await fixture.untilIdle(next);
      await fixture.assertConverged(next);
      await act(fixture, next);
      await ends(fixture, next);
    });

  describe(scenario.name, { concurrent: isConcurrent }, () => {
    test("undisturbed", async () => {
      expect(await measured()).toMatchObject({ commits: expect.any(Number) });
    });

    test("each step twice, forwards and back", async () => {
      await inWorld(async (fixture, manager) => {
        manager.onCall = async (_, effect) => {
          effect();
          effect();
        };
        await act(fixture, manager);
        await ends(fixture, manager);
      });
    });

    test("a failure at each step: lost before, lost after, rejected", async () => {
      const { calls } = await measured();
      for (const point of points(calls)) {
        for (const kind of ["before", "after", "refused"] as const) {
          await inWorld(async (fixture, manager) => {
            let nth = 0;
            let refused: string | undefined;
            manager.onCall = async (call, effect) => {
              nth += 1;
              const about = `${call.op} ${call.cluster}`;
              if (kind === "refused" && nth === point) refused = about;
              if (about === refused) throw failedPrecondition(call.cluster, "rejected");
              if (nth === point && kind === "before") throw unavailable(call.cluster, "the connection broke");
              effect();
              if (nth === point && kind === "after") throw unavailable(call.cluster, "the response was lost");
            };
            await act(fixture, manager);
            manager.onCall = async (_, effect) => effect();
            if (kind === "refused") await fixture.assertConverged(manager);
            else await ends(fixture, manager);
          });
        }
      }
    });

    test("a crash at each journal write, before and after it is written", async () => {
      const { commits } = await measured();
      for (const point of points(commits)) {
        for (const isWritten of [false, true]) {
          await crash((manager, die) => {
            const before = manager.hooked.commits;
            manager.onCommit = async (nth, commit) => {
              if (nth - before !== point) return commit();
              if (isWritten) await commit();
              return die();
            };
          });
        }
      }
    });

    test("a crash at each call, before and after its effect", async () => {
      const { calls } = await measured();
      for (const point of points(calls)) {
        for (const isDone of [false, true]) {
          await crash((manager, die) => {
            let nth = 0;
            manager.onCall = async (_, effect) => {
              nth += 1;
              if (nth === point && !isDone) return die();
              effect();
              if (nth === point) return die();
            };
          });
        }
      }
    });
  });
}
