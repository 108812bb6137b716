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
 * What becomes of a call: served; refused before anything is done; never answered; served late, by the clock (slow) or when something else
 * has come about (hold); done, and then the connection cut before the answer (lose-answer), or the answer withheld (swallow-answer); the
 * connection cut before anything is done.
 */
export type Fate =
  | { readonly do: "serve" }
  | { readonly do: "fail"; readonly fault: Fault }
  | { readonly do: "hang" }
  | { readonly do: "slow"; readonly ms: number }
  | { readonly do: "hold"; readonly until: Promise<void> }
  | { readonly do: "lose-answer" }
  | { readonly do: "swallow-answer" }
  | { readonly do: "cut" };

/** One call as the cluster saw it. */
export interface RecordedCall {
  readonly method: ScriptedMethod;
  /** The unit it was about, where it was about one. */
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
  /** What it calls itself. Default "scripted". */
  readonly name?: string;
  /** rust: no watch, explain, paging tokens, digests or filters, and Deploy never updates. */
  readonly flavour?: "ours" | "rust";
  readonly tls?: TlsOptions;
  readonly facts?: Partial<ClusterFacts>;
}

/**
 * A class runtime manager that does as it is told, on a real socket of loopback: a cluster for tests that must fail.
 *
 * It keeps units truly, so that what was lost, doubled or left behind shows in `units`.
 */
export class ScriptedCrm {
  readonly units: ScriptedUnits;
  readonly calls: RecordedCall[] = [];
  /** What health answers say; change at will. */
  facts: ClusterFacts;
  /** Asked about every call before what is queued or stands. */
  decide: ((call: RecordedCall) => Fate | undefined) | undefined;
  readonly #options: ScriptedCrmOptions;
  readonly #rpc: RpcServer;
  readonly #queued = new Map<ScriptedMethod, Fate[]>();
  readonly #standing = new Map<ScriptedMethod, Fate>();
  readonly #sockets = new Set<Socket>();
  readonly #underWay = new Map<string, number>();
  readonly #mostAtOnce = new Map<string, number>();
  #server: Server | undefined;
  #port = 0;
  #mute = false;

  private constructor(options: ScriptedCrmOptions) {
    this.#options = options;
    const name = options.name ?? "scripted";
    const rust = options.flavour === "rust";
    this.units = new ScriptedUnits(`oaas-${name}`, rust);
    this.facts = { name, status: "Healthy", nodeCount: 3, readyNodes: 3, availability: 0.99, ...options.facts };
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

  /** From now on, until `heal`; of all methods, or of these. */
  always(fate: Fate, ...methods: readonly ScriptedMethod[]): void {
    for (const method of methods.length === 0 ? SCRIPTED_METHODS : methods) this.#standing.set(method, fate);
  }

  /** The next calls of a method, one fate each, before what stands. */
  next(method: ScriptedMethod, ...fates: readonly Fate[]): void {
    this.#queued.set(method, [...(this.#queued.get(method) ?? []), ...fates]);
  }

  /** Serves everything again. */
  heal(): void {
    this.#queued.clear();
    this.#standing.clear();
    this.#mute = false;
  }

  /** Cuts every connection and refuses new ones. */
  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
    this.cut();
    await closed;
  }

  /** Listens again, on the port it had. */
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

  /** Ends every connection; new ones are welcome. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Half open: connections are accepted and nothing is ever answered on them, until `heal`. */
  mute(): void {
    this.#mute = true;
    this.cut();
  }

  /** The calls of one method, in order. */
  callsOf(method: ScriptedMethod): RecordedCall[] {
    return this.calls.filter((call) => call.method === method);
  }

  /** The most calls of a method that were under way together. */
  mostAtOnce(method: ScriptedMethod): number {
    return this.#mostAtOnce.get(method) ?? 0;
  }

  /** Repeatable. */
  async close(): Promise<void> {
    await this.down();
    this.#rpc.grpc.forceShutdown();
  }

  async #act<T>(method: ScriptedMethod, request: unknown, call: Call, work: () => T): Promise<T> {
    const recorded = this.#record(method, request, call);
    const fate = this.decide?.(recorded) ??
      this.#queued.get(method)?.shift() ??
      this.#standing.get(method) ?? { do: "serve" };
    const underWay = (this.#underWay.get(method) ?? 0) + 1;
    this.#underWay.set(method, underWay);
    this.#mostAtOnce.set(method, Math.max(underWay, this.#mostAtOnce.get(method) ?? 0));
    try {
      return await this.#meet(fate, call, work);
    } finally {
      this.#underWay.set(method, (this.#underWay.get(method) ?? 1) - 1);
    }
  }

  async #meet<T>(fate: Fate, call: Call, work: () => T): Promise<T> {
    switch (fate.do) {
      case "serve":
        return work();
      case "fail":
        throw fate.fault;
      case "hang":
        return forEver(call.signal);
      case "slow":
        await sleep(realAmbient.timers, fate.ms, call.signal);
        return work();
      case "hold":
        await orAbort(fate.until, call.signal);
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
