import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { realAmbient } from "@oaas/foundation/real";
import { openEtcdStore } from "@oaas/storage/etcd";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { startEtcd } from "@oaas/testkit";
import { seed } from "./seed.ts";

const PREFIX = "/oaas/pm/";

/** The settings of a package manager for each store. */
export interface DurableStores extends AsyncDisposable {
  readonly sqlite: Readonly<Record<string, string>>;
  readonly etcd: Readonly<Record<string, string>>;
}

/** A SQLite file and an etcd with the same packages and deployments. */
export async function startDurableStores(packages: number, deployments: number): Promise<DurableStores> {
  await using started = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), "oaas-bench-pm-"));
  started.defer(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, "pm.db");
  const sqliteStore = openSqliteStore({ ambient: realAmbient, file });
  await seed(sqliteStore, packages, deployments);
  await sqliteStore.close();
  const { endpoints } = started.use(await startEtcd({ fsync: true }));
  const etcdStore = openEtcdStore({ ambient: realAmbient, endpoints, keyPrefix: PREFIX });
  await seed(etcdStore, packages, deployments);
  await etcdStore.close();
  const owned = started.move();
  return {
    sqlite: { STORAGE_TYPE: "sqlite", STORAGE_FILE: file },
    etcd: { STORAGE_TYPE: "etcd", ETCD_ENDPOINTS: endpoints.join(","), ETCD_KEY_PREFIX: PREFIX },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
