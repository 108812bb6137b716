import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { openEtcdStore } from "@oaas/storage/etcd";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { startEtcd } from "@oaas/testkit";
import type { Bench, Measurement, Ratio } from "./harness.ts";
import { scaled } from "./kube/scale.ts";
import { requestText, startArena } from "./pm/contest.ts";
import { startMeasuredPm } from "./pm/measured-pm.ts";
import { measurePaced } from "./pm/paced-load.ts";
import { seed, shopPackage } from "./pm/seed.ts";

const PACKAGES = 1_000;
const DEPLOYMENTS = scaled(10_000);
const PREFIX = "/oaas/pm/";
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
    const folder = mkdtempSync(path.join(tmpdir(), "oaas-bench-pm-"));
    try {
      const file = path.join(folder, "pm.db");
      const sqliteStore = openSqliteStore({ ambient: realAmbient, file });
      await seed(sqliteStore, PACKAGES, DEPLOYMENTS);
      await sqliteStore.close();
      await using etcd = await startEtcd({ fsync: true });
      const etcdStore = openEtcdStore({ ambient: realAmbient, endpoints: etcd.endpoints, keyPrefix: PREFIX });
      await seed(etcdStore, PACKAGES, DEPLOYMENTS);
      await etcdStore.close();
      log(`${PACKAGES} packages and ${DEPLOYMENTS} deployments are written`);

      await using arena = startArena();
      const stores = {
        sqlite: { STORAGE_TYPE: "sqlite", STORAGE_FILE: file },
        etcd: { STORAGE_TYPE: "etcd", ETCD_ENDPOINTS: etcd.endpoints.join(","), ETCD_KEY_PREFIX: PREFIX },
      };
      const measurements: Measurement[] = [];
      const ratios: Ratio[] = [];
      for (const [store, env] of Object.entries(stores)) {
        log(`${store}: ${LOAD.rounds} rounds of ${LOAD.roundMs} ms at ${PER_SECOND} requests per second`);
        await using pm = await startMeasuredPm({ env });
        const { p50Ms, p99Ms } = await measurePaced(arena.loader, { ...LOAD, port: pm.port, requests: MIX });
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
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
