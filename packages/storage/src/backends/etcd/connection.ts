import { create, fromBinary, toBinary, type DescMessage, type DescMethod, type MessageShape } from "@bufbuild/protobuf";
import { abortFault, backoffDelay, deadlineExceeded, sleep, type Fault } from "@oaas/foundation";
import { Auth, AuthenticateRequestSchema } from "../../gen/etcd_pb.ts";
import { closedFault } from "../../port/store-faults.ts";
import { Channel, type CallHeaders } from "./channel.ts";
import { CredentialFiles } from "./credentials.ts";
import { parseEndpoints } from "./endpoints.ts";
import { judge, type Verdict } from "./etcd-faults.ts";
import type { EtcdStoreOptions } from "./options.ts";

/** A method's path and its two codecs. */
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
  /** Monotonic time after which no further try is made. */
  readonly endsAt: number;
  /** A write must not be repeated once it may have arrived. */
  readonly isWrite?: boolean;
  /** Something sent before hangs on it: tried until its time is up, however long etcd has been away. */
  readonly settles?: boolean;
  /** Told just before each try is sent. */
  readonly onSend?: () => void;
}

/** A write that was sent and got no answer. */
export class Unanswered extends Error {
  override readonly name = "Unanswered";
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

const AUTHENTICATE = methodOf(Auth.method.authenticate);
/** Longer than an election: an etcd that has answered nobody for so long is away. */
const AWAY_AFTER_MS = 5_000;
const RETRY = { baseMs: 50, capMs: 1000, factor: 2, jitter: 0.5 };

/** A stream of typed messages in both directions. */
export interface TypedStream<I extends DescMessage, O extends DescMessage> {
  readonly send: (message: MessageShape<I>) => void;
  readonly messages: AsyncIterable<MessageShape<O>>;
  readonly cancel: () => void;
  /** Which endpoint it runs on. */
  readonly endpoint: number;
}

/**
 * One logical connection to an etcd cluster: which endpoint is in use, who we are, and what is tried again.
 *
 * Guarantees: every call ends by its time; an endpoint that fails is left for the next; a token etcd refuses is
 * fetched anew, once per call; a write is repeated only when it cannot have arrived. When an etcd that had answered is away, nobody
 * waits for it any more: each endpoint is tried once.
 */
export class EtcdConnection {
  readonly #options: EtcdStoreOptions;
  readonly #addresses: readonly string[];
  readonly #files: CredentialFiles;
  readonly #channels = new Map<string, { readonly generation: number; readonly channel: Channel }>();
  readonly #stops = new Set<(why: Fault) => void>();
  readonly attemptTimeoutMs: number;
  #current = 0;
  #token: Promise<string> | undefined;
  #closed = false;
  #answeredBefore = false;
  /** When the first try failed after which there was no answer. */
  #silentSince: number | undefined;

  constructor(options: EtcdStoreOptions) {
    const { addresses, tls } = parseEndpoints(options.endpoints, options.tls !== undefined);
    this.#options = options;
    this.#addresses = addresses;
    this.attemptTimeoutMs = options.attemptTimeoutMs ?? 2500;
    this.#files = new CredentialFiles(tls ? (options.tls ?? {}) : undefined, options.ambient.clock, (fault) =>
      options.onTrouble?.({ what: "certificates not reloaded", fault }),
    );
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Calls until it is answered, by the rules. */
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
      try {
        const left = rules.endsAt - clock.monotonic();
        const headers = await this.headers(rules);
        rules.onSend?.();
        const answer = await this.#once(method, request, headers, Math.min(left, this.attemptTimeoutMs), rules.signal);
        this.#answeredBefore = true;
        this.#silentSince = undefined;
        return answer;
      } catch (thrown) {
        const verdict = judge(thrown);
        if (verdict.do === "authenticate" && this.#options.auth !== undefined && !authenticated) {
          authenticated = true;
          this.#token = undefined;
          continue;
        }
        if (verdict.do !== "try-elsewhere") throw verdict.fault;
        this.leave(at, verdict.fault);
        this.#silentSince ??= clock.monotonic();
        if (rules.isWrite && verdict.sent) throw new Unanswered(verdict.fault);
        if (this.#isAway() && attempt + 1 >= this.#addresses.length && !rules.settles) throw verdict.fault;
        const pause = backoffDelay(RETRY, Math.floor(attempt / this.#addresses.length), random);
        if (clock.monotonic() + pause >= rules.endsAt) throw verdict.fault;
        await sleep(timers, pause, rules.signal);
      }
    }
  }

  /** Opens a stream at the endpoint in use. Its end, and leaving the endpoint, are the caller's matter. */
  async stream<I extends DescMessage, O extends DescMessage>(
    method: Method<I, O>,
    rules: CallRules,
  ): Promise<TypedStream<I, O>> {
    // Without "hasleader" a member that lost its cluster keeps the stream open and silent.
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

  /** What a failed call or stream means; forgets the token when that was the trouble. */
  assess(thrown: unknown): Verdict {
    if (this.#closed) return { do: "give-up", fault: closedFault() };
    const verdict = judge(thrown);
    if (verdict.do === "authenticate") this.#token = undefined;
    return verdict;
  }

  /** Goes on to the next endpoint, unless somebody else did already. */
  leave(endpoint: number, fault: Fault): void {
    if (this.#current !== endpoint) return;
    this.#current = (endpoint + 1) % this.#addresses.length;
    const address = this.#addresses[endpoint];
    this.#options.onTrouble?.({
      what: "endpoint left",
      fault,
      ...(address === undefined ? {} : { endpoint: address }),
    });
  }

  /** The headers of a call, with the token where one is needed. */
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

  #isAway(): boolean {
    const silent = this.#options.ambient.clock.monotonic() - (this.#silentSince ?? Number.POSITIVE_INFINITY);
    return this.#answeredBefore && silent >= AWAY_AFTER_MS;
  }

  async #authenticate(endsAt: number): Promise<string> {
    const { username: name, password } = this.#options.auth as { username: string; password: string };
    const left = Math.min(endsAt - this.#options.ambient.clock.monotonic(), this.attemptTimeoutMs);
    const request = create(AuthenticateRequestSchema, { name, password });
    return (await this.#once(AUTHENTICATE, request, {}, left, undefined)).token;
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
    let why: Fault | undefined;
    const stop = (fault: Fault): void => {
      why = fault;
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
      throw why ?? thrown;
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
