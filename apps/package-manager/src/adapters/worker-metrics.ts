import cluster from "node:cluster";
import { orAbort, startDeadline, type Ambient } from "@oaas/foundation";
import type { MetricsFormat } from "@oaas/observability";
import { joinMetrics, type WorkerMetrics } from "./join-metrics.ts";

/*
 * Workers share their ports, so a scrape reaches any one of them. That worker answers for all; otherwise counters would seem to fall when
 * another worker answers.
 *
 *   scraped worker ──request──▶ primary ──request──▶ other workers
 *                  ◀──count(n)──        ◀──response──
 *                  ◀──response──
 */
type Message =
  /** From the scraped worker, relayed to each other worker. */
  | { readonly metrics: "request"; readonly by: number; readonly id: number; readonly format: MetricsFormat }
  /** The number of workers that will respond. */
  | { readonly metrics: "count"; readonly id: number; readonly count: number }
  | ({ readonly metrics: "response"; readonly by: number; readonly id: number } & WorkerMetrics);

/** A worker that does not respond within this time is left out of the scrape. */
const SCRAPE_TIMEOUT_MS = 2_000;

/** A channel closes when its worker dies; the message is not needed then. */
const ignoreClosed = (): void => undefined;

/** In the primary process: relays requests and responses between workers. */
export function relayMetrics(): void {
  cluster.on("message", (worker, message: Message) => {
    if (message.metrics === "request") {
      const others = Object.values(cluster.workers ?? {}).filter(
        (each) => each?.isConnected() && each.id !== worker.id,
      );
      worker.send({ metrics: "count", id: message.id, count: others.length } satisfies Message, ignoreClosed);
      for (const other of others) other?.send(message, ignoreClosed);
    } else if (message.metrics === "response") cluster.workers?.[message.by]?.send(message, ignoreClosed);
  });
}

interface Scrape {
  readonly texts: WorkerMetrics[];
  count: number;
  readonly complete: () => void;
}

/** In a worker: the metrics of all workers. Without workers: those of this process. */
export function collectMetrics(
  own: (format: MetricsFormat) => Promise<string>,
  ambient: Ambient,
): (format: MetricsFormat) => Promise<string> {
  const { worker } = cluster;
  if (worker === undefined) return own;
  const scrapes = new Map<number, Scrape>();
  let last = 0;
  const receive = async (message: Message): Promise<void> => {
    if (message.metrics === "request") {
      const { by, id, format } = message;
      worker.send(
        { metrics: "response", by, id, worker: worker.id, text: await own(format) } satisfies Message,
        ignoreClosed,
      );
      return;
    }
    const scrape = scrapes.get(message.id);
    if (scrape === undefined) return;
    if (message.metrics === "count") scrape.count = message.count;
    else scrape.texts.push({ worker: message.worker, text: message.text });
    if (scrape.texts.length >= scrape.count) scrape.complete();
  };
  // A worker that fails to render its metrics is left out of the scrape.
  worker.on("message", (message: Message) => void receive(message).catch(() => undefined));
  return async (format) => {
    const id = (last += 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const texts: WorkerMetrics[] = [];
    scrapes.set(id, { texts, count: Number.POSITIVE_INFINITY, complete: resolve });
    worker.send({ metrics: "request", by: worker.id, id, format } satisfies Message, ignoreClosed);
    using deadline = startDeadline(ambient, SCRAPE_TIMEOUT_MS);
    await orAbort(promise, deadline.signal).catch(() => undefined);
    scrapes.delete(id);
    const all = [...texts, { worker: worker.id, text: await own(format) }];
    return joinMetrics(all.toSorted((a, b) => a.worker - b.worker));
  };
}
