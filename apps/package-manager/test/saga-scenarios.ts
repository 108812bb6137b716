import { isFault, sleep } from "@oaas/foundation";
import {
  ReplanMode,
  RolloutFailure,
  RolloutGate,
  RolloutStrategy,
  type ClusterName,
  type DeploymentKey,
  type PackageName,
} from "@oaas/models";
import { expect } from "vitest";
import { CALL, KEY, deploymentFor, type DeploymentFixture, type ManagerUnderTest } from "./fakes/deployment-fixture.ts";
import type { SagaScenario } from "./saga-checks.ts";

const ABC = ["a", "b", "c"];

const apply =
  (clusters: readonly string[], more: Parameters<typeof deploymentFor>[1] = {}) =>
  (_: DeploymentFixture, { service }: ManagerUnderTest): Promise<unknown> =>
    service.apply({ deployment: deploymentFor(clusters, more) }, CALL, {});

const created =
  (clusters: readonly string[], more: Parameters<typeof deploymentFor>[1] = {}) =>
  async (fixture: DeploymentFixture, manager: ManagerUnderTest): Promise<void> => {
    await fixture.drive(fixture.retryUnavailable(manager, () => apply(clusters, more)(fixture, manager)));
  };

/** A unit of this image in exactly these clusters. */
function runs(fixture: DeploymentFixture, clusters: readonly string[], image = fixture.packageRevision): void {
  const there = [...fixture.clusters.units].flatMap(([cluster, units]) =>
    [...units.values()].map((unit) => `${cluster} ${unit.functions[0]?.provisionConfig?.containerImage}`),
  );
  expect(there.sort()).toEqual(clusters.map((cluster) => `${cluster} registry.local/order:${image}`));
}

async function isGone({ service }: ManagerUnderTest, key: DeploymentKey = KEY): Promise<void> {
  await expect(service.get(key)).rejects.toSatisfy((thrown) => isFault(thrown, "not-found"));
}

const gone = async (fixture: DeploymentFixture, manager: ManagerUnderTest): Promise<void> => {
  expect(fixture.clusters.inventory).toEqual([]);
  await isGone(manager);
};

const published = (prepare: NonNullable<SagaScenario["before"]>): NonNullable<SagaScenario["before"]> => {
  return async (fixture, manager) => {
    await prepare(fixture, manager);
    fixture.publish();
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

const REPLANNED = { replan: ReplanMode.auto, replanClusterLostSeconds: 1, replanAllowStateLoss: true };

/** The cluster is lost for longer than the deployment allows, and the re-planner reviews it. */
const loseCluster: SagaScenario["act"] = async (fixture, { replanner }) => {
  fixture.clusters.down.add("a");
  for (let round = 0; round < 2; round += 1) await replanner.round();
  await sleep(fixture.at.ambient.timers, 1_100);
  await replanner.round();
};

/** Every kind of saga with each of its outcomes. */
export const SCENARIOS: readonly SagaScenario[] = [
  {
    name: "create in three clusters",
    clusters: ABC,
    act: apply(ABC),
    after: async (fixture) => runs(fixture, ABC),
  },
  {
    name: "update in three clusters",
    clusters: ABC,
    before: published(created(ABC)),
    act: apply(ABC),
    after: async (fixture) => runs(fixture, ABC),
  },
  {
    name: "move from two clusters to two others",
    clusters: ["a", "b", "c", "d"],
    before: created(["a", "b"]),
    act: apply(["b", "c"]),
    after: async (fixture) => runs(fixture, ["b", "c"]),
  },
  {
    name: "delete",
    clusters: ABC,
    before: created(ABC),
    act: (_, { service }) => service.remove(KEY, CALL, {}),
    after: gone,
  },
  {
    name: "delete while a cluster is unreachable",
    clusters: ABC,
    before: async (fixture, manager) => {
      await created(ABC)(fixture, manager);
      fixture.clusters.down.add("b");
    },
    act: (_, { service }) => service.remove(KEY, CALL, {}),
    after: async (fixture, manager) => {
      await fixture.assertConverged(manager);
      await gone(fixture, manager);
    },
  },
  {
    name: "delete in one cluster",
    clusters: ABC,
    before: created(ABC),
    act: (_, { service }) => service.remove(KEY, CALL, { cluster: "b" as ClusterName }),
    after: async (fixture) => runs(fixture, ["a", "c"]),
  },
  {
    name: "create that is undone because one cluster rejects it",
    clusters: ABC,
    options: { rollBackOnPartial: true },
    before: async (fixture) => void fixture.clusters.rejecting.add("c"),
    act: apply(ABC),
    after: async (fixture, { service }) => {
      expect(fixture.clusters.inventory).toEqual([]);
      expect((await service.get(KEY)).value.condition).toBe("down");
    },
  },
  {
    name: "update that is undone because one cluster rejects it",
    clusters: ABC,
    options: { rollBackOnPartial: true },
    before: async (fixture, manager) => {
      await published(created(ABC))(fixture, manager);
      fixture.clusters.rejecting.add("c");
    },
    act: apply(ABC),
    after: async (fixture) => runs(fixture, ABC, 1),
  },
  {
    name: "rolling update with a gate",
    clusters: ABC,
    before: published(created(ABC, ROLLING)),
    act: apply(ABC, ROLLING),
    after: async (fixture) => runs(fixture, ABC),
  },
  {
    name: "rolling update that is undone because a gate stays closed",
    clusters: ABC,
    before: async (fixture, manager) => {
      await published(created(ABC, ROLLING))(fixture, manager);
      fixture.clusters.stuck.add("b");
    },
    act: apply(ABC, ROLLING),
    after: async (fixture) => runs(fixture, ABC, 1),
  },
  {
    name: "roll back to the first revision",
    clusters: ABC,
    before: async (fixture, manager) => {
      await published(created(ABC))(fixture, manager);
      await created(["a", "b"])(fixture, manager);
    },
    act: (_, { service }) => service.rollBack(KEY, 1, CALL, {}),
    after: async (fixture) => runs(fixture, ABC, 1),
  },
  {
    name: "remove a package with its deployments",
    clusters: ABC,
    before: async (fixture, manager) => {
      await created(["a", "b"])(fixture, manager);
      await created(["b", "c"], { key: "more" as DeploymentKey })(fixture, manager);
    },
    act: (_, { service }) => service.removeAll("shop" as PackageName, CALL),
    after: async (fixture, manager) => {
      await gone(fixture, manager);
      await isGone(manager, "more" as DeploymentKey);
      expect(fixture.forgotten).toBeGreaterThan(0);
    },
  },
  {
    name: "automatic re-plan when a cluster is lost",
    clusters: ABC,
    before: created([], REPLANNED),
    act: loseCluster,
    after: async (fixture, manager) => {
      await fixture.assertConverged(manager);
      runs(fixture, ["b"]);
      const page = await manager.service.revisions(KEY, {});
      expect(page.items.map(({ author }) => author)).toEqual(["package-manager/replan", "ann"]);
      expect((await manager.replans.automaticChanges())?.record.changes).toHaveLength(1);
      expect((await manager.replans.replan(KEY))?.record).toMatchObject({ state: "applied", revision: 2 });
    },
  },
];
