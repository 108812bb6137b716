import { loadConfig } from "@oaas/config";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { NOOP_CONTEXT, NOOP_LOGGER, NOOP_METER } from "@oaas/observability";
import { openMemoryStore } from "@oaas/storage/memory";
import { expect, test } from "vitest";
import { pmConfig } from "./config.ts";
import { startPlatform } from "./platform.ts";

test("writes nothing to the store while it is idle", async () => {
  const ambient = virtualAmbient(1);
  const store = openMemoryStore({ ambient });
  const config = loadConfig(pmConfig, { env: { CRM_CLUSTERS_JSON: "{}" }, args: [], readFile: () => "" });
  const ports = { ambient, store, logger: NOOP_LOGGER, meter: NOOP_METER, context: NOOP_CONTEXT };
  const platform = await startPlatform(config, ports);
  // Longer than a lease, so that the leases of the start are held by renewals only.
  await ambient.time.advance(60_000);
  const revision = await store.revision();
  await ambient.time.advance(30 * 60_000);
  expect(platform.leaseKey()).toBeDefined();
  expect(await store.revision()).toBe(revision);
  await platform.close();
  await store.close();
});
