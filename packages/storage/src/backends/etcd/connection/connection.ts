import { create, fromBinary, toBinary, type DescMessage, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import { abortFault, backoffDelay, deadlineExceeded, sleep, type Fault } from "@oaas/foundation";
import { Auth, AuthenticateRequestSchema } from "../../../gen/etcd_pb.ts";
import { closedFault } from "../../../port/store-faults.ts";
import { Channel, type CallHeaders } from "./channel.ts";
import { CredentialFiles } from "./credentials.ts";
import { parseEndpoints } from "./endpoints.ts";
import { judge, type Verdict } from "./etcd-faults.ts";
import type { EtcdStoreOptions } from "../options.ts";

/** Path and codecs of a method. */
export interface Method<I extends DescMessage, O extends DescMessage> {
  readonly path: string;
  readonly encode: (message: MessageShape<I>) => Uint8Array;
  readonly decode: (bytes: Buffer) => MessageShape<O>;
}

export function methodOf<I extends DescMessage, O extends DescMessage>(
  description: DescMethod & { readonly input: I; readonly output: O },
): Method<I, O> {
  return {
    path: `/${description.parent.typeName}/${description.name}`,
    encode: (message) => toBinary(description.input, message),
    decode: (bytes) => fromBinary(description.output, bytes),
  };
}

export interface CallRules {
  readonly signal?: AbortSignal | undefined;
  /** Monotonic time of the last attempt. */
  readonly endsAt: number;
  /** A write must not be repeated if it may have been received. */
  readonly isWrite?: boolean;
  /** Resolves the outcome of an earlier request: repeated until its deadline, even while etcd is unavailable. */
  readonly resolvesOutcome?: boolean;
  /** Called before each attempt is sent. */
  readonly onSend?: () => void;
}

/** A write that was sent without a response. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

const AUTHENTICATE = methodOf(Auth.method.authenticate);
/** etcd is unavailable after this time without a response; longer than an election. */
const AWAY_AFTER_MS = 5_000;
const RETRY = { baseMs: 50, capMs: 1000, factor: 2, jitter: 0.5 };

/** A stream of typed messages in both directions. */
export interface TypedStream<I extends DescMessage, O extends DescMessage> {
  readonly send: (message: MessageShape<I>) => void;
  readonly messages: AsyncIterable<MessageShape<O>>;
  readonly cancel: () => void;
  /** Endpoint of the stream. */
  readonly endpoint: number;
}

/**
 * A logical connection to an etcd cluster: endpoint selection, authentication and retries.
 *
 * Guarantees: every call ends by its deadline. After a failure the next endpoint is used. A rejected token is fetched
 * again, once per call. A write is repeated only if it cannot have been received. While etcd is known to be
 * unavailable, each call tries every endpoint once and fails.
 */
export class EtcdConnection {
  readonly #options: EtcdStoreOptions;
  readonly #addresses: readonly string[];
  readonly #files: CredentialFiles;
  readonly #channels = new Map<string, { readonly generation: number; readonly channel: Channel }>();
  readonly #stops = new Set<(reason: Fault) => void>();
  readonly attemptTimeoutMs: number;
  #current = 0;
  #token: Promise<string> | undefined;
  #closed = false;
  #answeredBefore = false;
  /** Time of the first failure since the last response. */
  #silentSince: number | undefined;

  constructor(options: EtcdStoreOptions) {
    const { addresses, tls } = parseEndpoints(options.endpoints, options.tls !== undefined);
    this.#options = options;
    this.#addresses = addresses;
    this.attemptTimeoutMs = options.attemptTimeoutMs ?? 2500;
    this.#files = new CredentialFiles(tls ? (options.tls ?? {}) : undefined, options.ambient.clock, (fault) =>
      options.onIncident?.({ what: "certificates not reloaded", fault }),
    );
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Calls a method with retries. */
  async call<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    request: MessageShape<I>,
    rules: CallRules,
  ): Promise<MessageShape<O>> {
    const { clock, timers, random } = this.#options.ambient;
    let authenticated = false;
    for (let attempt = 0; ; attempt += 1) {
      if (this.#closed) throw closedFault();
      if (rules.signal?.aborted) throw abortFault(rules.signal);
      const at = this.#current;
      let sent = false;
      try {
        const headers = await this.headers(rules);
        const left = rules.endsAt - clock.monotonic();
        sent = true;
        rules.onSend?.();
        const answer = await this.#once(method, request, headers, Math.min(left, this.attemptTimeoutMs), rules.signal);
        this.#answeredBefore = true;
        this.#silentSince = undefined;
        return answer;
      } catch (thrown) {
        const failure = judge(thrown);
        if (failure.do === "authenticate" && this.#options.auth !== undefined && !authenticated) {
          authenticated = true;
          this.#token = undefined;
          continue;
        }
        if (failure.do !== "try-elsewhere") throw failure.fault;
        this.leave(at, failure.fault);
        this.#silentSince ??= clock.monotonic();
        if (rules.isWrite && sent && failure.sent) throw new Unanswered(failure.fault);
        if (this.#isUnavailable() && attempt + 1 >= this.#addresses.length && !rules.resolvesOutcome)
          throw failure.fault;
        const pause = backoffDelay(RETRY, Math.floor(attempt / this.#addresses.length), random);
        if (clock.monotonic() + pause >= rules.endsAt) throw failure.fault;
        await sleep(timers, pause, rules.signal);
      }
    }
  }

  /** Opens a stream at the current endpoint. The caller ends it and changes the endpoint. */
  async stream<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    rules: CallRules,
  ): Promise<TypedStream<I, O>> {
    // Without "hasleader" a partitioned member keeps the stream open without events.
    const headers = { ...(await this.headers(rules)), hasleader: "true" };
    if (this.#closed) throw closedFault();
    const endpoint = this.#current;
    const call = this.#channel(endpoint).stream(method.path, headers);
    return {
      endpoint,
      send: (message) => call.send(method.encode(message)),
      messages: decoded(call.messages, method),
      cancel: call.cancel,
    };
  }

  /** Classifies a failure. Discards the token if it was rejected. */
  assess(thrown: unknown): Verdict {
    if (this.#closed) return { do: "give-up", fault: closedFault() };
    const failure = judge(thrown);
    if (failure.do === "authenticate") this.#token = undefined;
    return failure;
  }

  /** Selects the next endpoint, unless another call already has. */
  leave(endpoint: number, fault: Fault): void {
    if (this.#current !== endpoint) return;
    this.#current = (endpoint + 1) % this.#addresses.length;
    const address = this.#addresses[endpoint];
    this.#options.onIncident?.({
      what: "endpoint left",
      fault,
      ...(address === undefined ? {} : { endpoint: address }),
    });
  }

  /** Returns the headers of a call, with a token if authentication is enabled. */
  async headers(rules: CallRules): Promise<CallHeaders> {
    if (this.#options.auth === undefined) return {};
    this.#token ??= this.#authenticate(rules.endsAt);
    const token = this.#token;
    try {
      return { token: await token };
    } catch (thrown) {
      if (this.#token === token) this.#token = undefined;
      throw thrown;
    }
  }

  close(): void {
    this.#closed = true;
    for (const stop of this.#stops) stop(closedFault());
    for (const { channel } of this.#channels.values()) channel.destroy();
    this.#channels.clear();
  }

  #isUnavailable(): boolean {
    const silent = this.#options.ambient.clock.monotonic() - (this.#silentSince ?? Number.POSITIVE_INFINITY);
    return this.#answeredBefore && silent >= AWAY_AFTER_MS;
  }

  /**
   * Fetches a token. etcd hashes the password, which takes long on a busy machine, and a repeated request would hash it
   * again: a slow endpoint is left only when it does not answer a ping.
   */
  async #authenticate(endsAt: number): Promise<string> {
    const { clock, timers } = this.#options.ambient;
    const { username: name, password } = this.#options.auth as { username: string; password: string };
    const request = create(AuthenticateRequestSchema, { name, password });
    const endpoint = this.#current;
    const slow = timers.after(this.attemptTimeoutMs, () => this.#channel(endpoint).check());
    try {
      return (await this.#once(AUTHENTICATE, request, {}, endsAt - clock.monotonic(), undefined)).token;
    } finally {
      slow.cancel();
    }
  }

  async #once<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    request: MessageShape<I>,
    headers: CallHeaders,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<MessageShape<O>> {
    const channel = this.#channel(this.#current);
    const call = channel.unary(method.path, method.encode(request), headers);
    let reason: Fault | undefined;
    const stop = (fault: Fault): void => {
      reason = fault;
      call.cancel();
    };
    const onAbort = (): void => stop(abortFault(signal as AbortSignal));
    const timer = this.#options.ambient.timers.after(Math.max(0, timeoutMs), () => {
      stop(deadlineExceeded(timeoutMs));
      channel.check();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#stops.add(stop);
    try {
      return method.decode(await call.answer);
    } catch (thrown) {
      throw reason ?? thrown;
    } finally {
      timer.cancel();
      signal?.removeEventListener("abort", onAbort);
      this.#stops.delete(stop);
    }
  }

  #channel(endpoint: number): Channel {
    const address = this.#addresses[endpoint] as string;
    const { generation, tls } = this.#files.current();
    const known = this.#channels.get(address);
    if (known?.generation === generation) return known.channel;
    known?.channel.retire();
    const channel = new Channel(address, tls, this.#options.ambient.timers);
    this.#channels.set(address, { generation, channel });
    return channel;
  }
}

async function* decoded<I extends DescMessage, O extends DescMessage>(
  messages: AsyncIterable<Buffer>,
  method: Method<I, O>,
): AsyncGenerator<MessageShape<O>, void, undefined> {
  for await (const message of messages) yield method.decode(message);
}
