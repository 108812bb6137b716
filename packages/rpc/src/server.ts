import { create, fromBinary, type DescMethod, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  Metadata,
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerDuplexStream,
  type ServerInterceptingCallInterface,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
} from "@grpc/grpc-js";
import { faultToStatus, grpcStatusName, METADATA_KEYS } from "@oaas/contracts/grpc";
import {
  Fault,
  invalidArgument,
  orAbort,
  ROOT_PATH,
  sleep,
  unavailable,
  type Ambient,
  type Limit,
} from "@oaas/foundation";
import {
  ensureCorrelationId,
  NOOP_CONTEXT,
  NOOP_LOGGER,
  NOOP_METER,
  NOOP_TRACER,
  type ContextStore,
  type CorrelationId,
  type Logger,
  type Meter,
  type Span,
  type Tracer,
} from "@oaas/observability";
import type { Call, CallHead } from "./call.ts";
import type { AnyHandler, BoundService } from "./handlers.ts";
import { ByteLimit, CallerLimit } from "./port-limits.ts";
import { findMessageProblem } from "./message-limits.ts";
import { openCall, readCallHead, type AnyServerCall, type CallError, type ReplyStream } from "./server-call.ts";
import { encodeMessage, methodPath, serviceDefinition } from "./service-definition.ts";
import { rpcMetrics, type RpcMetrics } from "./telemetry.ts";
import { callSpan, GRPC_CODES, SERVER_ERRORS, UNTRACED } from "./tracing.ts";

export interface RpcServerOptions {
  readonly services: readonly BoundService[];
  readonly ambient: Ambient;
  /**
   * Returns the name of the caller, or throws a fault to reject the call. Called when the headers have arrived, before
   * the request is read; also for health and reflection. Without a name, the caller is named by its address.
   */
  readonly authorize?: (method: DescMethod, head: CallHead) => MaybePromise<string | undefined>;
  /** Called for each call that `authorize` or a limit rejected. */
  readonly onRejected?: (method: DescMethod, head: CallHead, fault: Fault) => void;
  readonly logger?: Logger;
  readonly meter?: Meter;
  readonly context?: ContextStore;
  /** Records a span per unary call; streams live as long as their clients and have none. */
  readonly tracer?: Tracer | undefined;
  /** Maximum size of a request; larger ones fail with RESOURCE_EXHAUSTED. Default 8 MiB. */
  readonly maxRequestBytes?: number;
  /** Maximum of request bytes in memory, over all calls; further calls fail with RESOURCE_EXHAUSTED. Default 64 MiB. */
  readonly maxRequestBytesInFlight?: Limit;
  /** Maximum of running calls per caller; further ones fail with RESOURCE_EXHAUSTED. Default 1000. */
  readonly maxCallsPerCaller?: Limit;
}

type MaybePromise<T> = T | Promise<T>;

/** A call that may run, until `end`. */
interface Admission {
  readonly caller: string;
  end(): void;
}

const KEEPALIVE = {
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // Clients ping on idle connections to detect frozen servers.
  "grpc.http2.min_ping_interval_without_data_ms": 5_000,
  "grpc.keepalive_permit_without_calls": 1,
};

const MAX_REQUEST_BYTES = 8 * 1024 * 1024;
const MAX_REQUEST_BYTES_IN_FLIGHT = 64 * 1024 * 1024;
const MAX_CALLS_PER_CALLER = 1_000;
/** Time for streams to end by themselves when the server stops. */
const STREAM_GRACE_MS = 1_000;
/** Time for aborted calls to respond. */
const ABORT_GRACE_MS = 1_000;
/** Bytes of replies that a stream buffers for a slow reader before it waits. */
const MAX_UNSENT_BYTES = 64 * 1024;

/**
 * Serves gRPC calls with promises and faults.
 *
 * *Guarantees*: a call is authorised before its request is read. A request that cannot be decoded is INVALID_ARGUMENT. A fault becomes its status with all details. Any
 * other exception is logged and becomes INTERNAL without details. The response has the correlation id, also on errors.
 * The handler's signal aborts at the caller's deadline and when the caller cancels; the call ends then, even if the
 * handler continues. `drain` rejects new calls, waits for running ones, then aborts them.
 *
 * The server does not listen itself: `listenOnePort` passes connections to it.
 */
