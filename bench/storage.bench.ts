import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Bench } from "./harness.ts";
import { measureEmbedded } from "./storage/embedded.ts";
import { measureEtcd } from "./storage/etcd.ts";
import { measureReading } from "./storage/reading.ts";

/** The cost of durability, lists and memory, compared with the underlying library. */
export const bench: Bench = {
  name: "storage",
  async run(log) {
    const folder = mkdtempSync(join(tmpdir(), "oaas-bench-storage-"));
    try {
      log("embedded store against raw SQLite");
      const embedded = await measureEmbedded(folder);
      log("lists and memory");
      const reading = await measureReading(folder);
      log("etcd through our client against the Go client");
      const etcd = await measureEtcd();
      return {
        title: "Storage",
        measurements: [...embedded.measurements, ...etcd.measurements, ...reading],
        ratios: [...embedded.ratios, ...etcd.ratios],
      };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};
