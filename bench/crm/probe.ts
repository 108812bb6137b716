/**
 * Loaded into a class runtime manager before its own code (`node --import`): counts the HTTP requests that leave the
 * process and reports them with CPU time and memory on request. The manager itself is the unchanged `main.ts`.
 */
import { subscribe } from "node:diagnostics_channel";
import { cpuMillis, heapBytes, peakRssBytes } from "../kube/programs/process-figures.ts";
import { requestName } from "./request-name.ts";

/** Completed requests with one name. */
interface Counted {
  count: number;
  /** Time of the last response, on the wall clock in fractional milliseconds. */
  lastAt: number;
}

/** A reading of the manager. */
export interface ProcessFigures {
  /** By names such as `PATCH deployments`, `PATCH classruntimes/status`, `LIST events`, `WATCH pods`. */
  readonly requests: Readonly<Record<string, Counted>>;
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  /** Live heap after a garbage collection; only on request. */
  readonly heapBytes?: number;
}

/** A request of the benchmark. */
export interface Question {
  readonly id: number;
  /** Collects garbage first, which takes time. */
  readonly heap: boolean;
}

const requests: Record<string, Counted> = {};

subscribe("undici:request:headers", (message) => {
  const { request } = message as { readonly request: { readonly method: string; readonly path: string } };
  const counted = (requests[requestName(request.method, request.path)] ??= { count: 0, lastAt: 0 });
  counted.count += 1;
  counted.lastAt = performance.timeOrigin + performance.now();
});

async function answer({ id, heap }: Question): Promise<void> {
  const live = heap ? { heapBytes: await heapBytes() } : {};
  const figures: ProcessFigures = {
    requests,
    cpuMs: cpuMillis(),
    rssBytes: process.memoryUsage.rss(),
    peakRssBytes: peakRssBytes(),
    ...live,
  };
  process.send?.({ id, figures });
}

process.on("message", (question: Question) => void answer(question));
// The parent process has ended.
process.on("disconnect", () => process.exit(1));
process.channel?.unref();
