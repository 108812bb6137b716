import { realAmbient } from "@oaas/foundation/real";
import type { DeploymentKey } from "@oaas/models";
import { openEtcdStore } from "@oaas/storage/etcd";
import { describeWith, startEtcd, sweepSize, type EtcdUnderTest } from "@oaas/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inputOf, STRONG_STATE } from "../src/planner/testing/plan-inputs.ts";
import { CALL, deploymentFor, DeploymentFixture, type ManagerUnderTest } from "./fakes/deployment-fixture.ts";

const ROUNDS = sweepSize(5, 100);

describeWith(["etcd"], "two package managers on etcd", () => {
  let etcd: EtcdUnderTest;
  let fixture: DeploymentFixture;
  let managers: readonly ManagerUnderTest[];
  beforeAll(async () => {
    etcd = await startEtcd();
    const options = { ambient: realAmbient, endpoints: etcd.endpoints, keyPrefix: "/oaas/claims/" };
    fixture = new DeploymentFixture(
      {
        ambient: realAmbient,
        connect: async () => openEtcdStore(options),
        leaseMs: 10_000,
        turns: 1,
        dispose: async () => undefined,
      },
      ["a", "b"],
    );
    fixture.package = inputOf({ definition: { stateSpec: STRONG_STATE } }).package;
    managers = [await fixture.manager(), await fixture.manager()];
  });
  afterAll(async () => {
    await fixture?.dispose();
    await etcd?.close();
  });

  const create = async (manager: ManagerUnderTest, key: string, collections: readonly string[] = []) => {
    const odgm = collections.length === 0 ? {} : { odgm: { collections, nodeIds: {} } };
    const deployment = deploymentFor(["a"], { key: key as DeploymentKey, ...odgm });
    await fixture.retryUnavailable(manager, () => manager.service.apply({ deployment }, CALL, {}));
    return (await manager.parts.deployments.get(key as DeploymentKey))?.record.collections ?? [];
  };

  test("give each of two deployments that are created at once a collection of its own", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const keys = [`one-${round}`, `two-${round}`];
      const created = await Promise.all(keys.map((key, index) => create(managers[index] as ManagerUnderTest, key)));
      expect(new Set(created.flat()).size, `round ${round}: ${created.join(" ")}`).toBe(2);
    }
  });

  test("accept one of two deployments that state the same collection, and refuse the other with the fix", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const keys = [`first-${round}`, `other-${round}`];
      const results = await Promise.allSettled(
        keys.map((key, index) => create(managers[index] as ManagerUnderTest, key, [`shared-${round}`])),
      );
      const rejected = results.filter((result) => result.status === "rejected");
      expect(rejected).toHaveLength(1);
      expect(rejected[0]?.reason).toMatchObject({
        kind: "invalid-argument",
        message: expect.stringContaining("odgm.collections"),
      });
    }
  });
});
