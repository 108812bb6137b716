import { create, fromBinary, type DescMethod, type MessageInitShape, type MessageShape } from "@bufbuild/protobuf";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
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
  type Clock,
} from "@oaas/foundation";
import { NOOP_CONTEXT, NOOP_LOGGER, NOOP_METER, type ContextStore, type Logger, type Meter } from "@oaas/observability";
import type { Call } from "./call.ts";
import type { AnyHandler, BoundService } from "./handlers.ts";
import { openCall, type AnyServerCall, type CallRefusal, type ForeignCall, type ReplyStream } from "./server-call.ts";
import { encodeMessage, methodPath, serviceDefinition } from "./service-definition.ts";
import { rpcMetrics, type RpcMetrics } from "./telemetry.ts";

export interface RpcServerOptions {
  readonly services: readonly BoundService[];
  readonly ambient: Ambient;
  /** Throws a fault to refuse a call: who may call what. Health and reflection are asked too. */
  readonly authorize?: (method: DescMethod, call: Call) => void;
  readonly logger?: Logger;
  readonly meter?: Meter;
  readonly context?: ContextStore;
  /** Largest request; larger ones are refused with RESOURCE_EXHAUSTED. Default 8 MiB. */
  readonly maxRequestBytes?: number;
}

const KEEPALIVE = {
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  // Clients that look after many clusters ping on idle connections; that is not abuse.
  "grpc.http2.min_ping_interval_without_data_ms": 5_000,
  "grpc.keepalive_permit_without_calls": 1,
};

const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/**
 * Answers gRPC calls with promises and faults.
 *
 * *Guarantees*: a request that cannot be decoded is INVALID_ARGUMENT; a fault becomes its status with all its details; anything else that is thrown
 * becomes INTERNAL, is logged with its cause, and says nothing of it; the correlation id goes back on success and on error; the handler's
 * signal aborts at the caller's deadline and when the caller gives up, and the caller is answered then, whatever the handler does; `drain`
 * refuses new calls, waits for running ones, then aborts them.
 *
 * It listens nowhere by itself: `listenOnePort` hands connections to it.
 */
export class RpcServer {
  readonly grpc: Server;
  readonly #options: RpcServerOptions;
  readonly #metrics: RpcMetrics;
  readonly #logger: Logger;
  readonly #context: ContextStore;
  readonly #routes = new Map<string, { readonly method: DescMethod; readonly handler: AnyHandler }>();
  readonly #maxRequestBytes: number;
  readonly #stopping = new AbortController();
  #draining = false;
  #inFlight = 0;
  #idle: (() => void)[] = [];

