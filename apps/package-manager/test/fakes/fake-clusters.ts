import { isDeepStrictEqual } from "node:util";
import type { DeploymentUnit } from "@oaas/contracts/grpc";
import { failedPrecondition, Fault, notFound, unavailable } from "@oaas/foundation";
import {
  ClusterStatus,
  LifecyclePhase,
  type ClusterHealth,
  type ClusterName,
  type RuntimeConditions,
  type RuntimePods,
  type UnitId,
} from "@oaas/models";
import type {
  CallOptions,
  ClusterDirectory,
  ClusterEntry,
  Cordon,
  CrmGateway,
  HealthReading,
  LogLine,
  RemoveOptions,
  RenderedUnit,
  RestartGrant,
  RuntimeChange,
  UnitCallOptions,
  UnitReport,
} from "../../src/ports.ts";
import { FakeStateStores } from "./fake-state-stores.ts";

/** One call that changes a cluster. */
export interface ClusterCall {
  readonly op: "deploy" | "remove" | "grant";
  readonly cluster: ClusterName;
  readonly unitId: UnitId;
  readonly revision: number;
}

/** Wraps each changing call: may throw before or after it, repeat or delay it. */
export type CallWrapper = (call: ClusterCall, effect: () => void, options: CallOptions) => Promise<void>;

const noStateStore = async (): Promise<never> => {
  throw unavailable("the state store", "fake clusters have no state stores");
};

/**
 * Clusters with class runtime managers that behave like ours: idempotent by unit id, and an older revision never replaces a
 * newer one. They outlive every package manager of a test.
 */
export class FakeClusters implements CrmGateway, ClusterDirectory {
  readonly units = new Map<ClusterName, Map<UnitId, DeploymentUnit>>();
  readonly calls: ClusterCall[] = [];
  /** Clusters that do not answer. */
  readonly down = new Set<string>();
  /** Clusters that permanently reject every unit. */
  readonly rejecting = new Set<string>();
  /** Clusters whose manager does not render units for plans. */
  readonly oldPeers = new Set<string>();
  /** Clusters whose units never become available. */
  readonly stuck = new Set<string>();
  /** Clusters whose units fail: down, or degraded while an earlier revision serves. */
  readonly failing = new Map<ClusterName, "degraded" | "down">();
  readonly removed = new Set<string>();
  readonly cordons = new Map<string, Cordon>();
  /** Whether the clusters share a data plane network, or each is a network of its own. */
  networks: "shared" | "apart" = "shared";
  /** Availabilities in health readings; 0.995 by default. */
  readonly availabilities = new Map<string, number>();
  /** The number of writes of each unit, by `cluster/unitId`. */
  readonly generations = new Map<string, number>();

  /** The namespace of each unit, by `cluster/unitId`. */
  readonly namespaces = new Map<string, string>();
  /** The state stores of the units. */
  readonly stores = new FakeStateStores();
  /** Units of other owners, which a list returns too. */
  readonly foreign = new Map<ClusterName, readonly UnitReport[]>();

  constructor(names: readonly string[]) {
    for (const name of names) this.units.set(name as ClusterName, new Map());
  }

  /** Units in all clusters, as `cluster/unitId@digest`, sorted. */
  get inventory(): readonly string[] {
    return [...this.units]
      .flatMap(([cluster, units]) => [...units.values()].map((unit) => `${cluster}/${unit.id}@${unit.digest}`))
      .sort();
  }

  async deploy(cluster: ClusterName, unit: DeploymentUnit, { namespace }: UnitCallOptions = {}): Promise<void> {
    const units = this.#reachableUnits(cluster);
    const revision = Number(unit.revision ?? 0n);
    this.calls.push({ op: "deploy", cluster, unitId: unit.id as UnitId, revision });
    if (this.rejecting.has(cluster)) throw failedPrecondition(cluster, `${cluster} has no such template`);
    const existing = units.get(unit.id as UnitId);
    this.#assertNotNewer(existing, revision);
    const name = `${cluster}/${unit.id}`;
    const present = existing === undefined ? undefined : this.namespaces.get(name);
    if (namespace !== undefined && present !== undefined && namespace !== present) {
      throw new TypeError(`${name} is in ${present} and would be sent to ${namespace} too`);
    }
    this.namespaces.set(name, namespace ?? present ?? "default");
    const { createdAt: _, ...sent } = unit;
    if (
      existing !== undefined &&
      isDeepStrictEqual({ ...existing, createdAt: undefined }, { ...sent, createdAt: undefined })
    )
      return;
    this.#write(cluster, unit);
  }

