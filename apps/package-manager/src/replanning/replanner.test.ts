import { isFault } from "@oaas/foundation";
import {
  ConsistencyModel,
  ReplanMode,
  type ClassDeployment,
  type ClusterName,
  type FreezeWindowName,
} from "@oaas/models";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  CALL,
  DeploymentFixture,
  KEY,
  deploymentFor,
  memoryFixtureStore,
  type ManagerUnderTest,
} from "../../test/fakes/deployment-fixture.ts";
import { inputOf, stateOf } from "../planner/testing/plan-inputs.ts";
import { ReplanStatusReader } from "../status/replan-status.ts";
import { applyProposal } from "./apply-proposal.ts";

const MINUTE_MS = 60_000;
const STATELESS = inputOf().package;

let fixture: DeploymentFixture;
let manager: ManagerUnderTest;

async function start(names: readonly string[] = ["a", "b", "c"]): Promise<void> {
  fixture = new DeploymentFixture(await memoryFixtureStore(), names);
  fixture.package = STATELESS;
}

beforeEach(() => start());
afterEach(async () => {
  await fixture.drive(Promise.all([manager.replanner.close(), manager.drift.close()]));
  await fixture.dispose();
});

async function deploy(more: Partial<ClassDeployment> = {}, clusters: readonly string[] = []): Promise<void> {
  manager = await fixture.manager(fixture.managerOptions);
  manager.drift.start();
  manager.replanner.start();
  const deployment = deploymentFor(clusters, { allowBestEffort: false, ...more });
  await fixture.drive(manager.service.apply({ deployment }, CALL, {}));
  await fixture.advance(1_000);
}

const lose = async (cluster: string, minutes: number): Promise<void> => {
  fixture.clusters.down.add(cluster);
  manager.replanner.notify();
  await fixture.advance(minutes * MINUTE_MS);
};
const clusters = () => [...fixture.clusters.units].flatMap(([name, units]) => (units.size > 0 ? [name] : []));
const replan = async () => (await manager.replans.replan(KEY))?.record;
const revision = async () => (await manager.service.record(KEY))?.revision;
const apply = async (digest: string) =>
  fixture.drive(applyProposal({ ...manager.parts, replans: manager.replans }, KEY, digest, CALL, {}));
const status = async () => {
  const reader = new ReplanStatusReader(manager.replans, fixture.replanSettings, () => fixture.at.ambient.clock.now());
  const record = (await manager.service.record(KEY))!;
  return reader.read(KEY, record, new Set(Object.keys(record.placements) as ClusterName[]));
};