  constructor(options: RpcServerOptions) {
    this.#options = options;
    this.#metrics = rpcMetrics(options.meter ?? NOOP_METER);
    this.#logger = options.logger ?? NOOP_LOGGER;
    this.#context = options.context ?? NOOP_CONTEXT;
    this.#maxRequestBytes = options.maxRequestBytes ?? MAX_REQUEST_BYTES;
    this.grpc = new Server({ ...KEEPALIVE, "grpc.max_receive_message_length": this.#maxRequestBytes });
    for (const { service, handlers } of options.services) {
      for (const [method, handler] of handlers) this.#routes.set(methodPath(method), { method, handler });
      const implementations = Object.fromEntries(
        [...handlers].map(([method, handler]) => [method.name, this.#adapt(method, handler)]),
      );
      this.grpc.addService(serviceDefinition(service), implementations as never);
    }
  }

  /** By which deadlines are kept. */
  get clock(): Clock {
    return this.#options.ambient.clock;
  }

  /** Calls being answered. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Whether a method is served at this path. */
  serves(path: string): boolean {
    return this.#routes.has(path);
  }

  /** Answers a call that came by gRPC-Web as it would answer the same one by gRPC. Never rejects. */
  async answerWeb(path: string, raw: ForeignCall): Promise<void> {
    const { method, handler } = this.#routes.get(path) ?? {};
    const request = async (): Promise<Buffer> => raw.message(this.#maxRequestBytes);
    const refuse = (refusal: CallRefusal): void => raw.refuse(refusal);
    if (!method || !handler) {
      const run = (): never => {
        throw new Fault({ kind: "unimplemented", feature: path }, `no method is served at ${path}`);
      };
      await this.#answer(undefined, raw, { run, refuse });
    } else if (method.methodKind === "unary") {
      const answer = (reply: Buffer): void => {
        raw.write(reply);
        raw.end();
      };
      await this.#answer(method, raw, { run: (call) => this.#unary(method, handler, request, answer, call), refuse });
    } else if (method.methodKind === "server_streaming") {
      await this.#answer(method, raw, { run: (call) => this.#stream(method, handler, request, raw, call), refuse });
    } else {
      const run = (): never => {
        throw new Fault({ kind: "unimplemented", feature: path }, `${path} streams requests, which gRPC-Web cannot`);
      };
      await this.#answer(method, raw, { run, refuse });
    }
  }

  /** Credentials for connections that were accepted, and decrypted, elsewhere. */
  static readonly injected = ServerCredentials.createInsecure();

  /** Refuses new calls and waits for running ones; what still runs after `graceMs` is aborted. Repeatable. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    if (this.#inFlight > 0) {
      const idle = new Promise<void>((resolve) => void this.#idle.push(resolve));
      const stop = new AbortController();
      await Promise.race([idle, sleep(this.#options.ambient.timers, graceMs, stop.signal).catch(() => undefined)]);
      stop.abort(new Fault({ kind: "cancelled" }, "drained"));
      this.#stopping.abort(unavailable("server", "the server is stopping", { retryAfterMs: 1_000 }));
      if (this.#inFlight > 0) await Promise.race([idle, sleep(this.#options.ambient.timers, 1_000)]);
    }
  }

  #adapt(method: DescMethod, handler: AnyHandler): unknown {
    switch (method.methodKind) {
      case "unary":
        return (raw: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) =>
          void this.#answer(method, raw, {
            run: (call) =>
              this.#unary(
                method,
                handler,
                () => raw.request,
                (reply) => answer(null, reply),
                call,
              ),
            refuse: (refusal) => answer(refusal),
          });
      case "server_streaming":
        return (raw: ServerWritableStream<Buffer, Buffer>) =>
          void this.#answer(method, raw, {
            run: (call) => this.#stream(method, handler, () => raw.request, raw, call),
            refuse: refuseStream(raw),
          });
      case "bidi_streaming":
        return (raw: ServerDuplexStream<Buffer, Buffer>) =>
          void this.#answer(method, raw, {
            run: (call) =>
              sendReplies(method, handler(requestsOf(method, raw), call) as AsyncIterable<unknown>, raw, call),
            refuse: refuseStream(raw),
          });
      case "client_streaming":
        throw new TypeError(`${methodPath(method)}: client streaming is not used by any of our services`);
    }
  }

  async #unary(
    method: DescMethod,
    handler: AnyHandler,
    request: () => Buffer | Promise<Buffer>,
    answer: (reply: Buffer) => void,
    call: Call,
  ): Promise<void> {
    const bytes = await orAbort(Promise.resolve(request()), call.signal);
    const reply = await orAbort(handler(decode(method, bytes), call) as Promise<unknown>, call.signal);
    answer(encodeReply(method, reply as MessageInitShape<typeof method.output>));
  }

  async #stream(
    method: DescMethod,
    handler: AnyHandler,
    request: () => Buffer | Promise<Buffer>,
    out: ReplyStream,
    call: Call,
  ): Promise<void> {
    const bytes = await orAbort(Promise.resolve(request()), call.signal);
    await sendReplies(method, handler(decode(method, bytes), call) as AsyncIterable<unknown>, out, call);
  }

  async #answer(
    method: DescMethod | undefined,
    raw: AnyServerCall,
    steps: { run: (call: Call) => Promise<void>; refuse: (refusal: CallRefusal) => void },
  ): Promise<void> {
    const { clock } = this.#options.ambient;
    const startedAt = clock.monotonic();
    const path = method ? methodPath(method) : "unknown";
    this.#begin();
    using open = openCall(raw, this.#options.ambient, this.#stopping.signal);
    const { call } = open;
    let code = "OK";
    await this.#context.run(open.context, async () => {
      try {
        const initial = new Metadata();
        initial.set(METADATA_KEYS.correlationId, call.correlationId);
        raw.sendMetadata(initial);
        if (this.#draining) throw unavailable("server", "the server is stopping", { retryAfterMs: 1_000 });
        if (method) this.#options.authorize?.(method, call);
        await steps.run(call);
      } catch (thrown) {
        const fault = Fault.from(thrown).withCorrelationId(call.correlationId);
        if (fault.kind === "internal") this.#logger.error("a call failed", { method: path, fault });
        const failure = faultToStatus(fault);
        code = grpcStatusName(failure.code);
        steps.refuse(wireError(failure));
      }
    });
    this.#metrics.handled.add(1, { method: path, code });
    this.#metrics.duration.observe((clock.monotonic() - startedAt) / 1000, { method: path });
    this.#end();
  }

  #begin(): void {
    this.#inFlight += 1;
    this.#metrics.inFlight.set(this.#inFlight);
  }

  #end(): void {
    this.#inFlight -= 1;
    this.#metrics.inFlight.set(this.#inFlight);
    if (this.#inFlight === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function decode(method: DescMethod, bytes: Buffer): MessageShape<typeof method.input> {
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
  try {
    for (
      let next = await orAbort(iterator.next(), call.signal);
      !next.done;
      next = await orAbort(iterator.next(), call.signal)
    ) {
      const reply = encodeReply(method, next.value as MessageInitShape<typeof method.output>);
      // A slow reader stops us here, not in a buffer.
      if (!out.write(reply)) await orAbort(drained(out), call.signal);
    }
  } finally {
    void iterator.return?.(undefined);
  }
  out.end();
}

function drained(out: ReplyStream): Promise<void> {
  return new Promise((resolve) => void out.once("drain", resolve));
}

/** Not destroy: grpc-js sends the status from its error handler, and a destroyed stream can send nothing. */
function refuseStream(
  raw: ServerWritableStream<Buffer, Buffer> | ServerDuplexStream<Buffer, Buffer>,
): (refusal: CallRefusal) => void {
  return (refusal) => void raw.emit("error", refusal);
}

/** grpc-js takes code, details and trailing metadata from an error's members. */
function wireError(failure: ReturnType<typeof faultToStatus>): CallRefusal {
  const metadata = new Metadata();
  for (const [key, value] of failure.metadata)
    metadata.set(key, typeof value === "string" ? value : Buffer.from(value));
  return Object.assign(new Error(failure.message), { code: failure.code, details: failure.message, metadata });
}
