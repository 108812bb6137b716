/** LoadResult into a package manager before its own code (`node --import`): reports CPU time and memory on request. */
import { cpuMillis, heapBytes, peakRssBytes } from "../kube/programs/process-figures.ts";
import { serveRequests } from "./helper.ts";

/** A reading of the process. */
export interface ProcessFigures {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  /** Live heap after a garbage collection; only on request. */
  readonly heapBytes?: number;
}

serveRequests(async ({ heap }: { readonly heap: boolean }): Promise<ProcessFigures> => ({
  ...(heap ? { heapBytes: await heapBytes() } : {}),
  cpuMs: cpuMillis(),
  rssBytes: process.memoryUsage.rss(),
  peakRssBytes: peakRssBytes(),
}));
process.channel?.unref();
