import { create } from "@bufbuild/protobuf";
import { backoffDelay, Fault, sleep, type Ambient } from "@oaas/foundation";
import {
  Event_EventType as EventType,
  Watch,
  WatchRequestSchema,
  type Event,
  type WatchRequest,
  type WatchResponse,
} from "../../gen/etcd_pb.ts";
import { rangeOf } from "../../port/key-order.ts";
import { closedFault, compactedFault } from "../../port/store-faults.ts";
import type { ChangeEvent, WatchBatch, WatchQuery } from "../../port/key-value-store.ts";
import { methodOf, type EtcdConnection } from "./connection/connection.ts";
import type { KeySpace } from "./keys.ts";
import type { EtcdIncident } from "./options.ts";

export interface EtcdWatch {
  readonly ambient: Ambient;
  readonly connection: EtcdConnection;
  readonly keys: KeySpace;
  readonly query: WatchQuery;
  readonly onIncident: (incident: EtcdIncident) => void;
}

const WATCH = methodOf(Watch.method.watch);
const RESUME = { baseMs: 50, capMs: 2000, factor: 2, jitter: 0.5 };

/**
 * Watches a range and resumes it after failures.
 *
 * Flow: open a stream from the next revision → yield → the stream fails → next endpoint, after a pause → repeat.
 * Guarantees: no gaps or duplicates after a failure. A slow reader applies backpressure, so that pending events stay in
 * etcd's history and not in this process.
 */
export async function* watchEtcd(watch: EtcdWatch): AsyncGenerator<WatchBatch, void, undefined> {
  const { ambient, connection, query } = watch;
  const position = { next: query.fromRevision, failures: 0 };
  while (!query.signal?.aborted) {
    if (connection.closed) throw closedFault();
    let endpoint: number | undefined;
    try {
      using stream = await openStream(watch, position.next);
      endpoint = stream.endpoint;
      for await (const response of stream.responses) {
        stream.answered();
        yield* batchesOf(watch, position, response);
      }
      throw new Fault({ kind: "unavailable", dependency: "etcd" }, "etcd ended the watch stream");
    } catch (thrown) {
      if (query.signal?.aborted) return;
      const fault = await faultToSurvive(watch, thrown);
      if (endpoint !== undefined) connection.leave(endpoint, fault);
      watch.onIncident({ what: "watch resumed", fault });
    }
    const pause = backoffDelay(RESUME, position.failures, ambient.random);
    position.failures += 1;
    await sleep(ambient.timers, pause, query.signal).catch(() => undefined);
  }
}

interface OpenStream extends Disposable {
  readonly responses: AsyncIterable<WatchResponse>;
  answered(): void;
  readonly endpoint: number;
}

async function openStream(watch: EtcdWatch, next: number): Promise<OpenStream> {
  const { ambient, connection, query } = watch;
  const endsAt = ambient.clock.monotonic() + connection.attemptTimeoutMs;
  const { cancel, endpoint, messages, send } = await connection.stream(WATCH, { signal: query.signal, endsAt });
  // A frozen server accepts the stream and does not confirm the watch.
  const tooLate = ambient.timers.after(connection.attemptTimeoutMs, cancel);
  query.signal?.addEventListener("abort", cancel, { once: true });
  if (query.signal?.aborted) cancel();
  else send(createRequest(watch, next));
  return {
    endpoint,
    responses: messages,
    answered: () => tooLate.cancel(),
    [Symbol.dispose]: () => {
      tooLate.cancel();
      query.signal?.removeEventListener("abort", cancel);
      cancel();
    },
  };
}

function createRequest({ keys, query }: EtcdWatch, next: number): WatchRequest {
  return create(WatchRequestSchema, {
    requestUnion: {
      case: "createRequest",
      value: {
        ...keys.range(rangeOf(query)),
        startRevision: BigInt(next),
        progressNotify: true,
        prevKv: query.withPrevious ?? false,
      },
    },
  });
}

/** Returns the fault if the watch can be resumed; otherwise throws it. */
async function faultToSurvive({ connection }: EtcdWatch, thrown: unknown): Promise<Fault> {
  if (thrown instanceof Fault && thrown.retryable) return thrown;
  const verdict = connection.assess(thrown);
  if (verdict.do === "give-up") throw verdict.fault;
  return verdict.fault;
}

function* batchesOf(
  watch: EtcdWatch,
  position: { next: number; failures: number },
  response: WatchResponse,
): Generator<WatchBatch, void, undefined> {
  if (response.canceled) throw cancellation(position.next, response);
  position.failures = 0;
  if (response.created) return;
  const revision = Number(response.header?.revision);
  if (response.events.length === 0 && revision >= position.next) {
    position.next = revision + 1;
    yield { revision, events: [] };
  }
  for (const [at, events] of Map.groupBy(response.events, (event) => Number(event.kv?.modRevision))) {
    if (at < position.next) continue;
    position.next = at + 1;
    yield { revision: at, events: events.map((event) => changeOf(watch, event, at)) };
  }
}

function cancellation(next: number, response: WatchResponse): Error {
  if (response.compactRevision > 0n) return compactedFault(next, Number(response.compactRevision));
  const { cancelReason } = response;
  if (cancelReason.includes("compacted")) return compactedFault(next, undefined);
  if (cancelReason.includes("permission denied")) {
    return new Fault({ kind: "permission-denied", action: "watch etcd" }, `etcd: ${cancelReason}`);
  }
  return new Fault({ kind: "unavailable", dependency: "etcd" }, `etcd ended the watch: ${cancelReason}`);
}

function changeOf({ keys }: EtcdWatch, event: Event, revision: number): ChangeEvent {
  const pair = event.kv as NonNullable<Event["kv"]>;
  const previous = event.prevKv === undefined ? {} : { previous: keys.entry(event.prevKv) };
  return event.type === EventType.PUT
    ? { type: "put", entry: keys.entry(pair), ...previous }
    : { type: "delete", key: keys.name(pair.key), revision, ...previous };
}