export class RpcServer {
  readonly grpc: Server;
  readonly metrics: RpcMetrics;
  /** Bytes of requests that are being received or handled. */
  readonly requestBytes: ByteLimit;
  readonly #options: RpcServerOptions;
  readonly #logger: Logger;
  readonly #context: ContextStore;
  readonly #routes = new Map<string, { readonly method: DescMethod; readonly handler: AnyHandler }>();
  readonly #maxRequestBytes: number;
  readonly #stopping = new AbortController();
  readonly #endingStreams = new AbortController();
  readonly #callerLimit: CallerLimit;
  /** Authorised callers of calls over grpc-js, by the metadata of the call. */
  readonly #callers = new WeakMap<object, string>();
  #draining = false;
  #inFlight = 0;
  #idle: (() => void)[] = [];

  constructor(options: RpcServerOptions) {
    this.#options = options;
    this.metrics = rpcMetrics(options.meter ?? NOOP_METER);
    this.#logger = options.logger ?? NOOP_LOGGER;
    this.#context = options.context ?? NOOP_CONTEXT;
    this.#maxRequestBytes = options.maxRequestBytes ?? MAX_REQUEST_BYTES;
    this.requestBytes = new ByteLimit(options.maxRequestBytesInFlight ?? MAX_REQUEST_BYTES_IN_FLIGHT);
    this.#callerLimit = new CallerLimit(options.maxCallsPerCaller ?? MAX_CALLS_PER_CALLER);
    this.grpc = new Server({
      ...KEEPALIVE,
      "grpc.max_receive_message_length": this.#maxRequestBytes,
      interceptors: [({ path }, call) => this.#authorizeFirst(path, call)],
    });
    for (const { service, handlers } of options.services) {
      for (const [method, handler] of handlers) this.#routes.set(methodPath(method), { method, handler });
      const implementations = Object.fromEntries(
        [...handlers].map(([method, handler]) => [method.name, this.#adapt(method, handler)]),
      );
      this.grpc.addService(serviceDefinition(service), implementations as never);
    }
  }

  /** Number of running calls. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether clients send several messages to the method at this path. */
  readsStream(path: string): boolean {
    return this.#routes.get(path)?.method.methodKind === "bidi_streaming";
  }

  /** Credentials for connections that `listenOnePort` has accepted and decrypted. */
  static readonly injected = ServerCredentials.createInsecure();

  /**
   * Rejects new calls and waits for running ones; aborts streams after a second, because watches have no end, and the
   * others after `graceMs`. Idempotent.
   */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    const streamMs = Math.min(STREAM_GRACE_MS, graceMs);
    for (const [waitMs, aborted] of [
      [streamMs, this.#endingStreams],
      [graceMs - streamMs, this.#stopping],
      [ABORT_GRACE_MS, undefined],
    ] as const) {
      if (this.#inFlight > 0) await this.#untilIdle(waitMs);
      aborted?.abort(unavailable("server", "the server is stopping", { retryAfterMs: 1_000 }));
    }
  }

  async #untilIdle(timeoutMs: number): Promise<void> {
    const idle = new Promise<void>((resolve) => void this.#idle.push(resolve));
    const stop = new AbortController();
    await Promise.race([idle, sleep(this.#options.ambient.timers, timeoutMs, stop.signal).catch(() => undefined)]);
    stop.abort(new Fault({ kind: "cancelled" }, "drained"));
  }

  /** Authorises a call of grpc-js when its headers arrive. The request is not read before. */
  #authorizeFirst(path: string, call: ServerInterceptingCallInterface): ServerInterceptingCall {
    const { method } = this.#routes.get(path) ?? {};
    let admission: Admission | undefined;
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, pass) => {
            const head = readCallHead(call, metadata);
            void this.#admit(method, head).then(
              (admitted) => {
                admission = admitted;
                this.#callers.set(metadata, admitted.caller);
                pass(metadata);
              },
              (thrown: unknown) => this.#rejectUnread(path, call, head, thrown),
            );
          },
          // Also called when the call has ended.
          onCancel: () => admission?.end(),
        }),
    });
  }

  #rejectUnread(path: string, call: ServerInterceptingCallInterface, head: CallHead, thrown: unknown): void {
    const correlationId = ensureCorrelationId(head.header(METADATA_KEYS.correlationId), this.#options.ambient.ids);
    call.sendMetadata(correlationMetadata(correlationId));
    const error = this.#errorOf(path, thrown, correlationId);
    call.sendStatus(error);
    this.metrics.handled.add(1, { method: path, code: grpcStatusName(error.code) });
  }

  /** Authorises a call and counts it for its caller. */
  async #admit(method: DescMethod | undefined, head: CallHead): Promise<Admission> {
    const anonymous = `anonymous@${head.peer.address}`;
    if (!method) return { caller: anonymous, end: () => undefined };
    try {
      const caller = (await this.#options.authorize?.(method, head)) ?? anonymous;
      return { caller, end: this.#callerLimit.enter(caller) };
    } catch (thrown) {
      this.#options.onRejected?.(method, head, Fault.from(thrown));
      throw thrown;
    }
  }

  #adapt(method: DescMethod, handler: AnyHandler): unknown {
    switch (method.methodKind) {
      case "unary":
        return (raw: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) =>
          void this.#handle(method, raw, {
            run: (call) => this.#unary(method, handler, raw.request, (reply) => respond(null, reply), call),
            fail: (error) => respond(error),
          });
      case "server_streaming":
        return (raw: ServerWritableStream<Buffer, Buffer>) =>
          void this.#handle(method, raw, {
            run: (call) => this.#stream(method, handler, raw.request, raw, call),
            fail: failStream(raw),
          });
      case "bidi_streaming":
        return (raw: ServerDuplexStream<Buffer, Buffer>) =>
          void this.#handle(method, raw, {
            run: (call) =>
              sendReplies(method, handler(requestsOf(method, raw), call) as AsyncIterable<unknown>, raw, call),
            fail: failStream(raw),
          });
      case "client_streaming":
        throw new TypeError(`${methodPath(method)}: client streaming is not supported`);
    }
  }

  async #unary(
    method: DescMethod,
    handler: AnyHandler,
    request: Buffer,
    respond: (reply: Buffer) => void,
    call: Call,
  ): Promise<void> {
    const reply = await orAbort(handler(decode(method, request), call) as Promise<unknown>, call.signal);
    respond(encodeReply(method, reply as MessageInitShape<typeof method.output>));
  }

  async #stream(method: DescMethod, handler: AnyHandler, request: Buffer, out: ReplyStream, call: Call): Promise<void> {
    await sendReplies(method, handler(decode(method, request), call) as AsyncIterable<unknown>, out, call);
  }

  async #handle(
    method: DescMethod | undefined,
    raw: AnyServerCall,
    steps: { run: (call: Call) => Promise<void>; fail: (error: CallError) => void },
  ): Promise<void> {
    const { clock } = this.#options.ambient;
    const startedAt = clock.monotonic();
    const path = method ? methodPath(method) : "unknown";
    this.#begin();
    const stopping = isStream(method) ? this.#endingStreams : this.#stopping;
    using open = openCall(raw, this.#options.ambient, stopping.signal);
    const { call } = open;
    let code = "OK";
    let admission: Admission | undefined;
    const work = async (span?: Span): Promise<void> => {
      try {
        raw.sendMetadata(correlationMetadata(call.correlationId));
        if (this.#draining) {
          const options = { code: "OAAS_STOPPING", retryAfterMs: 1_000 } as const;
          throw unavailable("server", "the server is stopping", options);
        }
        const caller = this.#callers.get(raw.metadata);
        if (caller === undefined) admission = await this.#admit(method, call);
        await steps.run({ ...call, caller: caller ?? admission?.caller ?? "" });
      } catch (thrown) {
        const error = this.#errorOf(path, thrown, call.correlationId);
        code = grpcStatusName(error.code);
        if (SERVER_ERRORS.has(code)) span?.fail(error.details);
        steps.fail(error);
      }
      span?.set({ "rpc.grpc.status_code": GRPC_CODES.get(code) });
    };
    const { tracer = NOOP_TRACER } = this.#options;
    const traced = method?.methodKind === "unary" && !UNTRACED.test(path) ? callSpan("server", path) : undefined;
    await this.#context.run(open.context, () => (traced ? tracer.run(traced, work) : work()));
    admission?.end();
    this.metrics.handled.add(1, { method: path, code });
    this.metrics.duration.observe((clock.monotonic() - startedAt) / 1000, { method: path });
    this.#end();
  }

  #errorOf(path: string, thrown: unknown, correlationId: CorrelationId): CallError {
    const fault = Fault.from(thrown).withCorrelationId(correlationId);
    if (fault.kind === "internal") this.#logger.error("gRPC call failed", { method: path, fault });
    return wireError(faultToStatus(fault));
  }

  #begin(): void {
    this.#inFlight += 1;
    this.metrics.inFlight.set(this.#inFlight);
  }

  #end(): void {
    this.#inFlight -= 1;
    this.metrics.inFlight.set(this.#inFlight);
    if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function isStream(method: DescMethod | undefined): boolean {
  return method !== undefined && method.methodKind !== "unary";
}

function correlationMetadata(correlationId: CorrelationId): Metadata {
  const metadata = new Metadata();
  metadata.set(METADATA_KEYS.correlationId, correlationId);
  return metadata;
}

function decode(method: DescMethod, bytes: Buffer): MessageShape<typeof method.input> {
  const problem = findMessageProblem(method.input, bytes);
  if (problem !== undefined) throw invalidArgument(method.input.typeName, [problem]);
  try {
    return fromBinary(method.input, bytes);
  } catch (error) {
    throw invalidArgument(
      method.input.typeName,
      [{ path: ROOT_PATH, message: "cannot be decoded", fix: "send a protobuf message of this type" }],
      {
        cause: error,
      },
    );
  }
}

function encodeReply(method: DescMethod, reply: MessageInitShape<typeof method.output>): Buffer {
  return encodeMessage(method.output, create(method.output, reply));
}

async function* requestsOf(method: DescMethod, raw: ServerDuplexStream<Buffer, Buffer>): AsyncGenerator {
  for await (const bytes of raw) yield decode(method, bytes as Buffer);
}

async function sendReplies(
  method: DescMethod,
  replies: AsyncIterable<unknown>,
  out: ReplyStream,
  call: Call,
): Promise<void> {
  const iterator = replies[Symbol.asyncIterator]();
  let unsentBytes = 0;
  let resume: (() => void) | undefined;
  try {
    for (
      let next = await orAbort(iterator.next(), call.signal);
      !next.done;
      next = await orAbort(iterator.next(), call.signal)
    ) {
      const reply = encodeReply(method, next.value as MessageInitShape<typeof method.output>);
      unsentBytes += reply.length;
      out.write(reply, () => {
        unsentBytes -= reply.length;
        if (unsentBytes < MAX_UNSENT_BYTES) resume?.();
      });
      // Wait for a slow reader. The stream itself would buffer a number of replies of any size.
      if (unsentBytes >= MAX_UNSENT_BYTES) {
        await orAbort(new Promise<void>((resolve) => (resume = resolve)), call.signal);
      }
    }
  } finally {
    void iterator.return?.(undefined);
  }
  out.end();
}

/** Emits an error instead of destroying the stream: grpc-js sends the status in its error handler. */
function failStream(
  raw: ServerWritableStream<Buffer, Buffer> | ServerDuplexStream<Buffer, Buffer>,
): (error: CallError) => void {
  return (error) => void raw.emit("error", error);
}

/** Converts a status to an error in the format of grpc-js. */
function wireError(failure: ReturnType<typeof faultToStatus>): CallError {
  const metadata = new Metadata();
  for (const [key, value] of failure.metadata)
    metadata.set(key, typeof value === "string" ? value : Buffer.from(value));
  return Object.assign(new Error(failure.message), { code: failure.code, details: failure.message, metadata });
}
