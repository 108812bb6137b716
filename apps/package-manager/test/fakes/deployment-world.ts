import { setImmediate } from "node:timers/promises";
import { isFault, sleep, type Ambient } from "@oaas/foundation";
import { virtualAmbient, type VirtualTime } from "@oaas/foundation/virtual";
import {
  ConsistencyModel,
  type ClassDeployment,
  type ClusterName,
  type DeploymentKey,
  type Package,
  type PackageName,
} from "@oaas/models";
import { NOOP_LOGGER } from "@oaas/observability";
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
import { inputOf, stateOf } from "../../src/planner/testing/plan-inputs.ts";
import { isOpen } from "../../src/saga-engine/saga.ts";
import type { UnitReport } from "../../src/ports.ts";
import type { Call } from "../../src/use-cases.ts";
import { FakeClusters, seenThrough, type CallWrapper } from "./fake-clusters.ts";
import { hookedStore, type CommitHook, type HookedStore } from "./mortal-store.ts";

export const CALL: Call = { caller: "ann", correlationId: "c-1", reason: "because" };
export const KEY = "orders" as DeploymentKey;
const MANAGER_RETRIES = 2;
const AGAIN_MS = 100;

/** A wish for class shop.Order in these clusters. */
export function wishFor(clusters: readonly string[], more: Partial<ClassDeployment> = {}): ClassDeployment {
  const { deployment } = inputOf();
  return {
    ...deployment,
    packageName: "shop" as PackageName,
    targetClusters: clusters as readonly ClusterName[],
    allowBestEffort: true,
    ...more,
  };
}

/** Where a store comes from, and how time passes on it. */
export interface WorldStore {
  readonly ambient: Ambient;
  /** Present on virtual time. */
  readonly time?: VirtualTime;
  /** A client of the same data; closing it is its death. */
  connect(): Promise<KeyValueStore>;
  readonly leaseMs: number;
  /** Turns of the event loop that a commit may take; virtual time stands still for them. */
  readonly turns: number;
  dispose(): Promise<void>;
}

export async function memoryWorldStore(seed = 1): Promise<WorldStore> {
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

/** One package manager process of a world. */
export class ManagerUnderTest {
  readonly parts: DeploymentParts;
  readonly service: DeploymentService;
  readonly keeper: DriftReconciler;
  readonly #store: KeyValueStore;
  onCommit: CommitHook | undefined;
  onCall: CallWrapper = async (_, effect) => effect();
  readonly hooked: HookedStore;

  constructor(
    world: DeploymentWorld,
    store: KeyValueStore,
    managedBy: string,
    options: Partial<DeploymentPartsOptions>,
  ) {
    this.#store = store;
    this.hooked = hookedStore(store, () => this.onCommit);
    const gateway = seenThrough(world.clusters, () => this.onCall);
    const { ambient } = world.at;
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
        world.forgotten += 1;
      },
      packages: world,
      clusters: world.clusters,
      clusterReferences: { stageReference: async () => ({ writes: [] }) },
      settings: { ...DEFAULT_PLANNER_SETTINGS, maxReadingAgeMs: Number.POSITIVE_INFINITY },
      gateTimeoutMs: 60_000,
      gatePollMs: 10_000,
      onOperationEnded: (key) => this.keeper.operationEnded(key),
      engine: { leaseMs: world.at.leaseMs, policy: { baseMs: 20, capMs: 200, factor: 2, jitter: 0.5 } },
      ...options,
    });
    this.service = new DeploymentService({ ...this.parts, clusters: world.clusters, logger: NOOP_LOGGER });
    this.keeper = new DriftReconciler({
      ...this.parts,
      gateway,
      clusters: world.clusters,
      managedBy,
      ambient,
      logger: NOOP_LOGGER,
      lastReport: (cluster, unitId) => this.heard.get(`${cluster}/${unitId}`),
      checkHealth: (cluster) => world.clusters.reading(cluster),
      ...world.keeperOptions,
    });
  }

  /** What followed clusters told, as `cluster/unitId`. */
  readonly heard = new Map<string, UnitReport>();

  isDead = false;
  readonly #death = Promise.withResolvers<void>();

  /** Resolves when it was killed. */
  get died(): Promise<void> {
    return this.#death.promise;
  }

  /** Dies at once: nothing is said to anybody, and its lease runs out. */
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
export class DeploymentWorld {
  readonly at: WorldStore;
  readonly clusters: FakeClusters;
  forgotten = 0;
  /** For the keepers of managers that are made from now on. */
  keeperOptions: Partial<DriftReconcilerOptions> = {};
  package: Package = inputOf({ definition: { stateSpec: stateOf({ consistencyModel: ConsistencyModel.none }) } })
    .package;
  packageRevision = 1;
  readonly #managers: ManagerUnderTest[] = [];

