import { unavailable } from "@oaas/foundation";
import type { HttpRequest, HttpResponse, Transport } from "@oaas/kube-runtime";

/** What goes wrong with a call. */
export type CallFault =
  | { readonly do: "answer"; readonly status: number; readonly reason: string; readonly retryAfterSeconds?: number }
  /** Nothing comes back until the caller gives up. */
  | { readonly do: "hang" }
  /** The connection breaks before the server hears of it. */
  | { readonly do: "reset" }
  /** The server does it, and the connection breaks before the answer is there. */
  | { readonly do: "lose-answer" };

/** A call that is no watch, as a test names it: `PATCH deployments/order-fn-0`, `PATCH classruntimes/order/status`, `GET events`. */
export interface Call {
  readonly method: HttpRequest["method"];
  readonly target: string;
}

/** A transport that fails on demand and remembers every write. */
export interface FaultyTransport extends Transport {
  /** What was sent to be written, in order, whatever became of it. */
  readonly writes: readonly string[];
  /** How many characters came back for reads, by what was read: `services`, `classruntimes/order`. */
  readonly received: ReadonlyMap<string, number>;
  /** Forgets the writes and what came back so far. */
  forget(): void;
  /** From now on these calls fail so, as often as said; by default always. */
  break(matches: (call: Call) => boolean, fault: CallFault, times?: number): void;
  /** Everything goes well again. */
  mend(): void;
  /** How many calls the present fault has hit. */
  readonly hits: number;
  /** Holds back what watches say, so that caches are behind; what was held comes when this ends. */
  holdWatches(): () => void;
  /** Breaks every watch that is open. */
  cutWatches(): void;
  /** The same, and each is told that its version is too old when it comes back. */
  expireWatches(): void;
  /** As when its process is killed: nothing passes any more, for good. Resolves when the server has done what it had been sent. */
  die(): Promise<void>;
}

/** Wraps a transport; passes everything on at first. */
export function faultyTransport(inner: Transport): FaultyTransport {
  let writes: string[] = [];
  let received = new Map<string, number>();
  let broken: { matches: (call: Call) => boolean; fault: CallFault; left: number } | undefined;
  let hits = 0;
  let gate: { readonly opened: Promise<void>; readonly open: () => void } | undefined;
  let cut = new AbortController();
  /** Watches that were told so already; undefined when none is to be. */
  let expired: Set<string> | undefined;
  let isDead = false;
  const underWay = new Set<Promise<unknown>>();

  const pass = (request: HttpRequest): Promise<HttpResponse> => {
    if (isDead) return Promise.reject(unavailable("API server", "the process was killed"));
    const answer = inner.send(request);
    const ended: Promise<unknown> = answer.then(
      () => underWay.delete(ended),
      () => underWay.delete(ended),
    );
    underWay.add(ended);
    return answer;
  };
  const counted = (target: string, response: HttpResponse): HttpResponse => ({
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
      return refusal({ do: "answer", status: 410, reason: "Expired" });
    }
    return gated(
      await pass(request),
      () => gate?.opened,
      () => cut.signal,
    );
  };
  const cutAll = (): void => {
    cut.abort(unavailable("watch", "the watch was cut"));
    cut = new AbortController();
  };
  const call = async (request: HttpRequest): Promise<HttpResponse> => {
    const target = targetOf(request.path);
    if (request.method !== "GET") writes.push(`${request.method} ${target}`);
    if (!broken || broken.left <= 0 || !broken.matches({ method: request.method, target }))
      return request.method === "GET" ? counted(target, await pass(request)) : pass(request);
    broken.left -= 1;
    hits += 1;
    return failing(broken.fault, request, pass);
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
    forget: () => {
      writes = [];
      received = new Map();
    },
    break: (matches, fault, times = Number.POSITIVE_INFINITY) => {
      broken = { matches, fault, left: times };
      hits = 0;
    },
    mend: () => {
      broken = undefined;
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
    cutWatches: cutAll,
    expireWatches: () => {
      expired = new Set();
      cutAll();
    },
    die: async () => {
      isDead = true;
      cutAll();
      await Promise.all(underWay);
    },
  };
}

async function failing(fault: CallFault, request: HttpRequest, send: Transport["send"]): Promise<HttpResponse> {
  if (fault.do === "answer") return refusal(fault);
  if (fault.do === "hang") return untilAborted(request.signal);
  if (fault.do === "lose-answer") await (await send(request)).text();
  throw unavailable("API server", "the connection was reset");
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
  });
}

function refusal({ status, reason, retryAfterSeconds }: CallFault & { readonly do: "answer" }): HttpResponse {
  const body = JSON.stringify({
    apiVersion: "v1",
    kind: "Status",
    status: "Failure",
    reason,
    code: status,
    message: `a test says ${reason}`,
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

/** The stream, as far as the gate is open and it has not been cut. */
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
