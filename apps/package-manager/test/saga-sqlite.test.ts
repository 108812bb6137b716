import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { openSqliteStore } from "@oaas/storage/sqlite";
import { sweepSize } from "@oaas/testkit";
import type { FixtureStore } from "./fakes/deployment-fixture.ts";
import { describeSaga, someOf } from "./saga-checks.ts";
import { SCENARIOS } from "./saga-scenarios.ts";

async function sqliteWorldStore(): Promise<FixtureStore> {
  const ambient = virtualAmbient(1);
  const folder = await mkdtemp(join(tmpdir(), "oaas-sagas-"));
  const store = openSqliteStore({ ambient, file: join(folder, "oaas.db") });
  return {
    ambient,
    time: ambient.time,
    connect: async () => store.connect(),
    leaseMs: 10_000,
    turns: 4,
    dispose: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

const taken = SCENARIOS.filter((_, index) => index % sweepSize(3, 1) === 0);
for (const scenario of taken) describeSaga(scenario, { openStore: sqliteWorldStore, points: someOf });
