import {
  create,
  fromBinary,
  type DescMessage,
  type DescMethod,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import { Client, credentials, Metadata, type ChannelCredentials, type ServiceError } from "@grpc/grpc-js";
import { faultFromStatus, faultToStatus, METADATA_KEYS } from "@oaas/contracts/grpc";
import { abortFault, Fault, unavailable, type Clock } from "@oaas/foundation";
import { headersFromContext, NOOP_CONTEXT, NOOP_TRACER, type ContextStore, type Tracer } from "@oaas/observability";
import { encodeMessage, methodPath } from "./service-definition.ts";
import { callSpan } from "./tracing.ts";

export interface ChannelTls {
  readonly ca?: string;
  readonly certificate?: string;
  readonly key?: string;
  /** Name to verify the server certificate against, if it differs from the address. */
  readonly serverName?: string;
  /** Accepts any certificate. */
  readonly insecure?: boolean;
}

export interface ChannelOptions {
  /** Name of the server in faults. */
  readonly name: string;
  /** host:port */
  readonly address: string;
  readonly clock: Clock;
  readonly tls?: ChannelTls;
  /** Called for each call, so that a rotated token takes effect immediately. */
  readonly token?: () => string | undefined;
  readonly context?: ContextStore;
  /** Records a span per unary call that is part of a trace. */
  readonly tracer?: Tracer;
  /** Default deadline of calls; 15 s if not set. */
  readonly deadlineMs?: number;
}

export interface RpcCallOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

type ClientMethod<M> = M extends { readonly methodKind: infer Kind; readonly input: infer I; readonly output: infer O }
  ? I extends DescMessage
    ? O extends DescMessage
      ? Kind extends "unary"
        ? (request: MessageInitShape<I>, options?: RpcCallOptions) => Promise<MessageShape<O>>
        : Kind extends "server_streaming"
          ? (request: MessageInitShape<I>, options?: RpcCallOptions) => AsyncIterable<MessageShape<O>>
          : never
      : never
    : never
  : never;

/** The methods of a service as functions. */
export type RpcClient<S extends DescService> = { readonly [K in keyof S["method"]]: ClientMethod<S["method"][K]> };

const CHANNEL = {
  "grpc.keepalive_time_ms": 10_000,
  "grpc.keepalive_timeout_ms": 5_000,
  "grpc.keepalive_permit_without_calls": 1,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 5_000,
  "grpc.max_receive_message_length": 32 * 1024 * 1024,
  // A new channel has a connection of its own, which may reach another replica.
  "grpc.use_local_subchannel_pool": 1,
  // The caller retries, depending on the fault.
  "grpc.enable_retries": 0,
};

/**
 * One connection to one server, shared by all its services.
 *
 * *Guarantees*: every unary call has a deadline. A failed call rejects with a fault, also for foreign servers. The
 * correlation id and trace context are forwarded. An abort cancels the call at the server. Keep-alive detects a frozen
 * server.
 */
export class RpcChannel {
  readonly #options: ChannelOptions;
  readonly #client: Client;

  constructor(options: ChannelOptions) {
    this.#options = options;
    const override =
      options.tls?.serverName === undefined ? {} : { "grpc.ssl_target_name_override": options.tls.serverName };
    this.#client = new Client(options.address, channelCredentials(options.tls), { ...CHANNEL, ...override });
  }

  /** Returns the methods of a service over this connection. */
  client<S extends DescService>(service: S): RpcClient<S> {
    const methods = service.methods.map((method) => [
      method.localName,
      method.methodKind === "unary"
        ? (request: MessageInitShape<DescMessage>, options?: RpcCallOptions) =>
            this.#traced(method, () => this.#unary(method, request, options ?? {}))
        : (request: MessageInitShape<DescMessage>, options?: RpcCallOptions) =>
            this.#stream(method, request, options ?? {}),
    ]);
    return Object.fromEntries(methods) as RpcClient<S>;
  }

  /** Closes the connection and cancels running calls. Idempotent. */
  close(): void {
    this.#client.close();
  }

  #traced<T>(method: DescMethod, work: () => Promise<T>): Promise<T> {
    const { tracer = NOOP_TRACER, address, name } = this.#options;
    const { attributes, ...span } = callSpan("client", methodPath(method));
    const at = address.lastIndexOf(":");
    const peer = { "server.address": address.slice(0, at), "server.port": Number(address.slice(at + 1)) };
    return tracer.run(
      { ...span, childOnly: true, attributes: { ...attributes, ...peer, "oaas.peer": name } },
      async (running) => {
        try {
          const reply = await work();
          running.set({ "rpc.grpc.status_code": 0 });
          return reply;
        } catch (thrown) {
          running.set({ "rpc.grpc.status_code": faultToStatus(Fault.from(thrown)).code });
          throw thrown;
        }
      },
    );
  }

  #unary(
    method: DescMethod,
    request: MessageInitShape<DescMessage>,
    options: RpcCallOptions,
  ): Promise<MessageShape<DescMessage>> {
    const { signal } = options;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(abortFault(signal));
        return;
      }
      const onAbort = (): void => {
        call.cancel();
        reject(abortFault(signal as AbortSignal));
      };
      const call = this.#client.makeUnaryRequest(
        methodPath(method),
        (message: MessageShape<DescMessage>) => encodeMessage(method.input, message),
        (bytes: Buffer) => bytes,
        create(method.input, request),
        this.#metadata(options),
        { deadline: this.#deadline(options) },
        (error, bytes) => {
          signal?.removeEventListener("abort", onAbort);
          if (error) reject(this.#fault(method, error));
          else this.#resolveReply(method, bytes as Buffer, resolve, reject);
        },
      );
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  async *#stream(
    method: DescMethod,
    request: MessageInitShape<DescMessage>,
    options: RpcCallOptions,
  ): AsyncGenerator<MessageShape<DescMessage>> {
    const { signal } = options;
    if (signal?.aborted) throw abortFault(signal);
    const call = this.#client.makeServerStreamRequest(
      methodPath(method),
      (message: MessageShape<DescMessage>) => encodeMessage(method.input, message),
      (bytes: Buffer) => bytes,
      create(method.input, request),
      this.#metadata(options),
      options.deadlineMs === undefined ? {} : { deadline: this.#deadline(options) },
    );
    const onAbort = (): void => call.cancel();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      for await (const bytes of call) yield this.#decode(method, bytes as Buffer);
    } catch (error) {
      if (signal?.aborted) throw abortFault(signal);
      throw error instanceof Fault ? error : this.#fault(method, error as ServiceError);
    } finally {
      signal?.removeEventListener("abort", onAbort);
      call.cancel();
    }
  }

  #metadata({ headers }: RpcCallOptions): Metadata {
    const metadata = new Metadata();
    const context = (this.#options.context ?? NOOP_CONTEXT).current();
    for (const [key, value] of Object.entries({ ...headersFromContext(context), ...headers })) metadata.set(key, value);
    const token = this.#options.token?.();
    if (token !== undefined) metadata.set(METADATA_KEYS.authorization, `Bearer ${token}`);
    return metadata;
  }

  #deadline({ deadlineMs }: RpcCallOptions): number {
    return this.#options.clock.now() + (deadlineMs ?? this.#options.deadlineMs ?? 15_000);
  }

  /** Catches decoding errors: an exception in the callback of grpc-js would end the process. */
  #resolveReply(
    method: DescMethod,
    bytes: Buffer,
    resolve: (message: MessageShape<DescMessage>) => void,
    reject: (fault: unknown) => void,
  ): void {
    try {
      resolve(this.#decode(method, bytes));
    } catch (fault) {
      reject(fault);
    }
  }

  #decode(method: DescMethod, bytes: Buffer): MessageShape<DescMessage> {
    try {
      return fromBinary(method.output, bytes);
    } catch (error) {
      const { name } = this.#options;
      throw unavailable(name, `${name} returned a response to ${method.name} that cannot be decoded`, {
        cause: error,
        context: { peer: name },
      });
    }
  }

  #fault(method: DescMethod, error: ServiceError): Error {
    const status = {
      code: error.code,
      message: error.details ?? error.message,
      ...(error.metadata ? { metadata: error.metadata } : {}),
    };
    return faultFromStatus(status, { peer: this.#options.name, resource: method.name });
  }
}

function channelCredentials(tls: ChannelTls | undefined): ChannelCredentials {
  if (!tls) return credentials.createInsecure();
  const bytes = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  return credentials.createSsl(
    bytes(tls.ca),
    bytes(tls.key),
    bytes(tls.certificate),
    tls.insecure ? { rejectUnauthorized: false } : {},
  );
}
