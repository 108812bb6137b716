/**
 * Loaded into a class runtime manager before its own code (`node --import`): counts the HTTP requests that really leave the process, below all
 * of our own code, and tells them with time and memory whenever the benchmark asks. The manager itself is the product's `main.ts`, unchanged.
 */
import { subscribe } from "node:diagnostics_channel";
import { cpuMillis, heapBytes, peakRssBytes } from "../kube/programs/process-figures.ts";
import { requestName } from "./request-name.ts";

/** Requests of one name that were answered. */
interface Counted {
  count: number;
  /** Of the last answer, on the wall clock in fractions of milliseconds. */
  lastAt: number;
}

/** What a manager is at one moment. */
export interface ProcessFigures {
  /** By names such as `PATCH deployments`, `PATCH classruntimes/status`, `LIST events`, `WATCH pods`. */
  readonly requests: Readonly<Record<string, Counted>>;
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  /** What is live after a collection; only when it was asked for. */
  readonly heapBytes?: number;
}

/** What the benchmark may ask for. */
export interface Question {
  readonly id: number;
  /** Collects garbage first, which takes its time. */
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
// Whoever started us is gone.
process.on("disconnect", () => process.exit(1));
process.channel?.unref();
