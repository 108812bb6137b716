import path from "node:path";
import { echoPackage } from "../apps/package-manager/test/running-pm.ts";
import type { Bench, Ratio } from "./harness.ts";
import { scaled } from "./kube/scale.ts";
import {
  contest,
  measurementsOf,
  oursOf,
  requestText,
  startArena,
  withConstants,
  type Contender,
  type Standing,
} from "./pm/contest.ts";
import { startMeasuredPm } from "./pm/measured-pm.ts";
import { shopPackage } from "./pm/seed.ts";

const DEPLOYMENTS = scaled(10_000);
const PACKAGES = 100;
const LOAD = { rounds: 7, roundMs: scaled(1_000), connections: 32 };
const MAIN = path.join(import.meta.dirname, "pm", "seeded-main.ts");
const MIB = 1024 * 1024;
/** The earlier implementation: lists of 250 deployments per second, a page of 20 of them being as dear. */
const EARLIER_LISTS = 8;

/** Each connection writes its own packages, another content every time. */
const SMALL = JSON.stringify(echoPackage("shop-@@", { metadata: { description: "change ########" } }));
const LARGE = JSON.stringify(shopPackage("shop-@@", "change ########"));

/** Put beside servers that answer the same bytes. */
const CONTESTED = {
  "GET package": requestText("GET", "/api/v1/packages/shop-07"),
  "GET deployment": requestText("GET", "/api/v1/deployments/order-00007"),
  "POST package": requestText("POST", "/api/v1/packages/shop-@@", SMALL),
  "POST package of five functions": requestText("POST", "/api/v1/packages/shop-@@", LARGE),
  "page of 100": requestText("GET", "/api/v1/deployments?limit=100"),
};

/** Put beside each other. */
const ALONE = {
  "page of 20": requestText("GET", "/api/v1/deployments?limit=20"),
  "page of 250": requestText("GET", "/api/v1/deployments?limit=250"),
};

/** Reads and writes over HTTP in memory, against servers of one process that answer the same bytes without a thought. */
export const bench: Bench = {
  name: "pm-http",
  async run(log) {
    await using arena = startArena();
    await using pm = await startMeasuredPm({
      program: MAIN,
      env: { BENCH_PACKAGES: String(PACKAGES), BENCH_DEPLOYMENTS: String(DEPLOYMENTS) },
    });
    const { heapBytes = Number.NaN, rssBytes } = await pm.figures({ heap: true });
    const standings = new Map<string, readonly Standing[]>();
    const compete = async (what: string, contenders: readonly Contender[]): Promise<void> => {
      log(`${what}: ${LOAD.rounds} rounds of ${LOAD.roundMs} ms each`);
      standings.set(what, await contest(arena.loader, contenders, LOAD));
    };
    for (const [what, request] of Object.entries(CONTESTED))
      await compete(what, await withConstants(pm, request, arena.constants));
    for (const [what, request] of Object.entries(ALONE)) await compete(what, [oursOf(pm, request)]);
    const of = (what: string, name: string): Standing =>
      standings.get(what)?.find((each) => each.name === name) as Standing;
    const against = (what: string, name: string, floor: number, explains: string): Ratio => ({
      name: `${what} / ${name}`,
      value: of(what, name).share(),
      floor,
      explains,
    });
    const byProcessor = (what: string, name: string): Ratio => ({
      name: `${what} / ${name}, by processor time`,
      value: of(what, name).processorShare(),
      explains: "for reading on a machine that does other things meanwhile",
    });
    const pageOf = (size: number): number => of(`page of ${size}`, "ours").perSecond;
    return {
      title: `The package manager over HTTP: ${PACKAGES} packages, ${DEPLOYMENTS} deployments, in memory`,
      measurements: [
        ...[...standings].flatMap(([what, each]) => measurementsOf(what, each)),
        {
          name: "live memory with all of them",
          value: heapBytes / MIB,
          unit: "MiB",
          note: "history of the store included",
        },
        { name: "resident memory", value: rssBytes / MIB, unit: "MiB" },
      ],
      ratios: [
        against("GET package", "node:http", 0.8, "a bare server of one process that answers the same bytes"),
        against("GET package", "fastify", 0.5, "the same framework answering a constant"),
        against("GET deployment", "node:http", 0.8, "a bare server of one process that answers the same bytes"),
        against(
          "POST package",
          "node:http",
          0.4,
          "one class, one function; a bare server that reads as much and answers the same bytes",
        ),
        against("page of 100", "fastify", 0.5, "the same framework answering a constant of the same size"),
        byProcessor("GET package", "node:http"),
        byProcessor("GET deployment", "node:http"),
        byProcessor("POST package", "node:http"),
        byProcessor("page of 100", "fastify"),
        {
          name: "page of 20 / page of 250",
          value: pageOf(20) / pageOf(250),
          floor: 2,
          explains: "a page costs a page",
        },
        {
          name: "lists of 250 / ten times the earlier implementation's",
          value: pageOf(250) / (10 * EARLIER_LISTS),
          floor: 1,
          explains: `it listed ${EARLIER_LISTS} times per second on such a machine, out of 250; ours out of ${DEPLOYMENTS}`,
        },
      ],
    };
  },
};
