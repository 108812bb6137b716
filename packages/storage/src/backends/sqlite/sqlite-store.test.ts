import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { virtualAmbient } from "@oaas/foundation/virtual";
import { describeKeyValueStore } from "../../testing/index.ts";
import { openSqliteStore } from "./index.ts";

describeKeyValueStore("sqlite", {
  modelRuns: 40,
  leaseMs: 1000,
  open: async () => {
    const folder = mkdtempSync(join(tmpdir(), "oaas-sqlite-"));
    const ambient = virtualAmbient(1);
    const store = openSqliteStore({ ambient, file: join(folder, "store.db") });
    return {
      store,
      connect: async () => store.connect(),
      // Virtual time, but a real event loop: the engine collects commits until the end of the current turn.
      elapse: async (ms) => {
        await ambient.time.advance(ms);
        await setImmediate();
      },
      dispose: async () => {
        await store.close();
        rmSync(folder, { recursive: true });
      },
    };
  },
});
