import { setImmediate } from "node:timers/promises";
import { isFault, sleep, type Ambient } from "@oaas/foundation";
import { virtualAmbient, type VirtualTime } from "@oaas/foundation/virtual";
import {
  type ClassDeployment,
  type ClusterName,
  type DeploymentKey,
  type Package,
  type PackageName,
} from "@oaas/models";
import { NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import type { KeyValueStore } from "@oaas/storage";
import { openMemoryStore } from "@oaas/storage/memory";
import { expect } from "vitest";
import { unitEncoder } from "../../src/adapters/crm/wire/unit-to-wire.ts";
import {
  createDeploymentParts,
  type DeploymentParts,
  type DeploymentPartsOptions,
} from "../../src/deployments/deployment-parts.ts";
import { DeploymentService } from "../../src/deployments/deployment-service.ts";
import { placementEntries } from "../../src/records/deployment-record.ts";
import { installationId } from "../../src/stores/installation-id.ts";
import { DriftReconciler, type DriftReconcilerOptions } from "../../src/drift/drift-reconciler.ts";
import { DEFAULT_PLANNER_SETTINGS } from "../../src/planner/plan-types.ts";
import { inputOf } from "../../src/planner/testing/plan-inputs.ts";
import type { ReplanSettings } from "../../src/records/automatic-changes.ts";
import { replanMetrics } from "../../src/replanning/replan-metrics.ts";
import { Replanner, type ReplannerOptions } from "../../src/replanning/replanner.ts";
import { isOpen } from "../../src/saga-engine/saga.ts";
import { ReplanStore } from "../../src/stores/replan-store.ts";
import type { CrmGateway, UnitReport } from "../../src/ports.ts";
import type { Call } from "../../src/use-cases.ts";
import { FakeClusters, withCallWrapper, type CallWrapper } from "./fake-clusters.ts";
import { hookedStore, type CommitHook, type HookedStore } from "./hooked-store.ts";

export const CALL: Call = { caller: "ann", correlationId: "c-1", reason: "because" };
export const KEY = "orders" as DeploymentKey;
const MANAGER_RETRIES = 2;
const RETRY_MS = 100;

/** A deployment of class shop.Order in these clusters. */
export function deploymentFor(clusters: readonly string[], more: Partial<ClassDeployment> = {}): ClassDeployment {
  const { deployment } = inputOf();
  return {
    ...deployment,
    packageName: "shop" as PackageName,
    targetClusters: clusters as readonly ClusterName[],
    allowBestEffort: true,
    ...more,
  };
}

/** A store and its clock. */
export interface FixtureStore {
  readonly ambient: Ambient;
  /** Set with virtual time. */
  readonly time?: VirtualTime;
  /** A client of the same data; closing it simulates a crash. */
  connect(): Promise<KeyValueStore>;
  readonly leaseMs: number;
  /** Turns of the event loop that a commit may take; virtual time does not advance during them. */
  readonly turns: number;
  dispose(): Promise<void>;
}

export async function memoryFixtureStore(seed = 1): Promise<FixtureStore> {
  const ambient = virtualAmbient(seed);
  const store = openMemoryStore({ ambient });
  return {
    ambient,
    time: ambient.time,
    connect: async () => store.connect(),
    leaseMs: 10_000,
    turns: 1,
    dispose: () => store.close(),
  };
}

/** One package manager process. */
export class ManagerUnderTest {
  readonly parts: DeploymentParts;
  readonly service: DeploymentService;
  /** The clusters, through `onCall`. */
  readonly gateway: CrmGateway;
  readonly drift: DriftReconciler;
  readonly replanner: Replanner;
  readonly replans: ReplanStore;
  readonly #store: KeyValueStore;
  onCommit: CommitHook | undefined;
  onCall: CallWrapper = async (_, effect) => effect();
  readonly hooked: HookedStore;

  constructor(
    fixture: DeploymentFixture,
    store: KeyValueStore,
    managedBy: string,
    options: Partial<DeploymentPartsOptions>,
  ) {
    this.#store = store;
    this.hooked = hookedStore(store, () => this.onCommit);
    const gateway = withCallWrapper(fixture.clusters, () => this.onCall);
    this.gateway = gateway;
    const { ambient } = fixture.at;
    this.parts = createDeploymentParts({
      store: this.hooked,
      gateway,
      encoder: unitEncoder,
      ambient,
      logger: NOOP_LOGGER,
      managedBy,
      maxRetries: MANAGER_RETRIES,
      rollBackOnPartial: false,
      forgetPackage: async () => {
        fixture.forgotten += 1;
      },
      packages: fixture,
      clusters: fixture.clusters,
      clusterReferences: { stageReference: async () => ({ writes: [] }) },
      settings: { ...DEFAULT_PLANNER_SETTINGS, maxReadingAgeMs: Number.POSITIVE_INFINITY },
      gateTimeoutMs: 60_000,
      gatePollMs: 10_000,
      onOperationEnded: (key) => {
        this.drift.operationEnded(key);
        this.replanner.notify();
      },
      engine: { leaseMs: fixture.at.leaseMs, policy: { baseMs: 20, capMs: 200, factor: 2, jitter: 0.5 } },
      ...options,
    });
    this.service = new DeploymentService({ ...this.parts, clusters: fixture.clusters, logger: NOOP_LOGGER });
    this.drift = new DriftReconciler({
      ...this.parts,
      gateway,
      clusters: fixture.clusters,
      managedBy,
      ambient,
      logger: NOOP_LOGGER,
      lastReport: (cluster, { unitId }) => this.lastReports.get(`${cluster}/${unitId}`),
      checkHealth: (cluster) => fixture.clusters.reading(cluster),
      ...fixture.driftOptions,
    });
    this.replans = new ReplanStore(this.hooked);
    this.replanner = new Replanner({
      ...this.parts,
      store: this.hooked,
      replans: this.replans,
      clusters: fixture.clusters,
      checkHealth: (cluster) => fixture.clusters.reading(cluster),
      recommended: () => undefined,
      settings: fixture.replanSettings,
      audit: { begin: async () => () => undefined },
      metrics: replanMetrics(NOOP_METER),
      ambient,
      logger: NOOP_LOGGER,
      intervalMs: 60_000,
      ...fixture.replanOptions,
    });
  }

  /** The last reports of watched clusters, by `cluster/unitId`. */
  readonly lastReports = new Map<string, UnitReport>();

  isDead = false;
  readonly #death = Promise.withResolvers<void>();

  /** Resolves when it is killed. */
  get died(): Promise<void> {
    return this.#death.promise;
  }

  /** Crashes: nothing is released, and the lease expires. */
  async kill(): Promise<void> {
    this.isDead = true;
    this.#death.resolve();
    this.onCall = () => new Promise(() => undefined);
    this.onCommit = () => new Promise(() => undefined);
    await this.#store.close();
  }

  async close(): Promise<void> {
    await this.service.close();
    await this.#store.close();
  }
}

/** Clusters, a store and packages that outlive the processes of a test. */
export class DeploymentFixture {
  readonly at: FixtureStore;
  readonly clusters: FakeClusters;
  forgotten = 0;
  /** Options of the drift reconcilers that are created next. */
  driftOptions: Partial<DriftReconcilerOptions> = {};
  replanOptions: Partial<ReplannerOptions> = {};
  /** Options that a test passes to several managers. */
  managerOptions: Partial<DeploymentPartsOptions> = {};
  replanSettings: ReplanSettings = {
    clusterLostMs: 300_000,
    minIntervalMs: 0,
    deploymentBudget: 100,
    platformBudget: 100,
  };
  /** Without objects, so that its deployments may move between clusters. */
  package: Package = inputOf().package;
  packageRevision = 1;
  readonly #managers: ManagerUnderTest[] = [];
  readonly #earlier = new Map<number, Package>();

  constructor(at: FixtureStore, clusters: readonly string[]) {
    this.at = at;
    this.clusters = new FakeClusters(clusters);
  }

  async manager(options: Partial<DeploymentPartsOptions> = {}): Promise<ManagerUnderTest> {
    const store = await this.at.connect();
    const managedBy = await installationId(store, this.at.ambient);
    const manager = new ManagerUnderTest(this, store, managedBy, options);
    this.#managers.push(manager);
    await this.drive(manager.service.start());
    return manager;
  }

  /** Replaces the registry. */
  async nextRevision(): Promise<number> {
    return 2;
  }

  async use(): Promise<{ record: { package: Package; revision: number }; stage: { writes: [] } }> {
    return { record: { package: this.package, revision: this.packageRevision }, stage: { writes: [] } };
  }

  async revision(_name?: string, revision = this.packageRevision): Promise<{ package: Package; revision: number }> {
    return { package: this.#earlier.get(revision) ?? this.package, revision };
  }

  /** Publishes another image, so that every unit changes. */
  publish(): void {
    this.#earlier.set(this.packageRevision, this.package);
    this.packageRevision += 1;
    this.package = {
      ...this.package,
      functions: this.package.functions.map((each) => ({
        ...each,
        provision: { ...each.provision!, containerImage: `registry.local/order:${this.packageRevision}` },
      })),
    };
  }

  /** Retries while the manager has no lease, which happens with real time on a busy machine. */
  async retryUnavailable<T>(manager: ManagerUnderTest, request: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await request();
      } catch (thrown) {
        if (manager.isDead || !isFault(thrown, "unavailable")) throw thrown;
        await sleep(this.at.ambient.timers, RETRY_MS);
      }
    }
  }

  /** Advances virtual time until the work is done. */
  async drive<T>(work: Promise<T>): Promise<T> {
    const { time } = this.at;
    if (time === undefined) return work;
    let isDone = false;
    work.finally(() => (isDone = true)).catch(() => undefined);
    for (let turn = 0; ; turn += 1) {
      await this.#turn();
      if (isDone) return work;
      if (turn > 20_000) throw new Error("the work does not finish");
      await time.step();
    }
  }

  /** Advances virtual time. */
  async advance(ms: number): Promise<void> {
    const { time } = this.at;
    if (time === undefined) throw new Error("requires virtual time");
    const end = time.monotonic() + ms;
    while (time.monotonic() < end) {
      await this.#turn();
      await time.advance(Math.min(500, end - time.monotonic()));
    }
    await this.#turn();
  }

  async #turn(): Promise<void> {
    for (let turn = 0; turn < this.at.turns; turn += 1) await setImmediate();
  }

  /** Waits until no saga of any deployment is open. */
  async untilIdle({ parts }: ManagerUnderTest): Promise<void> {
    const { view, engine } = parts;
    const isQuiet = async (): Promise<boolean> => {
      for (const { id } of view.all()) {
        const saga = await engine.get(`deployment/${id}`);
        if (saga !== undefined && isOpen(saga.record)) return false;
      }
      return true;
    };
    for (let turn = 0; !(await isQuiet()); turn += 1) {
      if (turn > 2_000) throw new Error("sagas do not finish");
      if (this.at.time === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
      else await this.advance(500);
    }
  }

  /**
   * Asserts that the clusters match the desired state: no unit is lost, left over or duplicated.
   *
   * Brings all clusters up first and sweeps often enough to finish pending work.
   */
  async assertConverged(manager: ManagerUnderTest, { mayFindSurplus = false } = {}): Promise<void> {
    this.clusters.down.clear();
    for (let round = 0; round < 3; round += 1) {
      await this.untilIdle(manager);
      const { removed, unaccounted } = await this.drive(manager.drift.sweep());
      expect(unaccounted, "the store records every sent unit").toEqual([]);
      // Sagas remove their units; only units that arrive after a crash of the sender are left to the drift reconciler.
      if (!mayFindSurplus) expect(removed).toEqual([]);
    }
    await this.untilIdle(manager);
    const wanted: string[] = [];
    const rejected = new Set<string>();
    const { deployments, view } = manager.parts;
    for (const { id } of view.all()) {
      const stored = await deployments.get(id as DeploymentKey);
      if (stored === undefined) continue;
      const placements = placementEntries(stored.record);
      const isComplete = placements.every(([, { state, accepted }]) => state !== "wanted" || accepted);
      for (const [cluster, { unitId, digest, accepted, state }] of placements) {
        // A leaving unit stays while a cluster rejects its replacement.
        if (isComplete || state === "withdrawn") expect(state, `${id} in ${cluster}`).toBe("wanted");
        if (accepted) wanted.push(`${cluster}/${unitId}@${digest}`);
        else rejected.add(`${cluster}/${unitId}`);
      }
    }
    const there = this.clusters.inventory.filter((unit) => !rejected.has(unit.split("@", 1)[0] as string));
    expect(there).toEqual(wanted.sort());
  }

  async dispose(): Promise<void> {
    for (const manager of this.#managers) if (!manager.isDead) await this.drive(manager.close());
    await this.at.dispose();
  }
}
