import {
  DeployOutcome,
  METADATA_KEYS,
  StatusCode,
  type DeploymentUnit,
  type DeployResponse,
} from "@oaas/contracts/grpc";
import type { FindingWire } from "@oaas/contracts/rest";
import { Fault, invalidArgument, isFault, notFound, ROOT_PATH, unavailable, type Ambient } from "@oaas/foundation";
import type { ClusterHealth, ClusterName, Topology, UnitId } from "@oaas/models";
import { NOOP_CONTEXT, NOOP_LOGGER, NOOP_METER, type ContextStore, type Logger, type Meter } from "@oaas/observability";
import type { RpcCallOptions } from "@oaas/rpc";
import type { CallOptions, CrmGateway, RemoveOptions, RuntimeChange, RuntimeQuery, UnitReport } from "../../ports.ts";
import type { ClusterRegistration } from "../../use-cases.ts";
import type { BreakerState } from "./guard/circuit-breaker.ts";
import { ClusterGuard, DEFAULT_GUARD, withClusterName, peerName, type GuardPolicy } from "./guard/cluster-guard.ts";
import { replaceUnit, SentDigests } from "./calls/replace-unit.ts";
import { CrmConnection, type CrmServices } from "./connection/crm-connection.ts";
import { findingFromWire, topologyFromWire } from "./wire/facts-from-wire.ts";
import { queryHealth } from "./calls/query-health.ts";
import { listRuntimes } from "./calls/list-runtimes.ts";
import { reportFromWire } from "./wire/report-from-wire.ts";
import { nodeSecretFiles, type SecretFiles } from "./connection/secret-files.ts";
import { crmCallMetrics, type CrmCallMetrics } from "./call-metrics.ts";
import { watchRuntimes } from "./calls/watch-runtimes.ts";

/** Where the gateway finds clusters, and hears that one went or is another now. */
export interface RegistrationSource {
  registration(name: ClusterName): ClusterRegistration | undefined;
  onChange(listener: (name: ClusterName) => void): () => void;
}

export interface CrmGatewayOptions {
  readonly clusters: RegistrationSource;
  readonly ambient: Ambient;
  readonly context?: ContextStore;
  readonly meter?: Meter;
  readonly logger?: Logger;
  readonly files?: SecretFiles;
  readonly guard?: GuardPolicy;
}

/** How long calls may take in clusters that say nothing of it. */
const READ_MS = 5_000;
const WRITE_MS = 15_000;
/** A question about health is given up after this long, whatever else a cluster may take its time for. */
const HEALTH_MS = 30_000;

/** Everything kept of one cluster. */
interface ClusterState {
  readonly link: CrmConnection;
  readonly guard: ClusterGuard;
  readonly sent: SentDigests;
  /** Deploy never updates there; undefined until the peer has shown it. */
  createOnly: boolean | undefined;
}

const BREAKER_VALUE = { closed: 0, "half-open": 1, open: 2 } as const satisfies Record<BreakerState, number>;

/** The class runtime managers over gRPC; see the port for what it promises. Connects when first used; close it at the end. */
export class GrpcCrmGateway implements CrmGateway {
  readonly #options: CrmGatewayOptions;
  readonly #metrics: CrmCallMetrics;
  readonly #known = new Map<ClusterName, ClusterState>();
  readonly #unsubscribe: () => void;

  constructor(options: CrmGatewayOptions) {
    this.#options = options;
    this.#metrics = crmCallMetrics(options.meter ?? NOOP_METER);
    this.#unsubscribe = options.clusters.onChange((name) => this.#forget(name));
  }

  /** How the breaker of a cluster stands. */
  breaker(cluster: ClusterName): BreakerState {
    return this.#known.get(cluster)?.guard.state ?? "closed";
  }

