import { virtualAmbient } from "@oaas/foundation/virtual";
import { describeKeyValueStore } from "../../testing/index.ts";
import { openMemoryStore } from "./index.ts";

describeKeyValueStore("memory", {
  modelRuns: 500,
  leaseMs: 1000,
  open: async () => {
    const ambient = virtualAmbient(1);
    const store = openMemoryStore({ ambient });
    return {
      store,
      connect: async () => store.connect(),
      elapse: (ms) => ambient.time.advance(ms),
      dispose: () => store.close(),
    };
  },
});
