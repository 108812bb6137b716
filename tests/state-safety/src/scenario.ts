import { randomInt } from "@oaas/foundation";
import type { Cut } from "@oaas/test-store";
import type { Mutant } from "./mutants.ts";
import type { Loss } from "./obligations.ts";
import { pick, type CallFate, type Stated } from "./sim-package-manager.ts";
import type { SimManager } from "./sim-manager.ts";
import { World } from "./world.ts";

/** The result of a scenario. */
export interface Outcome {
  readonly seed: number;
  readonly losses: readonly Loss[];
  /** Acknowledged objects that are owed at the end. */
  readonly objects: number;
  /** How often faults took the majority of a partition. */
  readonly releases: number;
  readonly restarts: number;
  /** Whether nodes still wait although nothing is broken. */
  readonly stuck: string | undefined;
  readonly trace: readonly string[];
}

const MIN_STEPS = 5;
const MAX_STEPS = 13;
/** Rounds without faults in which everything comes to rest; a round is a check and a pass of each manager. */
const MAX_QUIET_ROUNDS = 80;
const ROUND_MS = 5_000;
/** Shards that fail to appear are restored by up to five restarts with growing distance. */
const CALM_ROUNDS = 2;

/** Runs the scenario of one seed: changes, restarts and faults, then rest. */
export async function runScenario(seed: number, mutant: Mutant = {}): Promise<Outcome> {
  const draw = new World(seed, { clusters: 1, catchUpMs: 0, electionMs: 0, missesShards: false }).random;
  const world = new World(
    seed,
    {
      clusters: pick(draw, [1, 1, 2, 3, 3]),
      catchUpMs: pick(draw, [0, 2_000, 8_000, 8_000]),
      electionMs: pick(draw, [0, 0, 1_000]),
      missesShards: draw.next() < 0.2,
    },
    mutant,
  );
  const scenario = new Scenario(world);
  const losses = await scenario.run();
  const lines = world.lines;
  return {
    seed,
    losses,
    objects: world.obligations.count,
    releases: world.obligations.releases,
    restarts: lines.filter((line) => line.includes("is deleted")).length,
    stuck: scenario.stuck,
    trace: lines,
  };
}

class Scenario {
  readonly #world: World;
  readonly #cuts: Cut[] = [];
  #value = 0;
  #writing = new Set<string>();
  stuck: string | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  async run(): Promise<readonly Loss[]> {
    const { packageManager, random, obligations } = this.#world;
    packageManager.apply(packageManager.stated);
    await this.#rest();
    await this.#write(6);
    const steps = MIN_STEPS + randomInt(random, MAX_STEPS - MIN_STEPS);
    for (let step = 0; step < steps; step += 1) {
      await this.#step();
      const losses = obligations.losses({ all: false });
      if (losses.length > 0) return losses;
    }
    this.#heal();
    await this.#rest();
    return obligations.losses({ all: true });
  }

