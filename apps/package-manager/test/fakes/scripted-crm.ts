import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { METADATA_KEYS } from "@oaas/contracts/grpc";
import { abortFault, orAbort, sleep, type Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { RpcServer, type Call } from "@oaas/rpc";
import { SCRIPTED_METHODS, scriptedServices, type ClusterFacts, type ScriptedMethod } from "./scripted-services.ts";
import { ScriptedUnits } from "./scripted-units.ts";

export type { ScriptedMethod };

/**
 * The scripted behaviour of a call.
 *
 * - `fail` rejects it without an effect, `hang` never responds, `cut` closes the connection without an effect.
 * - `slow` and `hold` serve it after a time or an event.
 * - `lose-answer` and `swallow-answer` perform the effect, then close the connection or never respond.
 */
export type Behaviour =
  | { readonly do: "serve" }
  | { readonly do: "fail"; readonly fault: Fault }
  | { readonly do: "hang" }
  | { readonly do: "slow"; readonly ms: number }
  | { readonly do: "hold"; readonly until: Promise<void> }
  | { readonly do: "lose-answer" }
  | { readonly do: "swallow-answer" }
  | { readonly do: "cut" };

/** One received call. */
export interface RecordedCall {
  readonly method: ScriptedMethod;
  /** The unit of the call, if it has one. */
  readonly unitId: string | undefined;
  readonly request: unknown;
  readonly correlationId: string;
  readonly traceparent: string | undefined;
  readonly authorization: string | undefined;
  /** Undefined when the caller set no deadline. */
  readonly remainingMs: number | undefined;
  /** The common name of the client's certificate. */
  readonly certificate: string | undefined;
}

export interface ScriptedCrmOptions {
  /** The reported cluster name. Default "scripted". */
  readonly name?: string;
  /** rust: no watch, explain, paging tokens, digests or filters, and Deploy never updates. */
  readonly flavour?: "ours" | "rust";
  readonly tls?: TlsOptions;
  readonly facts?: Partial<ClusterFacts>;
}

/**
 * A class runtime manager with scripted failures on a real loopback socket.
 *
 * It stores units like a real one, so that lost, duplicated and leftover units show in `units`.
 */
export class ScriptedCrm {
  readonly units: ScriptedUnits;
  readonly calls: RecordedCall[] = [];
  /** The reported health; tests may change it. */
  facts: ClusterFacts;
  /** Decides about every call, before queued and permanent behaviours. */
  decide: ((call: RecordedCall) => Behaviour | undefined) | undefined;
  readonly #options: ScriptedCrmOptions;
  readonly #rpc: RpcServer;
  readonly #queued = new Map<ScriptedMethod, Behaviour[]>();
  readonly #permanent = new Map<ScriptedMethod, Behaviour>();
  readonly #sockets = new Set<Socket>();
  readonly #inProgress = new Map<string, number>();
  readonly #maxConcurrent = new Map<string, number>();
  #server: Server | undefined;
  #port = 0;
  #mute = false;

  private constructor(options: ScriptedCrmOptions) {
    this.#options = options;
    const name = options.name ?? "scripted";
    const rust = options.flavour === "rust";
    this.units = new ScriptedUnits(`oaas-${name}`, rust);
    this.facts = {
      name,
      status: "Healthy",
      nodeCount: 3,
      readyNodes: 3,
      availability: 0.99,
      ...(rust ? {} : { report: { dataPlaneNetwork: "shared" } }),
      ...options.facts,
    };
    this.#rpc = new RpcServer({
      services: scriptedServices({
        rust,
        units: this.units,
        facts: () => this.facts,
        act: (method, request, call, work) => this.#act(method, request, call, work),
      }),
      ambient: realAmbient,
    });
  }

  /** Starts serving on a free port. */
  static async start(options: ScriptedCrmOptions = {}): Promise<ScriptedCrm> {
    const crm = new ScriptedCrm(options);
    await crm.up();
    return crm;
  }

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `${this.#options.tls === undefined ? "http" : "https"}://127.0.0.1:${this.#port}`;
  }

  /** Open connections. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Sets the behaviour of all or some methods until `heal`. */
  always(behaviour: Behaviour, ...methods: readonly ScriptedMethod[]): void {
    for (const method of methods.length === 0 ? SCRIPTED_METHODS : methods) this.#permanent.set(method, behaviour);
  }

  /** Queues behaviours for the next calls of a method. */
  next(method: ScriptedMethod, ...behaviours: readonly Behaviour[]): void {
    this.#queued.set(method, [...(this.#queued.get(method) ?? []), ...behaviours]);
  }

  /** Serves everything again. */
  heal(): void {
    this.#queued.clear();
    this.#permanent.clear();
    this.#mute = false;
  }

  /** Closes every connection and the listener. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    this.cut();
    await closed;
  }

  /** Listens again on the same port. */
  async up(): Promise<void> {
    if (this.#server !== undefined) return;
    const injector = this.#rpc.grpc.createConnectionInjector(RpcServer.injected);
    const accept = (socket: Socket): void => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      socket.on("error", () => socket.destroy());
      if (!this.#mute) injector.injectConnection(socket);
    };
    const { tls } = this.#options;
    const server =
      tls === undefined ? createServer(accept) : createTlsServer({ ...tls, ALPNProtocols: ["h2"] }, accept);
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
  }

  /** Closes every connection; new ones are accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Accepts connections without ever responding, until `heal`. */
  mute(): void {
    this.#mute = true;
    this.cut();
  }

  /** The calls of one method, in order. */
  callsOf(method: ScriptedMethod): RecordedCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** The highest number of concurrent calls of a method. */
  mostAtOnce(method: ScriptedMethod): number {
    return this.#maxConcurrent.get(method) ?? 0;
  }

  /** Can be called twice. */
  async close(): Promise<void> {
    await this.down();
    this.#rpc.grpc.forceShutdown();
  }

  async #act<T>(method: ScriptedMethod, request: unknown, call: Call, work: () => T): Promise<T> {
    const recorded = this.#record(method, request, call);
    const behaviour = this.decide?.(recorded) ??
      this.#queued.get(method)?.shift() ??
      this.#permanent.get(method) ?? { do: "serve" };
    const underWay = (this.#inProgress.get(method) ?? 0) + 1;
    this.#inProgress.set(method, underWay);
    this.#maxConcurrent.set(method, Math.max(underWay, this.#maxConcurrent.get(method) ?? 0));
    try {
      return await this.#meet(behaviour, call, work);
    } finally {
      this.#inProgress.set(method, (this.#inProgress.get(method) ?? 1) - 1);
    }
  }

  async #meet<T>(behaviour: Behaviour, call: Call, work: () => T): Promise<T> {
    switch (behaviour.do) {
      case "serve":
        return work();
      case "fail":
        throw behaviour.fault;
      case "hang":
        return forEver(call.signal);
      case "slow":
        await sleep(realAmbient.timers, behaviour.ms, call.signal);
        return work();
      case "hold":
        await orAbort(behaviour.until, call.signal);
        return work();
      case "lose-answer":
        work();
        this.cut();
        return forEver(call.signal);
      case "swallow-answer":
        work();
        return forEver(call.signal);
      case "cut":
        this.cut();
        return forEver(call.signal);
    }
  }

  #record(method: ScriptedMethod, request: unknown, call: Call): RecordedCall {
    const { deploymentId, deploymentUnit } = request as { deploymentId?: string; deploymentUnit?: { id: string } };
    const recorded: RecordedCall = {
      method,
      unitId: deploymentUnit?.id ?? deploymentId,
      request,
      correlationId: call.correlationId,
      traceparent: call.header(METADATA_KEYS.traceparent),
      authorization: call.header(METADATA_KEYS.authorization),
      remainingMs: call.remainingMs(),
      certificate: call.peer.certificate?.commonName,
    };
    this.calls.push(recorded);
    return recorded;
  }
}

function forEver(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(abortFault(signal));
    else signal.addEventListener("abort", () => reject(abortFault(signal)), { once: true });
  });
}
