import { isFault } from "@oaas/foundation";
import {
  RolloutFailure,
  RolloutGate,
  RolloutStrategy,
  type ClusterName,
  type DeploymentKey,
  type PackageName,
} from "@oaas/models";
import { expect } from "vitest";
import { CALL, KEY, wishFor, type DeploymentWorld, type ManagerUnderTest } from "./fakes/deployment-world.ts";
import type { SagaScenario } from "./saga-checks.ts";

const ABC = ["a", "b", "c"];

const apply =
  (clusters: readonly string[], more: Parameters<typeof wishFor>[1] = {}) =>
  (_: DeploymentWorld, { service }: ManagerUnderTest): Promise<unknown> =>
    service.apply({ deployment: wishFor(clusters, more) }, CALL, {});

const created =
  (clusters: readonly string[], more: Parameters<typeof wishFor>[1] = {}) =>
  async (world: DeploymentWorld, manager: ManagerUnderTest): Promise<void> => {
    await world.drive(world.answered(manager, () => apply(clusters, more)(world, manager)));
  };

/** A unit of this image in exactly these clusters. */
function runs(world: DeploymentWorld, clusters: readonly string[], image = world.packageRevision): void {
  const there = [...world.clusters.units].flatMap(([cluster, units]) =>
    [...units.values()].map((unit) => `${cluster} ${unit.functions[0]?.provisionConfig?.containerImage}`),
  );
  expect(there.sort()).toEqual(clusters.map((cluster) => `${cluster} registry.local/order:${image}`));
}

async function isGone({ service }: ManagerUnderTest, key: DeploymentKey = KEY): Promise<void> {
  await expect(service.get(key)).rejects.toSatisfy((thrown) => isFault(thrown, "not-found"));
}

const gone = async (world: DeploymentWorld, manager: ManagerUnderTest): Promise<void> => {
  expect(world.clusters.inventory).toEqual([]);
  await isGone(manager);
};

const published = (prepare: NonNullable<SagaScenario["before"]>): NonNullable<SagaScenario["before"]> => {
  return async (world, manager) => {
    await prepare(world, manager);
    world.publish();
  };
};

const ROLLING = {
  rollout: {
    strategy: RolloutStrategy.rolling,
    maxParallel: 1,
    gate: RolloutGate.available,
    onFailure: RolloutFailure.rollBack,
  },
};

/** Every kind of saga, in every way it can end. */
export const SCENARIOS: readonly SagaScenario[] = [
  {
    name: "create in three clusters",
    clusters: ABC,
    act: apply(ABC),
    after: async (world) => runs(world, ABC),
  },
  {
    name: "update in three clusters",
    clusters: ABC,
    before: published(created(ABC)),
    act: apply(ABC),
    after: async (world) => runs(world, ABC),
  },
  {
    name: "move from two clusters to two others",
    clusters: ["a", "b", "c", "d"],
    before: created(["a", "b"]),
    act: apply(["b", "c"]),
    after: async (world) => runs(world, ["b", "c"]),
  },
  {
    name: "delete",
    clusters: ABC,
    before: created(ABC),
    act: (_, { service }) => service.remove(KEY, CALL, {}),
    after: gone,
  },
  {
    name: "delete while a cluster is away",
    clusters: ABC,
    before: async (world, manager) => {
      await created(ABC)(world, manager);
      world.clusters.down.add("b");
    },
    act: (_, { service }) => service.remove(KEY, CALL, {}),
    after: async (world, manager) => {
      await world.assertConverged(manager);
      await gone(world, manager);
    },
  },
  {
    name: "delete in one cluster",
    clusters: ABC,
    before: created(ABC),
    act: (_, { service }) => service.remove(KEY, CALL, { cluster: "b" as ClusterName }),
    after: async (world) => runs(world, ["a", "c"]),
  },
  {
    name: "create that is undone because one cluster refuses",
    clusters: ABC,
    options: { rollBackOnPartial: true },
    before: async (world) => void world.clusters.refusing.add("c"),
    act: apply(ABC),
    after: async (world, { service }) => {
      expect(world.clusters.inventory).toEqual([]);
      expect((await service.get(KEY)).value.condition).toBe("down");
    },
  },
  {
    name: "update that is undone because one cluster refuses",
    clusters: ABC,
    options: { rollBackOnPartial: true },
    before: async (world, manager) => {
      await published(created(ABC))(world, manager);
      world.clusters.refusing.add("c");
    },
    act: apply(ABC),
    after: async (world) => runs(world, ABC, 1),
  },
  {
    name: "rolling update with a gate",
    clusters: ABC,
    before: published(created(ABC, ROLLING)),
    act: apply(ABC, ROLLING),
    after: async (world) => runs(world, ABC),
  },
  {
    name: "rolling update that is undone because a gate stays closed",
    clusters: ABC,
    before: async (world, manager) => {
      await published(created(ABC, ROLLING))(world, manager);
      world.clusters.stuck.add("b");
    },
    act: apply(ABC, ROLLING),
    after: async (world) => runs(world, ABC, 1),
  },
  {
    name: "roll back to the first revision",
    clusters: ABC,
    before: async (world, manager) => {
      await published(created(ABC))(world, manager);
      await created(["a", "b"])(world, manager);
    },
    act: (_, { service }) => service.rollBack(KEY, 1, CALL, {}),
    after: async (world) => runs(world, ABC, 1),
  },
  {
    name: "remove a package with its deployments",
    clusters: ABC,
    before: async (world, manager) => {
      await created(["a", "b"])(world, manager);
      await created(["b", "c"], { key: "more" as DeploymentKey })(world, manager);
    },
    act: (_, { service }) => service.removeAll("shop" as PackageName, CALL),
    after: async (world, manager) => {
      await gone(world, manager);
      await isGone(manager, "more" as DeploymentKey);
      expect(world.forgotten).toBeGreaterThan(0);
    },
  },
];
