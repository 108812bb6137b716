import type { Bench, Measurement, Ratio } from "./harness.ts";
import { scaled } from "./kube/scale.ts";
import { requestText, startLoadTools } from "./pm/server-comparison.ts";
import { startDurableStores } from "./pm/durable-stores.ts";
import { startMeasuredPm } from "./pm/measured-pm.ts";
import { measurePaced } from "./pm/paced-load.ts";
import { shopPackage } from "./pm/seed.ts";

const PACKAGES = 1_000;
const DEPLOYMENTS = scaled(10_000);
const PER_SECOND = 500;
const MAX_P99_MS = 30;
const LOAD = { perSecond: PER_SECOND, rounds: 5, roundMs: scaled(4_000) };

const PAGE = requestText("GET", "/api/v1/packages?limit=100");
const READ = requestText("GET", "/api/v1/packages/shop-07");
const WRITE = requestText("POST", "/api/v1/packages/shop-@@", JSON.stringify(shopPackage("shop-@@", "########")));
/** 80 % pages, 15 % reads, 5 % writes. */
const MIX = [...Array.from({ length: 4 }, () => [PAGE, PAGE, PAGE, PAGE]), [READ, READ, READ, WRITE]].flat();

/** Pages, reads and writes together on the durable stores, at a fixed rate. */
export const bench: Bench = {
  name: "pm-mixed",
  async run(log) {
    await using stores = await startDurableStores(PACKAGES, DEPLOYMENTS);
    log(`${PACKAGES} packages and ${DEPLOYMENTS} deployments are written`);
    await using tools = startLoadTools();
    const measurements: Measurement[] = [];
    const ratios: Ratio[] = [];
    for (const store of ["sqlite", "etcd"] as const) {
      log(`${store}: ${LOAD.rounds} rounds of ${LOAD.roundMs} ms at ${PER_SECOND} requests per second`);
      await using pm = await startMeasuredPm({ env: stores[store] });
      const { p50Ms, p99Ms } = await measurePaced(tools.loader, { ...LOAD, port: pm.port, requests: MIX });
      measurements.push({ name: `p50 on ${store}`, value: p50Ms, unit: "ms" });
      measurements.push({ name: `p99 on ${store}`, value: p99Ms, unit: "ms" });
      ratios.push({
        name: `${MAX_P99_MS} ms / p99 on ${store}`,
        value: MAX_P99_MS / p99Ms,
        floor: 1,
        explains: `${PER_SECOND} requests per second: 80 % pages of 100 packages, 15 % reads, 5 % writes`,
      });
    }
    const title = `The package manager under mixed load: ${PACKAGES} packages, ${DEPLOYMENTS} deployments`;
    return { title, measurements, ratios };
  },
};
