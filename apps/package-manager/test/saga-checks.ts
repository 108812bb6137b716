import { failedPrecondition, unavailable } from "@oaas/foundation";
import { describe, expect, test } from "vitest";
import type { DeploymentPartsOptions } from "../src/deployments/deployment-parts.ts";
import { DeploymentWorld, type ManagerUnderTest, type WorldStore } from "./fakes/deployment-world.ts";

/** One saga, from the world it begins in to the world it must end in. */
export interface SagaScenario {
  readonly name: string;
  readonly clusters: readonly string[];
  readonly options?: Partial<DeploymentPartsOptions>;
  /** Brings the world to where the saga begins. */
  readonly before?: (world: DeploymentWorld, manager: ManagerUnderTest) => Promise<void>;
  /** The request. It is made again by a client whose process died; a refusal is an answer too. */
  readonly act: (world: DeploymentWorld, manager: ManagerUnderTest) => Promise<unknown>;
  /** What must hold in the end, whatever happened on the way. */
  readonly after: (world: DeploymentWorld, manager: ManagerUnderTest) => Promise<void>;
}

export interface SagaCheckOptions {
  readonly openStore: () => Promise<WorldStore>;
  /** Which of n points to take; all by default. */
  readonly points?: (count: number) => readonly number[];
  /** For stores on which time is real, and mostly spent in waiting for leases to run out. */
  readonly isConcurrent?: boolean;
}

const every = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1);

/** A few points, the first and the last among them, for stores that take real time. */
export function someOf(count: number): readonly number[] {
  return [...new Set([1, Math.ceil(count / 2), count])].filter((point) => point >= 1 && point <= count);
}

/**
 * The four checks that every saga must pass: each step twice, a failure at each step, undoing twice (for sagas that are undone), and a
 * crash at each journal write, and besides at each call to a cluster, before and after its effect.
 */
export function describeSaga(scenario: SagaScenario, options: SagaCheckOptions): void {
  const { openStore, points = every, isConcurrent = false } = options;
  const inWorld = async (work: (world: DeploymentWorld, manager: ManagerUnderTest) => Promise<void>): Promise<void> => {
    const world = new DeploymentWorld(await openStore(), scenario.clusters);
    try {
      const manager = await world.manager(scenario.options);
      await scenario.before?.(world, manager);
      await world.quiet(manager);
      await work(world, manager);
    } finally {
      await world.dispose();
    }
  };

  const asked = (world: DeploymentWorld, manager: ManagerUnderTest): Promise<unknown> =>
    world.answered(manager, () => scenario.act(world, manager));

  const act = async (world: DeploymentWorld, manager: ManagerUnderTest): Promise<void> => {
    await world.drive(asked(world, manager)).catch((thrown: unknown) => {
      if (!(thrown instanceof Error) || thrown.name !== "Fault") throw thrown;
    });
    await world.quiet(manager);
  };

  const ends = async (world: DeploymentWorld, manager: ManagerUnderTest): Promise<void> => {
    await scenario.after(world, manager);
    await world.assertConverged(manager);
  };

  /** Commits and calls of one undisturbed run. */
  const measured = async (): Promise<{ commits: number; calls: number }> => {
    let commits = 0;
    let calls = 0;
    await inWorld(async (world, manager) => {
      const before = manager.hooked.commits;
      manager.onCall = async (_, effect) => {
        calls += 1;
        effect();
      };
      await act(world, manager);
      commits = manager.hooked.commits - before;
      manager.onCall = async (_, effect) => effect();
      await ends(world, manager);
    });
    return { commits, calls };
  };

  /** Dies where `arm` says, then a new process finds what is left; then the client asks again. */
  const crash = async (arm: (manager: ManagerUnderTest, die: () => Promise<never>) => void): Promise<void> =>
    inWorld(async (world, manager) => {
      const { promise: died, resolve } = Promise.withResolvers<void>();
      arm(manager, async () => {
        await manager.kill();
        resolve();
        return new Promise<never>(() => undefined);
      });
      const answered = asked(world, manager).catch(() => undefined);
      if (world.at.time !== undefined) await world.drive(died);
      // On a real clock it takes a write more or less each time: a point that is not reached is one after the end.
      else await Promise.race([died, answered.then(() => world.quiet(manager)).catch(() => undefined)]);
      if (!manager.isDead) await manager.kill();
      const next = await world.manager(scenario.options);
      await world.quiet(next);
      await world.assertConverged(next);
      await act(world, next);
      await ends(world, next);
    });

  describe(scenario.name, { concurrent: isConcurrent }, () => {
    test("undisturbed", async () => {
      expect(await measured()).toMatchObject({ commits: expect.any(Number) });
    });

    test("each step twice, forwards and back", async () => {
      await inWorld(async (world, manager) => {
        manager.onCall = async (_, effect) => {
          effect();
          effect();
        };
        await act(world, manager);
        await ends(world, manager);
      });
    });

    test("a failure at each step: lost before, lost after, refused", async () => {
      const { calls } = await measured();
      for (const point of points(calls)) {
        for (const kind of ["before", "after", "refused"] as const) {
          await inWorld(async (world, manager) => {
            let nth = 0;
            let refused: string | undefined;
            manager.onCall = async (call, effect) => {
              nth += 1;
              const about = `${call.op} ${call.cluster}`;
              if (kind === "refused" && nth === point) refused = about;
              if (about === refused) throw failedPrecondition(call.cluster, "it will not have it");
              if (nth === point && kind === "before") throw unavailable(call.cluster, "the connection broke");
              effect();
              if (nth === point && kind === "after") throw unavailable(call.cluster, "the answer got lost");
            };
            await act(world, manager);
            manager.onCall = async (_, effect) => effect();
            if (kind === "refused") await world.assertConverged(manager);
            else await ends(world, manager);
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
