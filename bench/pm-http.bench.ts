import path from "node:path";
import { echoPackage } from "../apps/package-manager/test/running-pm.ts";
import type { Bench, Ratio } from "./harness.ts";
import { scaled } from "./kube/scale.ts";
import {
  compareServers,
  measurementsOf,
  packageManagerServer,
  requestText,
  startLoadTools,
  withConstants,
  type ComparedServer,
  type ServerResult,
} from "./pm/server-comparison.ts";
import { startMeasuredPm, type MeasuredPmOptions } from "./pm/measured-pm.ts";
import type { ProcessFigures } from "./pm/probe.ts";
import { measurePaced } from "./pm/paced-load.ts";
import { shopPackage } from "./pm/seed.ts";

const DEPLOYMENTS = scaled(10_000);
const PACKAGES = 1_000;
const LOAD = { rounds: 7, roundMs: scaled(1_000), connections: 32 };
const PACED = { perSecond: 200, rounds: 5, roundMs: scaled(3_000) };
const SEEDED: MeasuredPmOptions = {
  program: path.join(import.meta.dirname, "pm", "seeded-main.ts"),
  env: { BENCH_PACKAGES: String(PACKAGES), BENCH_DEPLOYMENTS: String(DEPLOYMENTS) },
};
const MIB = 1024 * 1024;
const PACKAGE_PAGES_PER_SECOND = 3_000;
const PACKAGE_PAGE_P99_MS = 20;

/** Each connection writes its own packages, with new content every time. */
const SMALL = JSON.stringify(echoPackage("shop-@@", { metadata: { description: "change ########" } }));
const LARGE = JSON.stringify(shopPackage("shop-@@", "change ########"));
const PACKAGE_PAGE = requestText("GET", "/api/v1/packages?limit=100");

/** Compared with bare servers that return the same bytes. */
const COMPARED = {
  "GET package": requestText("GET", "/api/v1/packages/shop-07"),
  "GET deployment": requestText("GET", "/api/v1/deployments/order-00007"),
  "POST package": requestText("POST", "/api/v1/packages/shop-@@", SMALL),
  "POST package of five functions": requestText("POST", "/api/v1/packages/shop-@@", LARGE),
  "page of 100 packages": PACKAGE_PAGE,
  "page of 100": requestText("GET", "/api/v1/deployments?limit=100"),
};

const ALONE = {
  "page of 20": requestText("GET", "/api/v1/deployments?limit=20"),
  "page of 250": requestText("GET", "/api/v1/deployments?limit=250"),
};

/** Reads, writes and pages over HTTP on the memory store, beside bare servers that return the same bytes. */
export const bench: Bench = {
  name: "pm-http",
  async run(log) {
    const { heapBytes = Number.NaN, rssBytes } = await measureMemory();
    await using tools = startLoadTools();
    await using pm = await startMeasuredPm(SEEDED);
    log(`page of 100 packages: ${PACED.rounds} rounds at ${PACED.perSecond} requests per second`);
    const paced = await measurePaced(tools.loader, { ...PACED, port: pm.port, requests: [PACKAGE_PAGE] });
    const results = new Map<string, readonly ServerResult[]>();
    const compare = async (what: string, servers: readonly ComparedServer[]): Promise<void> => {
      log(`${what}: ${LOAD.rounds} rounds of ${LOAD.roundMs} ms each`);
      results.set(what, await compareServers(tools.loader, servers, LOAD));
    };
    for (const [what, request] of Object.entries(COMPARED))
      await compare(what, await withConstants(pm, request, tools.constants));
    for (const [what, request] of Object.entries(ALONE)) await compare(what, [packageManagerServer(pm, request)]);
    const of = (what: string, name: string): ServerResult =>
      results.get(what)?.find((each) => each.name === name) as ServerResult;
    const against = (what: string, floor: number): Ratio => ({
      name: `${what} / fastify`,
      value: of(what, "fastify").share(),
      floor,
      explains: "a bare Fastify handler that returns the same bytes",
    });
    const byCpu = (what: string): Ratio => ({
      name: `${what} / fastify, by CPU time`,
      value: of(what, "fastify").cpuShare(),
      explains: "less affected by other processes of the machine",
    });
    const perSecond = (what: string): number => of(what, "package manager").perSecond;
    return {
      title: `The package manager over HTTP: ${PACKAGES} packages, ${DEPLOYMENTS} deployments, in memory`,
      measurements: [
        ...[...results].flatMap(([what, each]) => measurementsOf(what, each)),
        { name: `page of 100 packages, p50 at ${PACED.perSecond} req/s`, value: paced.p50Ms, unit: "ms" },
        { name: `page of 100 packages, p99 at ${PACED.perSecond} req/s`, value: paced.p99Ms, unit: "ms" },
        { name: "live heap", value: heapBytes / MIB, unit: "MiB", note: "with the history of the store" },
        { name: "resident memory", value: rssBytes / MIB, unit: "MiB" },
      ],
      ratios: [
        against("GET package", 0.4),
        against("GET deployment", 0.4),
        // A write also stores an audit entry before the change, writes two chained audit lines, and validates the document.
        against("POST package", 0.03),
        against("page of 100", 0.5),
        ...["GET package", "GET deployment", "POST package", "page of 100"].map(byCpu),
        {
          name: `page of 100 packages / ${PACKAGE_PAGES_PER_SECOND} per second`,
          value: perSecond("page of 100 packages") / PACKAGE_PAGES_PER_SECOND,
          floor: 1,
          explains: `out of ${PACKAGES}, each of one class and five functions`,
        },
        {
          name: `${PACKAGE_PAGE_P99_MS} ms / p99 of a page of 100 packages`,
          value: PACKAGE_PAGE_P99_MS / paced.p99Ms,
          floor: 1,
          explains: `at ${PACED.perSecond} requests per second`,
        },
      ],
    };
  },
};

/** In its own process: V8 allocates differently after a forced garbage collection, which would slow down every request. */
async function measureMemory(): Promise<ProcessFigures> {
  await using pm = await startMeasuredPm(SEEDED);
  return await pm.figures({ heap: true });
}