describe("a lost cluster", () => {
  test("gives a proposal that moves the unit, and no change without a user", async () => {
    await deploy();
    expect(clusters()).toEqual(["a"]);
    await lose("a", 4);
    expect(await status()).toMatchObject({ state: "waiting", lostClusters: ["a"], retryAt: expect.any(String) });
    expect(await replan()).toBeUndefined();
    await fixture.advance(2 * MINUTE_MS);
    expect(await replan()).toMatchObject({ state: "proposed", reason: "cluster_lost", lostClusters: ["a"] });
    expect(clusters()).toEqual(["a"]);
    expect(await revision()).toBe(1);
    const { planDigest = "" } = (await status())!;
    expect(await apply(planDigest)).toMatchObject({ status: "updated" });
    expect(clusters()).toEqual(["a", "b"]);
    expect(await status()).toMatchObject({ state: "applied", revision: 2 });
    expect((await manager.service.revision(KEY, 2)).author).toBe("ann");
  });

  test("is left by itself with auto, once, and its unit is removed when it returns", async () => {
    await deploy({ replan: ReplanMode.auto });
    await lose("a", 6);
    expect(clusters()).toEqual(["a", "b"]);
    expect(await manager.service.revision(KEY, 2)).toMatchObject({
      author: "package-manager/replan",
      reason: expect.stringMatching(/^lost a: /),
    });
    expect(await status()).toMatchObject({ state: "applied", revision: 2, budget: { deploymentUsed: 1 } });
    fixture.clusters.down.delete("a");
    manager.drift.clusterReturned("a" as ClusterName);
    manager.replanner.notify();
    await fixture.advance(30 * MINUTE_MS);
    expect(clusters()).toEqual(["b"]);
    expect(await revision()).toBe(2);
  });

  test("is left after the time that the deployment sets", async () => {
    await deploy({ replan: ReplanMode.auto, replanClusterLostSeconds: 5 });
    fixture.clusters.down.add("a");
    manager.replanner.notify();
    await fixture.advance(7_000);
    expect(clusters()).toEqual(["a", "b"]);
  });

  test("counts from the beginning of the outage after a restart", async () => {
    await deploy({ replan: ReplanMode.auto });
    await lose("a", 4);
    await manager.kill();
    manager = await fixture.manager();
    manager.drift.start();
    manager.replanner.start();
    await fixture.advance(1.5 * MINUTE_MS);
    expect(clusters()).toEqual(["a", "b"]);
  });

  test("that returns in time changes and leaves nothing", async () => {
    await deploy({ replan: ReplanMode.auto });
    await lose("a", 4);
    fixture.clusters.down.delete("a");
    manager.replanner.notify();
    await fixture.advance(20 * MINUTE_MS);
    expect(await revision()).toBe(1);
    expect(await replan()).toBeUndefined();
    expect(await manager.replans.outages()).toEqual(new Map());
  });

  test("that a deployment names is not left, with the remedy", async () => {
    await deploy({ replan: ReplanMode.auto }, ["a"]);
    await lose("a", 6);
    expect(await replan()).toMatchObject({ state: "blocked", message: expect.stringContaining("target_clusters") });
    expect(clusters()).toEqual(["a"]);
  });

  test("is ignored with off", async () => {
    await deploy({ replan: ReplanMode.off });
    await lose("a", 20);
    expect(await replan()).toBeUndefined();
    expect(await status()).toBeUndefined();
  });

  test("without another cluster blocks, and is left when one appears", async () => {
    await deploy({ replan: ReplanMode.auto });
    fixture.clusters.down.add("b").add("c");
    await lose("a", 6);
    expect(await replan()).toMatchObject({ state: "blocked", code: "no_plan" });
    fixture.clusters.down.delete("c");
    manager.replanner.notify();
    await fixture.advance(MINUTE_MS);
    expect(clusters()).toEqual(["a", "c"]);
  });
});

describe("without a lost cluster", () => {
  const FUNCTION = "Order.place";
  const measured = { [FUNCTION]: { replicas: 1, isOutdated: false } };
  const recommend = async (replicas: number): Promise<void> => {
    measured[FUNCTION] = { replicas, isOutdated: false };
    manager.replanner.notify();
    await fixture.advance(MINUTE_MS);
  };
  const start = async (mode?: ReplanMode): Promise<void> => {
    measured[FUNCTION] = { replicas: 1, isOutdated: false };
    const recommended = (): typeof measured => ({ ...measured });
    fixture.replanOptions = { recommended };
    fixture.managerOptions = { recommended };
    await deploy({ nfr: { minThroughputRps: 100 }, ...(mode === undefined ? {} : { replan: mode }) });
  };

  test("proposes the scale that a cluster recommends", async () => {
    await start();
    await recommend(6);
    expect(await replan()).toMatchObject({
      state: "proposed",
      reason: "scale",
      message: expect.stringContaining("min_scale changed from 1 to 6"),
    });
    const { planDigest = "" } = (await status())!;
    await apply(planDigest);
    expect(await revision()).toBe(2);
  });

  test("applies it with auto, and waits for the end of a freeze window", async () => {
    await start(ReplanMode.auto);
    const nowMs = fixture.at.ambient.clock.now();
    const [begin, end] = [0, 10].map((minutes) => new Date(nowMs + minutes * MINUTE_MS).toISOString());
    const window = { clusters: [], start: begin!, end: end! };
    await fixture.drive(manager.parts.freezes.set("w" as FreezeWindowName, window, CALL));
    await recommend(6);
    expect(await status()).toMatchObject({ state: "blocked", reason: "scale", retryAt: end });
    expect(await revision()).toBe(1);
    await fixture.advance(11 * MINUTE_MS);
    expect(await revision()).toBe(2);
  });

  test("adds clusters when the availability of its cluster falls below the target, and ignores small changes", async () => {
    await deploy({ replan: ReplanMode.auto });
    const change = async (availability: number): Promise<void> => {
      fixture.clusters.availabilities.set("a", availability);
      manager.replanner.notify();
      await fixture.advance(MINUTE_MS);
    };
    await change(0.9948);
    expect(clusters()).toEqual(["a"]);
    await change(0.97);
    expect(clusters()).toEqual(["a", "b", "c"]);
    expect(await replan()).toMatchObject({ state: "applied", reason: "placement" });
  });
});

