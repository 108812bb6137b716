/** Loaded into a package manager before its own code (`node --import`): tells time and memory when the benchmark asks. The manager itself is unchanged. */
import { cpuMillis, heapBytes, peakRssBytes } from "../kube/programs/process-figures.ts";
import { answerQuestions } from "./helper.ts";

/** What a process is at one moment. */
export interface ProcessFigures {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  /** What is live after a collection; only when it was asked for. */
  readonly heapBytes?: number;
}

answerQuestions(async ({ heap }: { readonly heap: boolean }): Promise<ProcessFigures> => ({
  ...(heap ? { heapBytes: await heapBytes() } : {}),
  cpuMs: cpuMillis(),
  rssBytes: process.memoryUsage.rss(),
  peakRssBytes: peakRssBytes(),
}));
process.channel?.unref();