  constructor(at: WorldStore, clusters: readonly string[]) {
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

  /** The registry's part, without a registry. */
  async use(): Promise<{ record: { package: Package; revision: number }; stage: { writes: [] } }> {
    return { record: { package: this.package, revision: this.packageRevision }, stage: { writes: [] } };
  }

  async revision(): Promise<{ package: Package; revision: number }> {
    return { package: this.package, revision: this.packageRevision };
  }

  /** Another image, so that every unit changes. */
  publish(): void {
    this.packageRevision += 1;
    this.package = {
      ...this.package,
      functions: this.package.functions.map((each) => ({
        ...each,
        provision: { ...each.provision!, containerImage: `registry.local/order:${this.packageRevision}` },
      })),
    };
  }

  /** Asks until there is an answer: a manager that has lost its lease, as happens on a real clock and a busy machine, is asked again. */
  async answered<T>(manager: ManagerUnderTest, ask: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await ask();
      } catch (thrown) {
        if (manager.isDead || !isFault(thrown, "unavailable")) throw thrown;
        await sleep(this.at.ambient.timers, AGAIN_MS);
      }
    }
  }

  /** Lets time pass, as far as needed, until the work is done. */
  async drive<T>(work: Promise<T>): Promise<T> {
    const { time } = this.at;
    if (time === undefined) return work;
    let isDone = false;
    work.finally(() => (isDone = true)).catch(() => undefined);
    for (let turn = 0; ; turn += 1) {
      await this.#turn();
      if (isDone) return work;
      if (turn > 20_000) throw new Error("it does not come to an end");
      await time.step();
    }
  }

  /** Lets this much time pass. */
  async pass(ms: number): Promise<void> {
    const { time } = this.at;
    if (time === undefined) throw new Error("only on virtual time");
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

  /** Until no saga of any deployment is open. */
  async quiet({ parts }: ManagerUnderTest): Promise<void> {
    const { view, engine } = parts;
    const isQuiet = async (): Promise<boolean> => {
      for (const { id } of view.all()) {
        const saga = await engine.get(`deployment/${id}`);
        if (saga !== undefined && isOpen(saga.record)) return false;
      }
      return true;
    };
    for (let turn = 0; !(await isQuiet()); turn += 1) {
      if (turn > 2_000) throw new Error("sagas do not come to an end");
      if (this.at.time === undefined) await new Promise((resolve) => setTimeout(resolve, 20));
      else await this.pass(500);
    }
  }

  /**
   * Everything is as it is wanted: no unit is lost, none is left over, none is there twice.
   *
   * Clusters are up by then, and the keeper has looked often enough to finish what was put off.
   */
  async assertConverged(manager: ManagerUnderTest, { mayFindSurplus = false } = {}): Promise<void> {
    this.clusters.down.clear();
    for (let look = 0; look < 3; look += 1) {
      await this.quiet(manager);
      const { removed, unaccounted } = await this.drive(manager.keeper.sweep());
      expect(unaccounted, "a store knows of whatever was sent by its processes").toEqual([]);
      // Sagas clean up after themselves; only what reached a cluster after its sender was gone is left to the keeper.
      if (!mayFindSurplus) expect(removed).toEqual([]);
    }
    await this.quiet(manager);
    const wanted: string[] = [];
    const refused = new Set<string>();
    const { deployments, view } = manager.parts;
    for (const { id } of view.all()) {
      const stored = await deployments.get(id as DeploymentKey);
      if (stored === undefined) continue;
      const placements = placementEntries(stored.record);
      const isComplete = placements.every(([, { state, accepted }]) => state !== "wanted" || accepted);
      for (const [cluster, { unitId, digest, accepted, state }] of placements) {
        // What is to be replaced stays for as long as a cluster refuses its replacement.
        if (isComplete || state === "withdrawn") expect(state, `${id} in ${cluster}`).toBe("wanted");
        if (accepted) wanted.push(`${cluster}/${unitId}@${digest}`);
        else refused.add(`${cluster}/${unitId}`);
      }
    }
    const there = this.clusters.inventory.filter((unit) => !refused.has(unit.split("@", 1)[0] as string));
    expect(there).toEqual(wanted.sort());
  }

  async dispose(): Promise<void> {
    for (const manager of this.#managers) if (!manager.isDead) await this.drive(manager.close());
    await this.at.dispose();
  }
}