  async deploy(cluster: ClusterName, unit: DeploymentUnit, options?: CallOptions): Promise<void> {
    await this.#call(cluster, "Deploy", { ms: WRITE_MS, ...options }, async (services, call, known) => {
      if (known.createOnly === true) return this.#replace(services, unit, call, known);
      const reply = await services.deployments.deploy({ deploymentUnit: unit }, call);
      checkReply(cluster, reply.status, reply.message);
      known.createOnly ??= isCreateOnly(reply);
      if (!known.createOnly) return;
      // The first we hear of it. What was there before this call may be there still.
      if (unit.revision === undefined || unit.revision <= 1n) known.sent.set(unit.id, unit.digest ?? "");
      else await this.#replace(services, unit, call, known);
    });
  }

  async remove(cluster: ClusterName, unitId: UnitId, options: RemoveOptions = {}): Promise<void> {
    const { revision, ...rest } = options;
    const request = { deploymentId: unitId, ...(revision === undefined ? {} : { revision: BigInt(revision) }) };
    await this.#call(cluster, "DeleteDeployment", { ms: WRITE_MS, ...rest }, async (services, call, known) => {
      known.sent.delete(unitId);
      const reply = await unlessMissing(services.deployments.deleteDeployment(request, call));
      if (reply !== undefined) checkReply(cluster, reply.status, reply.message);
    });
  }

  async unit(cluster: ClusterName, unitId: UnitId, options?: CallOptions): Promise<UnitReport | undefined> {
    return this.#call(cluster, "GetClassRuntime", { ms: READ_MS, ...options }, async ({ deployments }, call) => {
      const reply = await unlessMissing(deployments.getClassRuntime({ deploymentId: unitId }, call));
      return reply?.deployment && reportFromWire(cluster, reply.deployment);
    });
  }

  runtimes(cluster: ClusterName, query: RuntimeQuery, options?: CallOptions): AsyncIterable<UnitReport> {
    return listRuntimes(cluster, query, (request) =>
      this.#call(cluster, "ListClassRuntimes", { ms: READ_MS, ...options }, ({ deployments }, call) =>
        deployments.listClassRuntimes(request, call),
      ),
    );
  }

  async *watch(cluster: ClusterName, options?: CallOptions): AsyncGenerator<RuntimeChange> {
    try {
      const services = this.#of(cluster).link.services();
      yield* watchRuntimes(
        cluster,
        services.deployments.watchClassRuntimes({}, { ...options, headers: this.#headers() }),
      );
    } catch (thrown) {
      throw withClusterName(cluster, Fault.from(thrown));
    }
  }

  async explain(cluster: ClusterName, unitId: UnitId, options?: CallOptions): Promise<FindingWire | undefined> {
    return this.#call(cluster, "ExplainClassRuntime", { ms: READ_MS, ...options }, async ({ deployments }, call) => {
      try {
        const { explanation } = await deployments.explainClassRuntime({ deploymentId: unitId }, call);
        return explanation?.root && findingFromWire(explanation.root);
      } catch (thrown) {
        if (isFault(thrown, "unimplemented")) return undefined;
        throw thrown;
      }
    });
  }

  async topology(cluster: ClusterName, options?: CallOptions): Promise<Topology> {
    return this.#call(cluster, "GetTopology", { ms: WRITE_MS, ...options }, async ({ topology }, call) =>
      // Ours takes every word; the Rust one has no other source.
      topologyFromWire(await topology.getTopology({ source: "zenoh" }, call), this.#options.ambient.clock.now()),
    );
  }

  async health(cluster: ClusterName, options?: CallOptions): Promise<ClusterHealth> {
    const ask = { ms: READ_MS, mostMs: HEALTH_MS, probe: true, ...options };
    return this.#call(cluster, "GetEnvHealth", ask, async (services, call, known) => {
      const { health, features } = await queryHealth(cluster, services, call, this.#options.ambient.clock);
      if (features !== undefined) known.createOnly = !features.includes("upsert");
      return health;
    });
  }

  /** Ends every connection. Repeatable. */
  close(): void {
    this.#unsubscribe();
    for (const { link } of this.#known.values()) link.close();
    this.#known.clear();
  }

  async #call<T>(
    cluster: ClusterName,
    method: string,
    how: CallOptions & { readonly ms: number; readonly mostMs?: number; readonly probe?: boolean },
    work: (services: CrmServices, call: RpcCallOptions, known: ClusterState) => Promise<T>,
  ): Promise<T> {
    const known = this.#of(cluster);
    const { clock } = this.#options.ambient;
    const startedAt = clock.monotonic();
    const { timeoutSeconds } = known.link.registration;
    const headers = this.#headers();
    let outcome = "ok";
    try {
      return await known.guard.call(
        (attempt) =>
          work(known.link.services(), { signal: attempt.signal, deadlineMs: attempt.remainingMs(), headers }, known),
        {
          deadlineMs: Math.min(timeoutSeconds ? timeoutSeconds * 1000 : how.ms, how.mostMs ?? Number.POSITIVE_INFINITY),
          signal: how.signal,
          ...(how.probe ? { probe: true } : {}),
        },
      );
    } catch (thrown) {
      outcome = Fault.from(thrown).kind;
      throw thrown;
    } finally {
      this.#metrics.calls.add(1, { cluster, method, outcome });
      this.#metrics.duration.observe((clock.monotonic() - startedAt) / 1000, { cluster, method });
    }
  }

  /** Not-found for a cluster that is not registered. */
  #of(cluster: ClusterName): ClusterState {
    const registration = this.#options.clusters.registration(cluster);
    if (registration === undefined) throw notFound("cluster", cluster);
    const known = this.#known.get(cluster);
    if (known?.link.registration === registration) return known;
    known?.link.close();
    const { ambient, guard: policy = DEFAULT_GUARD } = this.#options;
    const { context = NOOP_CONTEXT, files = nodeSecretFiles, logger = NOOP_LOGGER } = this.#options;
    this.#metrics.breaker.set(BREAKER_VALUE.closed, { cluster });
    const fresh: ClusterState = {
      link: new CrmConnection(registration, { ambient, context, files, logger }),
      guard: new ClusterGuard({
        cluster,
        ambient,
        policy,
        attempts: registration.retryAttempts,
        onState: (state) => this.#metrics.breaker.set(BREAKER_VALUE[state], { cluster }),
      }),
      sent: new SentDigests(),
      createOnly: undefined,
    };
    this.#known.set(cluster, fresh);
    return fresh;
  }

  #forget(cluster: ClusterName): void {
    const known = this.#known.get(cluster);
    if (known === undefined || known.link.registration === this.#options.clusters.registration(cluster)) return;
    known.link.close();
    this.#known.delete(cluster);
    this.#metrics.breaker.remove({ cluster });
  }

  /** Work that belongs to no request has an id of its own, so that the cluster's log can be found from ours. */
  #headers(): Record<string, string> {
    const { context = NOOP_CONTEXT, ambient } = this.#options;
    return context.current().correlationId === undefined ? { [METADATA_KEYS.correlationId]: ambient.ids.uuid() } : {};
  }

  async #replace(
    services: CrmServices,
    unit: DeploymentUnit,
    call: RpcCallOptions,
    known: ClusterState,
  ): Promise<void> {
    const { deployments } = services;
    const cluster = known.link.registration.name;
    const { signal = new AbortController().signal } = call;
    await replaceUnit(
      unit,
      {
        create: async () => {
          const reply = await deployments.deploy({ deploymentUnit: unit }, call);
          checkReply(cluster, reply.status, reply.message);
        },
        exists: async (deploymentId) =>
          (await unlessMissing(deployments.getClassRuntime({ deploymentId }, call))) !== undefined,
        remove: async (deploymentId) =>
          void (await unlessMissing(deployments.deleteDeployment({ deploymentId }, call))),
      },
      { sent: known.sent, ambient: this.#options.ambient, signal },
    );
  }
}

/** Ours says what came of it; the Rust manager says neither. */
function isCreateOnly({ accepted, outcome }: DeployResponse): boolean {
  return !accepted && outcome === DeployOutcome.UNSPECIFIED;
}

/** Undefined where the peer says that there is no such thing. */
async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return undefined;
    throw thrown;
  }
}

/** A call that succeeded may still carry a failure. */
function checkReply(cluster: ClusterName, status: StatusCode, message: string | undefined): void {
  if (status === StatusCode.OK) return;
  const text = message === undefined || message === "" ? `it answered with status ${status}` : message;
  if (status === StatusCode.INVALID_REQUEST) throw invalidArgument("the unit", [{ path: ROOT_PATH, message: text }]);
  throw unavailable(peerName(cluster), text);
}