  /** One Deployment per unit; its image is that of the first function. */
  async render(cluster: ClusterName, unit: DeploymentUnit): Promise<RenderedUnit> {
    const existing = this.#reachableUnits(cluster).get(unit.id as UnitId);
    if (this.oldPeers.has(cluster)) throw new Fault({ kind: "unimplemented", feature: "RenderUnit" }, "unknown method");
    if (this.rejecting.has(cluster)) throw failedPrecondition(cluster, `${cluster} has no such template`);
    const imageOf = (of: DeploymentUnit | undefined) => of?.functions[0]?.provisionConfig?.containerImage ?? "";
    const change = existing === undefined ? "create" : existing.digest === unit.digest ? "unchanged" : "update";
    const fields = change === "update" ? [{ path: ".image", was: imageOf(existing), now: imageOf(unit) }] : [];
    const object = { name: unit.id, change, moreFields: 0 } as const;
    return {
      namespace: "default",
      template: "dev",
      objects: [
        { ...object, kind: "ClassRuntime", fields: [] },
        { ...object, kind: "Deployment", fields },
      ],
      moreObjects: 0,
      warnings: [],
    };
  }

  /** Edits the object of a unit in its cluster, like kubectl: its digest and revision do not change. */
  edit(cluster: ClusterName, unitId: UnitId, change: Partial<DeploymentUnit>): void {
    const unit = this.units.get(cluster)?.get(unitId);
    if (unit === undefined) throw new TypeError(`unit ${unitId} does not exist in ${cluster}`);
    this.#write(cluster, { ...unit, ...change });
  }

  #write(cluster: ClusterName, unit: DeploymentUnit): void {
    const name = `${cluster}/${unit.id}`;
    this.generations.set(name, (this.generations.get(name) ?? 0) + 1);
    this.units.get(cluster)?.set(unit.id as UnitId, unit);
  }

  async remove(cluster: ClusterName, unitId: UnitId, { revision = 0, namespace }: RemoveOptions = {}): Promise<void> {
    const units = this.#reachableUnits(cluster);
    this.calls.push({ op: "remove", cluster, unitId, revision });
    if (!this.#isIn(cluster, unitId, namespace)) return;
    if (revision > 0) this.#assertNotNewer(units.get(unitId), revision);
    units.delete(unitId);
  }

  #isIn(cluster: ClusterName, unitId: UnitId, namespace: string | undefined): boolean {
    return namespace === undefined || this.namespaces.get(`${cluster}/${unitId}`) === namespace;
  }

  async unit(
    cluster: ClusterName,
    unitId: UnitId,
    { namespace }: UnitCallOptions = {},
  ): Promise<UnitReport | undefined> {
    const unit = this.#reachableUnits(cluster).get(unitId);
    return unit && this.#isIn(cluster, unitId, namespace) ? this.#report(cluster, unit) : undefined;
  }

  async *runtimes(cluster: ClusterName): AsyncGenerator<UnitReport> {
    for (const unit of this.#reachableUnits(cluster).values()) yield this.#report(cluster, unit);
    yield* this.foreign.get(cluster) ?? [];
  }

  // oxlint-disable-next-line require-yield -- the watch always fails
  async *watch(): AsyncGenerator<RuntimeChange> {
    throw unavailable("watch", "fake clusters have no watch");
  }

  usage = async (): Promise<readonly never[]> => [];
  enforcement = async (): Promise<undefined> => undefined;
  explain = async (): Promise<undefined> => undefined;
  signals = async (): Promise<never> => {
    throw unavailable("signals", "fake clusters measure nothing");
  };
  object = async (): Promise<never> => {
    throw unavailable("objects", "fake clusters have no objects");
  };
  pods = async (): Promise<RuntimePods> => ({ pods: [], morePods: 0 });
  conditions = async (): Promise<RuntimeConditions> => ({ conditions: [], events: [] });
  // oxlint-disable-next-line require-yield -- it always fails
  async *logs(): AsyncGenerator<readonly LogLine[]> {
    throw unavailable("logs", "fake clusters have no pods");
  }
  invoke = async (): Promise<never> => {
    throw unavailable("functions", "fake clusters have no pods");
  };
  async grantRestart(cluster: ClusterName, unitId: UnitId, grant: RestartGrant): Promise<boolean> {
    if (!this.#reachableUnits(cluster).has(unitId)) throw notFound("class runtime", unitId);
    this.calls.push({ op: "grant", cluster, unitId, revision: 0 });
    return this.stores.grant(cluster, unitId, grant);
  }

  stateObjects = noStateStore;
  stateObject = noStateStore;
  setStateObject = noStateStore;
  deleteStateObject = noStateStore;
  topology = async (): Promise<never> => {
    throw unavailable("topology", "fake clusters have no topology");
  };

  async health(cluster: ClusterName): Promise<ClusterHealth> {
    this.#reachableUnits(cluster);
    return { cluster, status: ClusterStatus.healthy, availability: 0.995, acceptsNamespace: true };
  }

  list(): readonly ClusterEntry[] {
    return [...this.units.keys()].flatMap((name) => this.get(name) ?? []);
  }

  get(name: ClusterName): ClusterEntry | undefined {
    if (!this.units.has(name) || this.removed.has(name)) return undefined;
    const cordon = this.cordons.get(name);
    return {
      name,
      url: `http://${name}`,
      labels: {},
      retryAttempts: 0,
      tls: false,
      origin: "configuration",
      ...(cordon === undefined ? {} : { cordon }),
    };
  }

  async reading(cluster: ClusterName): Promise<HealthReading> {
    const health: ClusterHealth = {
      cluster,
      status: ClusterStatus.healthy,
      availability: this.availabilities.get(cluster) ?? 0.995,
      acceptsNamespace: true,
      defaultNamespace: "default",
      ...(this.networks === "shared" ? { dataPlaneNetwork: "main" } : {}),
    };
    if (!this.down.has(cluster)) return { cluster, health, takenAtMs: 0, breaker: "closed" };
    return {
      cluster,
      health: { ...health, status: ClusterStatus.unhealthy },
      takenAtMs: 0,
      error: "no answer",
      breaker: "open",
    };
  }

  async readings(): Promise<readonly HealthReading[]> {
    return Promise.all(this.list().map(({ name }) => this.reading(name)));
  }

  #reachableUnits(cluster: ClusterName): Map<UnitId, DeploymentUnit> {
    const units = this.units.get(cluster);
    if (units === undefined) throw notFound("cluster", cluster);
    if (this.down.has(cluster)) throw unavailable(cluster, `${cluster} does not answer`);
    return units;
  }

  #assertNotNewer(existing: DeploymentUnit | undefined, revision: number): void {
    const stored = Number(existing?.revision ?? 0n);
    if (stored > revision) throw failedPrecondition("revision", `revision ${revision} is older than ${stored}`);
  }

  #report(cluster: ClusterName, unit: DeploymentUnit): UnitReport {
    const unitId = unit.id as UnitId;
    const condition = this.failing.get(cluster) ?? (this.stuck.has(cluster) ? "deploying" : "running");
    const namespace = this.namespaces.get(`${cluster}/${unitId}`) ?? "default";
    const stateStore = this.stores.status(cluster);
    return {
      unitId,
      namespace,
      condition,
      phase: PHASES[condition],
      ...(unit.digest === undefined ? {} : { digest: unit.digest }),
      ...(unit.revision === undefined ? {} : { revision: Number(unit.revision) }),
      generation: this.generations.get(`${cluster}/${unitId}`) ?? 1,
      ...(unit.managedBy === undefined ? {} : { managedBy: unit.managedBy }),
      ...(unit.deploymentKey === undefined ? {} : { deploymentKey: unit.deploymentKey }),
      runtime: {
        id: unitId,
        unitId,
        packageName: unit.packageName,
        classKey: unit.classKey,
        targetEnvironment: namespace,
        cluster,
        resourceRefs: [],
        createdAt: "",
        updatedAt: "",
        partitionCount: 1,
        status: {
          condition,
          phase: "unknown",
          serving: condition === "running" || condition === "degraded",
          upToDate: condition === "running",
          lastUpdated: "",
          ...(stateStore === undefined ? {} : { stateStore }),
        },
      },
    };
  }
}

