import type { ClassRuntimeSpec } from "@oaas/contracts/crd";
import { Fault, randomInt } from "@oaas/foundation";
import {
  ClusterStatus,
  ConsistencyModel,
  type ClassDeployment,
  type ClusterName,
  type OdgmSpec,
  type ShardType,
  type UnitId,
} from "@oaas/models";
import { unitToClassRuntime } from "../../../apps/class-runtime-manager/src/mapping/unit/unit-to-class-runtime.ts";
import { stateStoreFromWire } from "../../../apps/package-manager/src/adapters/crm/wire/state-store-from-wire.ts";
import { unitEncoder } from "../../../apps/package-manager/src/adapters/crm/wire/unit-to-wire.ts";
import { planDeployment } from "../../../apps/package-manager/src/planner/plan.ts";
import type { DeploymentPlan, PlanInput } from "../../../apps/package-manager/src/planner/plan-types.ts";
import {
  bindingOf,
  clusterOf,
  functionOf,
  inputOf,
  stateOf,
} from "../../../apps/package-manager/src/planner/testing/plan-inputs.ts";
import type { RestartTurnRecord } from "../../../apps/package-manager/src/records/restart-turn.ts";
import { decideTurn, waitingNodes, type StoreMember } from "../../../apps/package-manager/src/restarts/decide-turn.ts";
import { NAMESPACE } from "./sim-cluster.ts";
import type { World } from "./world.ts";

/** What a user states. */
export interface Stated {
  readonly availability: number;
  readonly targets: readonly string[];
  readonly copies?: number;
  readonly type?: ShardType;
  readonly partitions: number;
  readonly collections: number;
  readonly image: number;
  readonly methods: number;
  readonly log: string;
}

/** How a call from the package manager to a cluster ends. */
export type CallFate = "arrives" | "request-lost" | "answer-lost" | "arrives-twice" | "arrives-late";

const plans = new Map<string, DeploymentPlan | undefined>();
const specs = new Map<string, ClassRuntimeSpec>();
const MAX_KNOWN = 50_000;

/** The package manager: the planner, what it sends, and turns. All members but `isDown` are in its store. */
export class SimPackageManager {
  readonly #world: World;
  stated: Stated;
  readings: readonly number[];
  plan: DeploymentPlan | undefined;
  turn: RestartTurnRecord | undefined;
  #revision = 0;
  #turns = 0;
  #removed = new Set<string>();

  constructor(world: World) {
    this.#world = world;
    const { random, managers } = world;
    const names = managers.map(({ cluster }) => cluster.name);
    this.readings = names.map(() => 0.99);
    this.stated = {
      availability: pick(random, [0.9, 0.99, 0.99, 0.999]),
      targets: pick(random, [[], names, names]),
      ...(random.next() < 0.7 ? { copies: pick(random, [1, 3, 3, 3, 3, 5]) } : {}),
      ...(random.next() < 0.2 ? { type: pick(random, ["raft", "mst", "mst", "basic"] as const) } : {}),
      partitions: pick(random, [1, 1, 2]),
      collections: 1,
      image: 1,
      methods: 1,
      log: "INFO",
    };
  }

  /** Plans the deployment; the plan in force stays when it is refused. */
  apply(stated: Stated): void {
    const plan = this.#planOf(stated);
    this.#world.trace(`plan ${JSON.stringify(stated)}: ${plan === undefined ? "refused" : describe(plan)}`);
    if (plan === undefined) return;
    this.stated = stated;
    this.#putInForce(plan);
  }

  /** Plans again at other readings, as the re-planner does. */
  replan(readings: readonly number[]): void {
    this.readings = readings;
    const plan = this.#planOf(this.stated);
    this.#world.trace(`plan again at ${readings.join(", ")}: ${plan === undefined ? "refused" : describe(plan)}`);
    if (plan !== undefined && plan.digest !== this.plan?.digest) this.#putInForce(plan);
  }