  /** One event, then some time with the ordinary work of all managers. */
  async #step(): Promise<void> {
    const { random } = this.#world;
    const draw = random.next();
    if (draw < 0.16) this.#changeDeployment();
    else if (draw < 0.34) this.#changeEnvironment();
    else if (draw < 0.38) this.#editObject();
    else if (draw < 0.44)
      this.#world.packageManager.replan(this.#world.managers.map(() => pick(random, [0.9, 0.99, 0.999])));
    else if (draw < 0.56) this.#failNode();
    else if (draw < 0.63) this.#split();
    else if (draw < 0.66) this.#slowDown();
    else if (draw < 0.71) this.#heal();
    else if (draw < 0.8) this.#failManager();
    else if (draw < 0.86) this.#answerBadly();
    await this.#write(2);
    await this.#work(1 + randomInt(random, 4), true);
    await this.#write(1);
  }

  /** Each manager checks, reconciles and grants, in any order, with time between. */
  async #work(rounds: number, isFaulty: boolean): Promise<void> {
    const { random, managers, packageManager } = this.#world;
    for (let round = 0; round < rounds; round += 1) {
      for (const cluster of packageManager.outdated()) packageManager.deliver(cluster, this.#fate(isFaulty));
      for (const manager of managers) await this.#pass(manager, isFaulty);
      const dieAt =
        isFaulty && random.next() < 0.1 ? pick(random, ["before-call", "before-answer"] as const) : undefined;
      packageManager.stepTurn(this.#fate(isFaulty), dieAt);
      await this.#world.advance(isFaulty ? randomInt(random, ROUND_MS) : ROUND_MS);
    }
  }

  async #pass(manager: SimManager, isFaulty: boolean): Promise<void> {
    const { random } = this.#world;
    if (isFaulty && random.next() < 0.2) return;
    // A pass may come before the next check, and a check with slow nodes is in flight during passes.
    const isUnchecked = isFaulty && random.next() < 0.3;
    if (!isUnchecked) void manager.check();
    await this.#world.advance(isFaulty ? randomInt(random, 800) : 700);
    const dieAt =
      isFaulty && random.next() < 0.05
        ? pick(random, ["before-record", "before-deletion", "before-status"] as const)
        : undefined;
    manager.reconcile(dieAt);
  }

  #fate(isFaulty: boolean): CallFate {
    const { random } = this.#world;
    if (!isFaulty || random.next() < 0.7) return "arrives";
    return pick(random, ["request-lost", "answer-lost", "arrives-twice", "arrives-late"] as const);
  }

  #changeDeployment(): void {
    const { random, packageManager, managers } = this.#world;
    const names = managers.map(({ cluster }) => cluster.name);
    const changes: readonly (() => Partial<Stated>)[] = [
      () => ({ availability: pick(random, [0.9, 0.99, 0.999, 0.9999]) }),
      () => ({ targets: pick(random, [[], names, names.slice(0, 1), names.slice(1)]) }),
      () => ({ copies: pick(random, [1, 3, 5]) }),
      () => ({ type: pick(random, ["raft", "mst", "basic", "none"] as const) }),
      () => ({ partitions: pick(random, [1, 2, 3]) }),
      () => ({ collections: pick(random, [1, 2]) }),
      () => ({ image: randomInt(random, 5) }),
      () => ({ methods: 1 + randomInt(random, 3) }),
      () => ({ log: pick(random, ["INFO", "DEBUG"]) }),
    ];
    packageManager.apply({ ...packageManager.stated, ...pick(random, changes)() });
  }

  /** An operator changes the image of the store, its log level or the routers, in one cluster or in all. */
  #changeEnvironment(): void {
    const { random, managers } = this.#world;
    const changed = pick(random, [
      { image: 1 + randomInt(random, 9) },
      { image: 1 + randomInt(random, 9) },
      { image: 1 + randomInt(random, 9) },
      { log: pick(random, ["INFO", "DEBUG"]) },
      { routers: randomInt(random, 2) },
    ]);
    const affected = random.next() < 0.7 ? managers : [pick(random, managers)];
    this.#world.trace(
      `environment of ${affected.map(({ cluster }) => cluster.name).join(", ")}: ${JSON.stringify(changed)}`,
    );
    for (const manager of affected) manager.environment = { ...manager.environment, ...changed };
  }

  /** Someone edits the object of the class with kubectl. */
  #editObject(): void {
    const { random, managers } = this.#world;
    const manager = pick(random, managers);
    const spec = manager.edited ?? manager.unit?.spec;
    if (spec === undefined) return;
    const edit = pick(random, [
      { partition_count: 1 + randomInt(random, 3) },
      { replica_count: pick(random, [1, 3, 5]) },
      { shard_type: pick(random, ["raft", "mst", "basic"] as const) },
      { collections: ["other"] },
      { env_node_ids: {} },
    ]);
    this.#world.trace(`kubectl edit in ${manager.cluster.name}: ${JSON.stringify(edit)}`);
    manager.edited = { ...spec, odgm_config: { ...spec.odgm_config, ...edit } };
  }

  #failNode(): void {
    const { random, managers } = this.#world;
    const { cluster } = pick(random, managers);
    const pods = [...cluster.pods.values()].filter(({ node }) => node !== undefined);
    if (pods.length === 0) return;
    const first = randomInt(random, pods.length);
    const count = random.next() < 0.85 ? 1 : Math.ceil(pods.length / 2);
    for (const pod of pods.slice(first, first + count)) {
      if (random.next() < 0.6) cluster.crash(pod);
      else cluster.evict(pod);
    }
  }

  /** Messages between nodes take time, and some are lost. */
  #slowDown(): void {
    const { random, network } = this.#world;
    network.latencyMs = pick(random, [20, 200]);
    network.lossRate = pick(random, [0, 0.2]);
    this.#world.trace(`network: ${network.latencyMs} ms, ${network.lossRate * 100} % are lost`);
  }

  #split(): void {
    const { random, network, managers } = this.#world;
    if (random.next() < 0.5 && managers.length > 1) {
      const { cluster } = pick(random, managers);
      this.#world.trace(`network: ${cluster.name} is cut off`);
      this.#cuts.push(network.loseCluster(cluster.name));
    } else if (network.nodes.length > 0) {
      const count = random.next() < 0.7 ? 1 : Math.ceil(network.nodes.length / 2);
      const nodes = network.nodes.slice(randomInt(random, network.nodes.length)).slice(0, count);
      this.#world.trace(`network: ${nodes.map(({ name }) => name).join(", ")} cut off`);
      this.#cuts.push(network.split(nodes));
    }
  }

  #failManager(): void {
    const manager = pick(this.#world.random, this.#world.managers);
    if (this.#world.random.next() < 0.5) return manager.crash();
    this.#world.trace(`${manager.cluster.name}: the package manager does not reach it`);
    manager.isCutOff = true;
  }

  #answerBadly(): void {
    const { random, managers } = this.#world;
    const pods = [...pick(random, managers).cluster.pods.values()];
    if (pods.length > 0) pick(random, pods).answering = pick(random, ["slowly", "wrongly", "well"] as const);
  }

  #heal(): void {
    this.#world.trace("everything is reachable again");
    for (const cut of this.#cuts.splice(0)) cut.heal();
    Object.assign(this.#world.network, { latencyMs: 0, lossRate: 0 });
    for (const manager of this.#world.managers) {
      manager.isDown = false;
      manager.isCutOff = false;
      for (const pod of manager.cluster.pods.values()) pod.answering = "well";
    }
  }

  /** Lets everything come to rest without faults. */
  async #rest(): Promise<void> {
    let calm = 0;
    let before = "";
    for (let round = 0; round < MAX_QUIET_ROUNDS && calm < CALM_ROUNDS; round += 1) {
      await this.#work(1, false);
      const now = this.#world.managers.map((manager) => manager.summary).join("\n");
      const isQuiet =
        now === before && this.#world.packageManager.turn === undefined && !now.includes("restart Restarting");
      calm = isQuiet ? calm + 1 : 0;
      before = now;
    }
    // After faults took a majority, members of the former group stay apart until an operator restarts them.
    const isOwed = this.#world.obligations.releases === 0;
    this.stuck = calm < CALM_ROUNDS && isOwed ? before : undefined;
  }

  /** Writes objects through any node; a write whose acknowledgement comes later counts then. */
  async #write(count: number): Promise<void> {
    const { random, network, obligations } = this.#world;
    for (let turn = 0; turn < count; turn += 1) {
      const nodes = network.nodes.filter(({ shards }) => shards.length > 0);
      if (nodes.length === 0) return;
      const node = pick(random, nodes);
      const { collection, partition } = pick(random, node.shards);
      const id = `o${randomInt(random, 4)}`;
      const key = `${collection.name}/${partition}/${id}`;
      if (this.#writing.has(key)) continue;
      this.#writing.add(key);
      const value = (this.#value += 1);
      const data = new TextEncoder().encode(String(value));
      const write = node.set({ collection: collection.name, partition, id }, new Map([["n", { data, type: 0 }]]));
      void write
        .then(
          () => obligations.acknowledge(collection.name, partition, id, value),
          () => undefined,
        )
        .finally(() => this.#writing.delete(key));
      await settled();
    }
  }
}

/** Promise callbacks that need no time have run. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}
