import cluster from "node:cluster";
import { orAbort, startDeadline, type Ambient } from "@oaas/foundation";
import { joinMetrics, type WorkerMetrics } from "./join-metrics.ts";

/*
 * Workers share their ports, so that whoever scrapes meets any one of them: it answers for all, or its counters would seem to fall
 * whenever another answers.
 *
 *   asked worker ──wanted──▶ first process ──wanted──▶ other workers
 *                ◀──from(n)──               ◀──told────
 *                ◀──told─────
 */
type Message =
  /** Of a worker, and passed on to each other one. */
  | { readonly metrics: "wanted"; readonly by: number; readonly id: number }
  /** How many were asked. */
  | { readonly metrics: "from"; readonly id: number; readonly count: number }
  | ({ readonly metrics: "told"; readonly by: number; readonly id: number } & WorkerMetrics);

/** Whoever does not answer in this time is left out of the scrape, as one that just died. */
const PATIENCE_MS = 2_000;

/** A channel may close at any moment, because its worker died; then nobody waits for the message any more. */
const unlessGone = (): void => undefined;

/** In the first process: passes questions and answers on. */
export function relayMetrics(): void {
  cluster.on("message", (worker, message: Message) => {
    if (message.metrics === "wanted") {
      const others = Object.values(cluster.workers ?? {}).filter(
        (each) => each?.isConnected() && each.id !== worker.id,
      );
      worker.send({ metrics: "from", id: message.id, count: others.length } satisfies Message, unlessGone);
      for (const other of others) other?.send(message, unlessGone);
    } else if (message.metrics === "told") cluster.workers?.[message.by]?.send(message, unlessGone);
  });
}

interface Scrape {
  readonly texts: WorkerMetrics[];
  count: number;
  readonly complete: () => void;
}

/** The metrics of all workers, asked in one of them; its own where there are no workers. */
export function metricsOfAll(own: () => Promise<string>, ambient: Ambient): () => Promise<string> {
  const { worker } = cluster;
  if (worker === undefined) return own;
  const scrapes = new Map<number, Scrape>();
  let last = 0;
  const receive = async (message: Message): Promise<void> => {
    if (message.metrics === "wanted") {
      const { by, id } = message;
      worker.send({ metrics: "told", by, id, worker: worker.id, text: await own() } satisfies Message, unlessGone);
      return;
    }
    const scrape = scrapes.get(message.id);
    if (scrape === undefined) return;
    if (message.metrics === "from") scrape.count = message.count;
    else scrape.texts.push({ worker: message.worker, text: message.text });
    if (scrape.texts.length >= scrape.count) scrape.complete();
  };
  // One that cannot tell its metrics is left out of the scrape; it is not to die of it.
  worker.on("message", (message: Message) => void receive(message).catch(() => undefined));
  return async () => {
    const id = (last += 1);
    const { promise, resolve } = Promise.withResolvers<void>();
    const texts: WorkerMetrics[] = [];
    scrapes.set(id, { texts, count: Number.POSITIVE_INFINITY, complete: resolve });
    worker.send({ metrics: "wanted", by: worker.id, id } satisfies Message, unlessGone);
    using patience = startDeadline(ambient, PATIENCE_MS);
    await orAbort(promise, patience.signal).catch(() => undefined);
    scrapes.delete(id);
    const all = [...texts, { worker: worker.id, text: await own() }];
    return joinMetrics(all.toSorted((a, b) => a.worker - b.worker));
  };
}