  #putInForce(plan: DeploymentPlan): void {
    const before = this.plan?.units.map(({ cluster }) => cluster) ?? [];
    for (const cluster of before) if (plan.units.every((unit) => unit.cluster !== cluster)) this.#removed.add(cluster);
    this.plan = plan;
    this.#revision += 1;
  }

  #planOf(stated: Stated): DeploymentPlan | undefined {
    const { mutant } = this.#world;
    const key = JSON.stringify([stated, this.readings, this.plan?.digest, mutant.plan !== undefined]);
    if (plans.has(key)) return plans.get(key);
    const input = this.#inputOf(stated);
    const result = planDeployment(mutant.plan?.(input) ?? input);
    const plan = result.ok ? result.value : undefined;
    if (plans.size > MAX_KNOWN) plans.clear();
    plans.set(key, plan);
    return plan;
  }

  #inputOf(stated: Stated): PlanInput {
    const { copies, type, partitions, collections, image, methods, log } = stated;
    const names = Array.from({ length: methods }, (_, index) => `Order.m${index}`);
    const odgm: OdgmSpec = {
      collections: Array.from({ length: collections }, (_, index) => `shop.Order${index}`),
      nodeIds: {},
      partitionCount: partitions,
      log,
      ...(copies === undefined ? {} : { replicaCount: copies }),
      ...(type === undefined ? {} : { shardType: type }),
    };
    const deployment: Partial<ClassDeployment> = {
      nfr: { availability: stated.availability },
      targetClusters: stated.targets as readonly ClusterName[],
      allowBestEffort: true,
      odgm,
    };
    return inputOf({
      functions: names.map((name) =>
        functionOf(name, {
          provision: { containerImage: `registry.local/order:${image}`, maxConcurrency: 0, needHttp2: false },
        }),
      ),
      definition: {
        bindings: names.map((name) => bindingOf(name.slice(6), name)),
        stateSpec: stateOf({ consistencyModel: ConsistencyModel.strong }),
      },
      clusters: this.#world.managers.map(({ cluster }, index) => {
        const candidate = clusterOf(cluster.name, this.readings[index] ?? 0.99);
        const reading = { cluster: candidate.name, status: ClusterStatus.healthy, dataPlaneNetwork: "mesh" };
        return { ...candidate, reading: { ...reading, availability: this.readings[index] ?? 0.99 } };
      }),
      deployment,
      ...(this.plan === undefined ? {} : { previous: this.plan }),
    });
  }

  /** Clusters that do not have what the plan in force says. */
  outdated(): readonly string[] {
    return this.#world.managers
      .filter(
        ({ cluster, unit }) =>
          this.#removed.has(cluster.name) ||
          (this.#specFor(cluster.name) !== undefined && unit?.revision !== this.#revision),
      )
      .map(({ cluster }) => cluster.name);
  }

  #specFor(cluster: string): ClassRuntimeSpec | undefined {
    const { plan } = this;
    const unit = plan?.units.find((one) => one.cluster === cluster);
    if (plan === undefined || unit === undefined) return undefined;
    const key = `${plan.digest} ${cluster}`;
    const known = specs.get(key);
    if (known !== undefined) return known;
    const object = unitToClassRuntime(unitEncoder.encode(plan, unit), { namespace: NAMESPACE });
    if (!object.ok) throw new TypeError(`the unit is invalid: ${JSON.stringify(object.error)}`);
    if (specs.size > MAX_KNOWN) specs.clear();
    specs.set(key, object.value.desired.spec);
    return object.value.desired.spec;
  }

  /** Sends a unit, or removes it. */
  deliver(cluster: string, fate: CallFate): void {
    const manager = this.#world.manager(cluster);
    const spec = this.#specFor(cluster);
    if (manager === undefined || fate === "request-lost") return;
    if (spec === undefined) {
      if (manager.isDown || manager.isCutOff) return;
      manager.remove();
      this.#removed.delete(cluster);
      return;
    }
    this.#removed.delete(cluster);
    const sent = { revision: this.#revision, spec };
    this.#send(fate, () => manager.deploy(sent));
  }

  #send<T>(fate: CallFate, call: () => T): T | undefined {
    try {
      if (fate === "request-lost") return undefined;
      if (fate === "arrives-late") {
        this.#world.after(randomInt(this.#world.random, 90_000), () => quietly(call));
        return undefined;
      }
      const answer = call();
      if (fate === "arrives-twice") this.#world.after(randomInt(this.#world.random, 60_000), () => quietly(call));
      return fate === "answer-lost" ? undefined : answer;
    } catch (thrown) {
      Fault.from(thrown);
      return undefined;
    }
  }

  /** One step of the loop that grants turns; it dies before the call, or before it stores the answer. */
  stepTurn(fate: CallFate, dieAt?: "before-call" | "before-answer"): void {
    const members = this.#members();
    const decided = decideTurn(this.turn, { members, ...this.#copies() }, this.#world.now);
    const decision = this.#world.mutant.turn?.(decided, waitingNodes(members)) ?? decided;
    const { action } = decision;
    if (decision.action === "begin") {
      const { cluster, nodeId } = decision.node;
      const since = new Date(this.#world.now).toISOString();
      this.turn = { id: `t${(this.#turns += 1)}`, owner: "o", cluster, unitId: "u" as UnitId, nodeId, since };
      this.#world.trace(`turn ${this.turn.id} begins: node ${nodeId} in ${cluster}`);
      if (dieAt !== "before-call") this.#grant(this.turn, fate, dieAt);
    }
    if (action === "grant" && this.turn !== undefined && dieAt !== "before-call") this.#grant(this.turn, fate, dieAt);
    if (action === "end" && this.turn !== undefined) {
      this.#world.trace(`turn ${this.turn.id} ends`);
      this.turn = undefined;
    }
  }

  #grant(turn: RestartTurnRecord, fate: CallFate, dieAt?: string): void {
    const manager = this.#world.manager(turn.cluster);
    if (manager === undefined) return;
    const accepted = this.#send(fate, () => manager.grant(turn.nodeId, turn.id));
    if (accepted === undefined || dieAt === "before-answer") return;
    this.turn = { ...turn, answer: { accepted, atMs: this.#world.now } };
  }

  #copies() {
    const copies = this.plan?.odgm?.replicaCount;
    return copies === undefined ? {} : { copies };
  }

  #members(): readonly StoreMember[] {
    return this.#world.managers.flatMap((manager): StoreMember[] => {
      const cluster = manager.cluster.name as ClusterName;
      if ((this.plan?.odgm?.nodeIds[cluster]?.length ?? 0) === 0) return [];
      return [{ cluster, unitId: "u" as UnitId, report: reportOf(() => manager.report()) }];
    });
  }
}

function reportOf(read: () => Parameters<typeof stateStoreFromWire>[0] | undefined): StoreMember["report"] {
  try {
    const status = read();
    return status === undefined ? { unknown: "it reports no state store" } : stateStoreFromWire(status);
  } catch (thrown) {
    return { unknown: Fault.from(thrown).message };
  }
}

function quietly(call: () => unknown): void {
  try {
    call();
  } catch (thrown) {
    Fault.from(thrown);
  }
}

function describe({ odgm, units }: DeploymentPlan): string {
  const nodes = Object.entries(odgm?.nodeIds ?? {}).map(([cluster, ids]) => `${cluster} ${ids.join("+")}`);
  const kind = `${odgm?.shardType} × ${odgm?.replicaCount}, ${odgm?.partitionCount} partitions of ${odgm?.collections.length}`;
  return `${units.map(({ cluster }) => cluster).join(", ")}: ${kind} on ${nodes.join(", ")}`;
}

export function pick<T>(random: { next(): number }, values: readonly T[]): T {
  return values[Math.floor(random.next() * values.length)] as T;
}
