import { availableParallelism } from "node:os";
import path from "node:path";
import type { Bench } from "./harness.ts";
import { scaled } from "./kube/scale.ts";
import {
  compareServers,
  measurementsOf,
  packageManagerServer,
  requestText,
  startLoadTools,
  type ServerResult,
} from "./pm/server-comparison.ts";
import { startDurableStores } from "./pm/durable-stores.ts";
import { startMeasuredPm, type MeasuredPm, type MeasuredPmOptions } from "./pm/measured-pm.ts";
import { shopPackage } from "./pm/seed.ts";

const DEPLOYMENTS = scaled(10_000);
const PACKAGES = 100;
const LOAD = {
  rounds: 9,
  roundMs: scaled(700),
  connections: 32,
  warmUp: { rounds: 2, responses: 6_000, maxRounds: 4 },
};
const MEMORY_MAIN = path.join(import.meta.dirname, "pm", "seeded-main.ts");
const MIB = 1024 * 1024;

const REQUESTS = {
  "GET package": requestText("GET", "/api/v1/packages/shop-07"),
  "page of 100": requestText("GET", "/api/v1/deployments?limit=100"),
  /** Whole documents, which load the server; a page of deployments loads the client just as much. */
  "page of 100 packages": requestText("GET", "/api/v1/packages?limit=100"),
  "POST package": requestText("POST", "/api/v1/packages/shop-@@", JSON.stringify(shopPackage("shop-@@", "########"))),
};

/** The same requests on each store, and on etcd with one and two processes. */
export const bench: Bench = {
  name: "pm-stores",
  async run(log) {
    await using stores = await startDurableStores(PACKAGES, DEPLOYMENTS);
    log(`${PACKAGES} packages and ${DEPLOYMENTS} deployments are written`);

    await using tools = startLoadTools();
    const inMemory = { BENCH_PACKAGES: String(PACKAGES), BENCH_DEPLOYMENTS: String(DEPLOYMENTS) };
    await using started = new AsyncDisposableStack();
    const start = async (options: MeasuredPmOptions): Promise<MeasuredPm> =>
      started.use(await startMeasuredPm(options));
    const [memory, sqlite, single, double] = await Promise.all([
      start({ program: MEMORY_MAIN, env: inMemory }),
      start({ env: stores.sqlite }),
      start({ env: stores.etcd }),
      start({ env: stores.etcd, workers: 2 }),
    ]);
    const managers = { memory, sqlite, etcd: single, "etcd, two workers": double };

    const results = new Map<string, readonly ServerResult[]>();
    for (const [what, request] of Object.entries(REQUESTS)) {
      log(`${what}: ${LOAD.rounds} rounds of ${LOAD.roundMs} ms each`);
      const servers = Object.entries(managers).map(([name, pm]) => packageManagerServer(pm, request, name));
      results.set(what, await compareServers(tools.loader, servers, LOAD));
    }
    const resultOf = (what: string, name: string): ServerResult =>
      results.get(what)?.find((each) => each.name === name) as ServerResult;
    const ratio = (what: string, one: string, other: string): number =>
      resultOf(what, other).share(resultOf(what, one));
    const growth = (what: string): number => ratio(what, "etcd, two workers", "etcd");
    /** The possible gain of two workers with all cores for them and the client. */
    const room = (what: string): number => {
      const { perSecond, cpuMicros, clientMicros } = resultOf(what, "etcd, two workers");
      const most = (availableParallelism() * 1e6) / (cpuMicros + clientMicros);
      return Math.min(2, (growth(what) * most) / perSecond);
    };
    const roomText = (what: string): string =>
      `${availableParallelism()} CPUs for the workers and their client leave room for ${room(what).toFixed(2)}`;
    const heaps = await Promise.all(
      [memory, sqlite, single].map(async (pm) => (await pm.figures({ heap: true })).heapBytes ?? Number.NaN),
    );
    return {
      title: `The package manager on its stores: ${PACKAGES} packages, ${DEPLOYMENTS} deployments`,
      measurements: [
        ...[...results].flatMap(([what, each]) => measurementsOf(what, each)),
        ...["memory", "sqlite", "etcd"].map((name, at) => ({
          name: `live memory on ${name}`,
          value: (heaps[at] ?? Number.NaN) / MIB,
          unit: "MiB",
        })),
      ],
      ratios: [
        {
          name: "page of 100: sqlite / memory",
          value: ratio("page of 100", "sqlite", "memory"),
          floor: 0.8,
          explains: "lists are served from memory with every store",
        },
        {
          name: "page of 100: etcd / memory",
          value: ratio("page of 100", "etcd", "memory"),
          floor: 0.8,
          explains: "lists are served from memory with every store",
        },
        {
          name: "page of 100 packages: two workers / one, on etcd",
          value: growth("page of 100 packages"),
          floor: 1.3,
          explains: `reads grow with processes; ${roomText("page of 100 packages")}`,
        },
        {
          name: "page of 100: two workers / one, on etcd",
          value: growth("page of 100"),
          explains: roomText("page of 100"),
        },
        {
          name: "GET package: two workers / one, on etcd",
          value: growth("GET package"),
          explains: "each read queries etcd, which shares the CPUs",
        },
      ],
    };
  },
};