const PHASES = {
  running: LifecyclePhase.available,
  deploying: LifecyclePhase.progressing,
  degraded: LifecyclePhase.degraded,
  down: LifecyclePhase.degraded,
} as const;

/** The same clusters with a wrapper around each changing call, for one process. */
export function withCallWrapper(clusters: FakeClusters, wrap: () => CallWrapper): CrmGateway {
  const through = async (call: ClusterCall, options: CallOptions, effect: () => Promise<void>): Promise<void> => {
    let failure: unknown;
    let finished: Promise<void> = Promise.resolve();
    await wrap()(
      call,
      () => {
        finished = effect().catch((thrown: unknown) => void (failure = thrown));
      },
      options,
    );
    await finished;
    if (failure !== undefined) throw failure as Error;
  };
  return Object.assign(Object.create(clusters) as CrmGateway, {
    deploy: (cluster: ClusterName, unit: DeploymentUnit, options: CallOptions = {}) =>
      through(
        { op: "deploy", cluster, unitId: unit.id as UnitId, revision: Number(unit.revision ?? 0n) },
        options,
        () => clusters.deploy(cluster, unit, options),
      ),
    remove: (cluster: ClusterName, unitId: UnitId, options: RemoveOptions = {}) =>
      through({ op: "remove", cluster, unitId, revision: options.revision ?? 0 }, options, () =>
        clusters.remove(cluster, unitId, options),
      ),
    grantRestart: async (cluster: ClusterName, unitId: UnitId, grant: RestartGrant) => {
      let accepted = false;
      await through({ op: "grant", cluster, unitId, revision: 0 }, {}, async () => {
        accepted = await clusters.grantRestart(cluster, unitId, grant);
      });
      return accepted;
    },
    render: (cluster: ClusterName, unit: DeploymentUnit) => clusters.render(cluster, unit),
    unit: (cluster: ClusterName, unitId: UnitId) => clusters.unit(cluster, unitId),
    runtimes: (cluster: ClusterName) => clusters.runtimes(cluster),
  });
}
