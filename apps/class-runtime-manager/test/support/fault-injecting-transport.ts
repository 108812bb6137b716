import { unavailable } from "@oaas/foundation";
import type { HttpRequest, HttpResponse, Transport } from "@oaas/kube-runtime";

/** The fault of a call. */
export type CallFault =
  | { readonly do: "respond"; readonly status: number; readonly reason: string; readonly retryAfterSeconds?: number }
  /** No response until the caller aborts. */
  | { readonly do: "hang" }
  /** The connection breaks before the server receives the request. */
  | { readonly do: "reset" }
  /** The server handles the request, and the connection breaks before the response. */
  | { readonly do: "lose-response" };

/**
 * A call other than a watch, for example `PATCH deployments/order-fn-0`, `PATCH classruntimes/order/status`, `GET
 * events`.
 */
export interface Call {
  readonly method: HttpRequest["method"];
  readonly target: string;
}

/** A transport with fault injection that records every write. */
export interface FaultInjectingTransport extends Transport {
  /** All sent writes in order, whether they succeeded or not. */
  readonly writes: readonly string[];
  /** Received characters of reads, by target: `services`, `classruntimes/order`. */
  readonly received: ReadonlyMap<string, number>;
  /** Clears `writes` and `received`. */
  resetRecords(): void;
  /** Lets matching calls fail `times` times; by default always. */
  injectFault(matches: (call: Call) => boolean, fault: CallFault, times?: number): void;
  /** Removes the fault. */
  clearFault(): void;
  /** How many calls the current fault has hit. */
  readonly hits: number;
  /** Holds back watch events, so that caches lag behind. The returned function releases them. */
  holdWatches(): () => void;
  /** Closes every open watch. */
  cutWatches(): void;
  /** Closes every open watch and answers its next request with 410 Expired. */
  expireWatches(): void;
  /** Rejects every further call, as after a kill. Resolves when the server has handled the pending requests. */
  kill(): Promise<void>;
}

/** Wraps a transport; without faults it forwards every call. */
export function createFaultInjectingTransport(inner: Transport): FaultInjectingTransport {
  let writes: string[] = [];
  let received = new Map<string, number>();
  let injected: { matches: (call: Call) => boolean; fault: CallFault; left: number } | undefined;
  let hits = 0;
  let gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;
  let cut = new AbortController();
  /** Watches that already got 410; undefined while none should. */
  let expired: Set<string> | undefined;
  let isDead = false;
  const pending = new Set<Promise<unknown>>();

  const forward = (request: HttpRequest): Promise<HttpResponse> => {
    if (isDead) return Promise.reject(unavailable("API server", "the process was killed"));
    const response = inner.send(request);
    const ended: Promise<unknown> = response.then(
      () => pending.delete(ended),
      () => pending.delete(ended),
    );
    pending.add(ended);
    return response;
  };
  const countReceived = (target: string, response: HttpResponse): HttpResponse => ({
    ...response,
    text: async () => {
      const text = await response.text();
      received.set(target, (received.get(target) ?? 0) + text.length);
      return text;
    },
    chunks: () => response.chunks(),
  });
  const stream = async (request: HttpRequest): Promise<HttpResponse> => {
    const watched = targetOf(request.path);
    if (expired && !expired.has(watched)) {
      expired.add(watched);
      return errorResponse({ do: "respond", status: 410, reason: "Expired" });
    }
    return gated(
      await forward(request),
      () => gate?.opened,
      () => cut.signal,
    );
  };
  const closeWatches = (): void => {
    cut.abort(unavailable("watch", "the watch was cut"));
    cut = new AbortController();
  };
  const call = async (request: HttpRequest): Promise<HttpResponse> => {
    const target = targetOf(request.path);
    if (request.method !== "GET") writes.push(`${request.method} ${target}`);
    if (!injected || injected.left <= 0 || !injected.matches({ method: request.method, target }))
      return request.method === "GET" ? countReceived(target, await forward(request)) : forward(request);
    injected.left -= 1;
    hits += 1;
    return failCall(injected.fault, request, forward);
  };
  return {
    send: (request) => (request.purpose === "stream" ? stream(request) : call(request)),
    close: () => inner.close(),
    get writes() {
      return writes;
    },
    get received() {
      return received;
    },
    resetRecords: () => {
      writes = [];
      received = new Map();
    },
    injectFault: (matches, fault, times = Number.POSITIVE_INFINITY) => {
      injected = { matches, fault, left: times };
      hits = 0;
    },
    clearFault: () => {
      injected = undefined;
    },
    get hits() {
      return hits;
    },
    holdWatches: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = { opened: promise, open: resolve };
      return () => {
        gate = undefined;
        resolve();
      };
    },
    cutWatches: closeWatches,
    expireWatches: () => {
      expired = new Set();
      closeWatches();
    },
    kill: async () => {
      isDead = true;
      closeWatches();
      await Promise.all(pending);
    },
  };
}

async function failCall(fault: CallFault, request: HttpRequest, send: Transport["send"]): Promise<HttpResponse> {
  if (fault.do === "respond") return errorResponse(fault);
  if (fault.do === "hang") return untilAborted(request.signal);
  if (fault.do === "lose-response") await (await send(request)).text();
  throw unavailable("API server", "the connection was reset");
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
  });
}

function errorResponse({ status, reason, retryAfterSeconds }: CallFault & { readonly do: "respond" }): HttpResponse {
  const body = JSON.stringify({
    apiVersion: "v1",
    kind: "Status",
    status: "Failure",
    reason,
    code: status,
    message: `injected fault: ${reason}`,
  });
  return {
    status,
    headers: retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) },
    text: async () => body,
    chunks: async function* () {
      yield new TextEncoder().encode(body);
    },
  };
}

/** Forwards the stream while the gate is open, until it is cut. */
function gated(
  response: HttpResponse,
  opened: () => Promise<void> | undefined,
  cutSignal: () => AbortSignal,
): HttpResponse {
  return {
    ...response,
    text: () => response.text(),
    chunks: async function* () {
      const signal = cutSignal();
      const ended = untilAborted(signal);
      ended.catch(() => undefined);
      const chunks = response.chunks()[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await Promise.race([chunks.next(), ended]);
          await opened();
          if (signal.aborted) throw signal.reason as Error;
          if (next.done) return;
          yield next.value;
        }
      } finally {
        await chunks.return?.();
      }
    },
  };
}

/** `deployments/order` of `/apis/apps/v1/namespaces/x/deployments/order?fieldManager=…`. */
function targetOf(path: string): string {
  const [plain = ""] = path.split("?");
  return plain.replace(/^\/(api|apis\/[^/]+)\/[^/]+\//, "").replace(/^namespaces\/[^/]+\/(?=.)/, "");
}