test("writes nothing while nothing changes", async () => {
  await deploy();
  await lose("a", 6);
  const before = manager.hooked.commits;
  await fixture.advance(30 * MINUTE_MS);
  expect(manager.hooked.commits).toBe(before);
});

test("blocks at the budget, and continues when it allows it", async () => {
  fixture.replanSettings = { ...fixture.replanSettings, deploymentBudget: 1 };
  await deploy({ replan: ReplanMode.auto });
  await lose("a", 6);
  await lose("b", 6);
  expect(await status()).toMatchObject({ state: "blocked", budget: { deploymentUsed: 1, deploymentLimit: 1 } });
  expect(clusters()).toEqual(["a", "b"]);
  await fixture.advance(60 * MINUTE_MS);
  expect(clusters()).toEqual(["a", "b", "c"]);
});

describe("a class with state", () => {
  beforeEach(() => {
    fixture.package = inputOf({
      definition: { stateSpec: stateOf({ consistencyModel: ConsistencyModel.none }) },
    }).package;
  });

  test("stays where its objects are, and says what moves it", async () => {
    await deploy({ replan: ReplanMode.auto });
    await lose("a", 6);
    expect(await replan()).toMatchObject({
      state: "blocked",
      code: "state",
      message: expect.stringMatching(/oaas state copy.*odgm\.allow_layout_change.*replan_allow_state_loss/),
    });
    expect(clusters()).toEqual(["a"]);
  });

  test("moves when the deployment allows it", async () => {
    await deploy({ replan: ReplanMode.auto, replanAllowStateLoss: true });
    await lose("a", 6);
    expect(clusters()).toEqual(["a", "b"]);
  });
});

describe("a proposal is rejected", () => {
  const isOutdated = (thrown: unknown): boolean => isFault(thrown, "conflict");

  test("when the clusters changed", async () => {
    await deploy();
    await lose("a", 6);
    const { planDigest = "" } = (await status())!;
    fixture.clusters.down.add("b");
    await expect(apply(planDigest)).rejects.toSatisfy(isOutdated);
    fixture.clusters.down.clear();
    await expect(apply(planDigest)).rejects.toSatisfy(isOutdated);
  });

  test("when its digest is another one, and when there is none", async () => {
    await deploy();
    await expect(apply("x")).rejects.toSatisfy((thrown) => isFault(thrown, "failed-precondition"));
    await lose("a", 6);
    await expect(apply("x")).rejects.toSatisfy(isOutdated);
  });

  test("when a newer revision is in force", async () => {
    await deploy();
    await lose("a", 6);
    const { planDigest = "" } = (await status())!;
    const deployment = deploymentFor(["c"], { allowBestEffort: false });
    await fixture.drive(manager.service.apply({ deployment }, CALL, {}));
    await expect(apply(planDigest)).rejects.toSatisfy((thrown) => isFault(thrown, "failed-precondition"));
  });
});

test("two managers apply a plan once", async () => {
  await deploy({ replan: ReplanMode.auto });
  const second = await fixture.manager();
  second.replanner.start();
  await lose("a", 10);
  expect(clusters()).toEqual(["a", "b"]);
  expect(await revision()).toBe(2);
  await fixture.drive(second.replanner.close());
});
