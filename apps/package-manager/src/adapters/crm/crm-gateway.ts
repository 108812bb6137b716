import {
  DeployOutcome,
  METADATA_KEYS,
  StatusCode,
  type DeploymentUnit,
  type DeployResponse,
} from "@oaas/contracts/grpc";
import type { FindingWire } from "@oaas/contracts/rest";
import {
  Fault,
  invalidArgument,
  isFault,
  notFound,
  ROOT_PATH,
  unavailable,
  type Ambient,
  type BreakerState,
} from "@oaas/foundation";
import type {
  ComponentUsage,
  ClusterHealth,
  ClusterName,
  EnforcementReport,
  RuntimeConditions,
  RuntimeObject,
  RuntimePods,
  RuntimeSignals,
  Topology,
  UnitId,
} from "@oaas/models";
import {
  NOOP_CONTEXT,
  NOOP_LOGGER,
  NOOP_METER,
  type ContextStore,
  type Logger,
  type Meter,
  type Tracer,
} from "@oaas/observability";
import { CertificateExpiry, type RpcCallOptions } from "@oaas/rpc";
import type {
  CallOptions,
  CrmGateway,
  FunctionRequest,
  FunctionResponse,
  LogLine,
  LogQuery,
  ObjectQuery,
  RemoveOptions,
  RestartGrant,
  RenderedUnit,
  RuntimeChange,
  RuntimeQuery,
  SignalQuery,
  StateEntries,
  StateObjectAddress,
  StateObjectQuery,
  StateObjectSummary,
  UnitCallOptions,
  UnitReport,
} from "../../ports.ts";
import type { ClusterRegistration } from "../../use-cases.ts";
import { CrmCallMetrics } from "./call-metrics.ts";
import { listRuntimes } from "./calls/list-runtimes.ts";
import { queryHealth } from "./calls/query-health.ts";
import { replaceUnit, SentDigests } from "./calls/replace-unit.ts";
import { CrmConnection, type CrmServices } from "./connection/crm-connection.ts";
import { nodeSecretFiles, type SecretFiles } from "../secret-files.ts";
import { findServingReplica } from "./guard/other-replica.ts";
import { ClusterGuard, DEFAULT_GUARD, peerName, withClusterName, type GuardPolicy } from "./guard/cluster-guard.ts";
import { findingFromWire, topologyFromWire } from "./wire/facts-from-wire.ts";
import { enforcementFromWire } from "./wire/enforcement-from-wire.ts";
import { conditionsFromWire, objectFromWire, podsFromWire, signalsFromWire } from "./wire/inspection-from-wire.ts";
import { addressToWire, objectsFromWire, queryToWire, entriesFromWire, entriesToWire } from "./wire/state-objects.ts";
import { renderedFromWire } from "./wire/rendered-from-wire.ts";
import { usageFromWire } from "./wire/usage-from-wire.ts";
import { reportFromWire, runtimeChangeFromWire } from "./wire/report-from-wire.ts";

/** The registered clusters. Listeners are called when a registration is added, changed or removed. */
export interface RegistrationSource {
  registration(name: ClusterName): ClusterRegistration | undefined;
  onChange(listener: (name: ClusterName) => void): () => void;
}

export interface CrmGatewayOptions {
  readonly clusters: RegistrationSource;
  readonly ambient: Ambient;
  readonly context?: ContextStore;
  readonly tracer?: Tracer | undefined;
  readonly meter?: Meter;
  readonly logger?: Logger;
  readonly files?: SecretFiles;
  readonly guard?: GuardPolicy;
}

interface CallPolicy {
  /** Deadline in clusters without a `timeout`. */
  readonly timeoutMs: number;
  /** Upper limit of the `timeout` of the cluster. */
  readonly maxTimeoutMs?: number;
  /** Who retries a failed call; see `BACKOFF`. The gateway makes `retry_attempts` attempts. */
  readonly retriedBy: "caller" | "gateway";
  readonly probe?: true;
  /** Failures say nothing about the class runtime manager: they may be of the state store behind it. */
  readonly isAboutStore?: true;
}

const CALLS = {
  Deploy: { timeoutMs: 15_000, retriedBy: "caller" },
  DeleteDeployment: { timeoutMs: 15_000, retriedBy: "caller" },
  RenderUnit: { timeoutMs: 5_000, retriedBy: "gateway" },
  GetClassRuntime: { timeoutMs: 5_000, retriedBy: "gateway" },
  ListClassRuntimes: { timeoutMs: 5_000, retriedBy: "gateway" },
  GetEnforcement: { timeoutMs: 5_000, retriedBy: "gateway" },
  ExplainClassRuntime: { timeoutMs: 5_000, retriedBy: "gateway" },
  GetUsage: { timeoutMs: 10_000, retriedBy: "gateway" },
  // Their failures may be of the state store, so they do not open the circuit of the cluster.
  ListStateObjects: { timeoutMs: 10_000, retriedBy: "caller", isAboutStore: true },
  GetStateObject: { timeoutMs: 10_000, retriedBy: "caller", isAboutStore: true },
  SetStateObject: { timeoutMs: 15_000, retriedBy: "caller", isAboutStore: true },
  DeleteStateObject: { timeoutMs: 15_000, retriedBy: "caller", isAboutStore: true },
  // The function may take its time, and may have worked although its response was lost.
  InvokeFunction: { timeoutMs: 60_000, retriedBy: "caller" },
  GetSignals: { timeoutMs: 15_000, retriedBy: "caller" },
  GetObject: { timeoutMs: 5_000, retriedBy: "gateway" },
  ListPods: { timeoutMs: 5_000, retriedBy: "gateway" },
  GetConditions: { timeoutMs: 5_000, retriedBy: "gateway" },
  // The turn stays open and is granted again with the same id.
  GrantRestart: { timeoutMs: 5_000, retriedBy: "caller" },
  GetTopology: { timeoutMs: 15_000, retriedBy: "gateway" },
  GetEnvHealth: { timeoutMs: 5_000, maxTimeoutMs: 30_000, retriedBy: "gateway", probe: true },
} as const satisfies Record<string, CallPolicy>;

/** The connection to one cluster and its state. */
interface ClusterState {
  readonly connection: CrmConnection;
  readonly guard: ClusterGuard;
  readonly sent: SentDigests;
  /** Whether Deploy only creates units; undefined until the first response. */
  createOnly: boolean | undefined;
}

/** The class runtime managers over gRPC. Connects on first use. */
export class GrpcCrmGateway implements CrmGateway {
  readonly #options: CrmGatewayOptions;
  readonly #metrics: CrmCallMetrics;
  readonly #expiry: CertificateExpiry;
  readonly #clusters = new Map<ClusterName, ClusterState>();
  readonly #unsubscribe: () => void;

  constructor(options: CrmGatewayOptions) {
    this.#options = options;
    const { meter = NOOP_METER } = options;
    this.#metrics = new CrmCallMetrics(meter, options.ambient.clock);
    this.#expiry = new CertificateExpiry(meter);
    this.#unsubscribe = options.clusters.onChange((name) => this.#dropOutdated(name));
  }

  breaker(cluster: ClusterName): BreakerState {
    return this.#clusters.get(cluster)?.guard.state ?? "closed";
  }

  async deploy(cluster: ClusterName, unit: DeploymentUnit, options?: UnitCallOptions): Promise<void> {
    await this.#call(cluster, "Deploy", options, async (services, call, state) => {
      if (state.createOnly === true) return this.#replace(services, unit, { call, options }, state);
      const reply = await services.deployments.deploy({ deploymentUnit: unit, ...namespaceOf(options) }, call);
      checkReply(cluster, reply.status, reply.message);
      state.createOnly ??= isCreateOnly(reply);
      if (!state.createOnly) return;
      // First response of a create-only manager: an older unit may still be there.
      if (unit.revision === undefined || unit.revision <= 1n) state.sent.set(unit.id, unit.digest ?? "");
      else await this.#replace(services, unit, { call, options }, state);
    });
  }

  async render(cluster: ClusterName, unit: DeploymentUnit, options?: UnitCallOptions): Promise<RenderedUnit> {
    return this.#call(cluster, "RenderUnit", options, async ({ deployments }, call) =>
      renderedFromWire(await deployments.renderUnit({ deploymentUnit: unit, ...namespaceOf(options) }, call)),
    );
  }

  async remove(cluster: ClusterName, unitId: UnitId, options: RemoveOptions = {}): Promise<void> {
    const { revision, ...rest } = options;
    const request = {
      deploymentId: unitId,
      ...namespaceOf(options),
      ...(revision === undefined ? {} : { revision: BigInt(revision) }),
    };
    await this.#call(cluster, "DeleteDeployment", rest, async (services, call, state) => {
      state.sent.delete(unitId);
      const reply = await undefinedIfMissing(services.deployments.deleteDeployment(request, call));
      if (reply !== undefined) checkReply(cluster, reply.status, reply.message);
    });
  }

  async unit(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<UnitReport | undefined> {
    return this.#call(cluster, "GetClassRuntime", options, async ({ deployments }, call) => {
      const reply = await undefinedIfMissing(
        deployments.getClassRuntime({ deploymentId: unitId, ...namespaceOf(options) }, call),
      );
      return reply?.deployment && reportFromWire(cluster, reply.deployment);
    });
  }

  runtimes(cluster: ClusterName, query: RuntimeQuery, options?: CallOptions): AsyncIterable<UnitReport> {
    return listRuntimes(cluster, query, (request) =>
      this.#call(cluster, "ListClassRuntimes", options, ({ deployments }, call) =>
        deployments.listClassRuntimes(request, call),
      ),
    );
  }

  async *watch(cluster: ClusterName, options?: CallOptions): AsyncGenerator<RuntimeChange> {
    const { connection } = this.#stateOf(cluster);
    try {
      const { deployments } = connection.services();
      const events = deployments.watchClassRuntimes({}, { ...options, headers: this.#headers() });
      for await (const event of events) yield runtimeChangeFromWire(cluster, event);
    } catch (thrown) {
      throw withClusterName(cluster, Fault.from(thrown));
    }
  }

  async explain(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<FindingWire | undefined> {
    return this.#call(cluster, "ExplainClassRuntime", options, async ({ deployments }, call) => {
      try {
        const { explanation } = await deployments.explainClassRuntime(
          { deploymentId: unitId, ...namespaceOf(options) },
          call,
        );
        return explanation?.root && findingFromWire(explanation.root);
      } catch (thrown) {
        if (isFault(thrown, "unimplemented")) return undefined;
        throw thrown;
      }
    });
  }

  async enforcement(
    cluster: ClusterName,
    unitId: UnitId,
    options?: UnitCallOptions,
  ): Promise<EnforcementReport | undefined> {
    return this.#call(cluster, "GetEnforcement", options, async ({ deployments }, call) => {
      const reply = await undefinedIfMissing(
        deployments.getEnforcement({ deploymentId: unitId, ...namespaceOf(options) }, call),
      );
      return reply && enforcementFromWire(reply.enforcement);
    });
  }

  async usage(cluster: ClusterName, options?: CallOptions): Promise<readonly ComponentUsage[]> {
    return this.#call(cluster, "GetUsage", options, async ({ info }, call) =>
      usageFromWire(await info.getUsage({}, call)),
    );
  }

  async signals(
    cluster: ClusterName,
    unitId: UnitId,
    query: SignalQuery,
    options?: UnitCallOptions,
  ): Promise<RuntimeSignals> {
    return this.#call(cluster, "GetSignals", options, async ({ inspection }, call) =>
      signalsFromWire(await inspection.getSignals({ deploymentId: unitId, ...namespaceOf(options), ...query }, call)),
    );
  }

  async object(
    cluster: ClusterName,
    unitId: UnitId,
    query: ObjectQuery,
    options?: UnitCallOptions,
  ): Promise<RuntimeObject> {
    return this.#call(cluster, "GetObject", options, async ({ inspection }, call) =>
      objectFromWire(await inspection.getObject({ deploymentId: unitId, ...namespaceOf(options), ...query }, call)),
    );
  }

  async pods(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<RuntimePods> {
    return this.#call(cluster, "ListPods", options, async ({ inspection }, call) =>
      podsFromWire(await inspection.listPods({ deploymentId: unitId, ...namespaceOf(options) }, call)),
    );
  }

  async conditions(cluster: ClusterName, unitId: UnitId, options?: UnitCallOptions): Promise<RuntimeConditions> {
    return this.#call(cluster, "GetConditions", options, async ({ inspection }, call) =>
      conditionsFromWire(await inspection.getConditions({ deploymentId: unitId, ...namespaceOf(options) }, call)),
    );
  }

  async *logs(
    cluster: ClusterName,
    unitId: UnitId,
    { functionKey, follow, previous, tailLines, sinceSeconds, contains }: LogQuery,
    options?: UnitCallOptions,
  ): AsyncGenerator<readonly LogLine[]> {
    const { connection } = this.#stateOf(cluster);
    const request = {
      deploymentId: unitId,
      ...namespaceOf(options),
      follow,
      previous,
      ...(functionKey === undefined ? {} : { functionKey }),
      ...(tailLines === undefined ? {} : { tailLines }),
      ...(sinceSeconds === undefined ? {} : { sinceSeconds }),
      ...(contains === undefined ? {} : { contains }),
    };
    try {
      const batches = connection.services().deployments.streamLogs(request, { ...options, headers: this.#headers() });
      for await (const { lines } of batches) yield lines.map(({ notice, ...line }) => ({ ...line, isNotice: notice }));
    } catch (thrown) {
      throw withClusterName(cluster, Fault.from(thrown));
    }
  }

  async invoke(
    cluster: ClusterName,
    unitId: UnitId,
    { headers, ...request }: FunctionRequest,
    options?: UnitCallOptions,
  ): Promise<FunctionResponse> {
    return this.#call(cluster, "InvokeFunction", options, ({ deployments }, call) =>
      deployments.invokeFunction(
        { deploymentId: unitId, ...namespaceOf(options), headers: { ...headers }, ...request },
        call,
      ),
    );
  }

  async grantRestart(
    cluster: ClusterName,
    unitId: UnitId,
    { nodeId, turnId }: RestartGrant,
    options?: UnitCallOptions,
  ): Promise<boolean> {
    return this.#call(cluster, "GrantRestart", options, async ({ stateStore }, call) => {
      const request = { deploymentId: unitId, nodeId: BigInt(nodeId), turnId, ...namespaceOf(options) };
      return (await stateStore.grantRestart(request, call)).accepted;
    });
  }

  async stateObjects(
    cluster: ClusterName,
    unitId: UnitId,
    query: StateObjectQuery,
    options?: UnitCallOptions,
  ): Promise<{ readonly objects: readonly StateObjectSummary[]; readonly next?: Uint8Array }> {
    const request = { deploymentId: unitId, ...namespaceOf(options), ...queryToWire(query) };
    return this.#call(cluster, "ListStateObjects", options, async ({ stateStore }, call) =>
      objectsFromWire(await stateStore.listStateObjects(request, call)),
    );
  }

  async stateObject(
    cluster: ClusterName,
    unitId: UnitId,
    address: StateObjectAddress,
    options?: UnitCallOptions,
  ): Promise<{ readonly version: number; readonly entries: StateEntries }> {
    const request = { deploymentId: unitId, ...namespaceOf(options), ...addressToWire(address) };
    return this.#call(cluster, "GetStateObject", options, async ({ stateStore }, call) => {
      const { object, version } = await stateStore.getStateObject(request, call);
      return { version: Number(version), entries: entriesFromWire(object) };
    });
  }

  async setStateObject(
    cluster: ClusterName,
    unitId: UnitId,
    { entries, ...address }: StateObjectAddress & { readonly entries: StateEntries },
    options?: UnitCallOptions,
  ): Promise<void> {
    const object = { entries: entriesToWire(entries) };
    const request = { deploymentId: unitId, ...namespaceOf(options), ...addressToWire(address), object };
    await this.#call(cluster, "SetStateObject", options, ({ stateStore }, call) =>
      stateStore.setStateObject(request, call),
    );
  }

  async deleteStateObject(
    cluster: ClusterName,
    unitId: UnitId,
    address: StateObjectAddress,
    options?: UnitCallOptions,
  ): Promise<void> {
    const request = { deploymentId: unitId, ...namespaceOf(options), ...addressToWire(address) };
    await this.#call(cluster, "DeleteStateObject", options, ({ stateStore }, call) =>
      stateStore.deleteStateObject(request, call),
    );
  }

  async topology(cluster: ClusterName, options?: CallOptions): Promise<Topology> {
    return this.#call(cluster, "GetTopology", options, async ({ topology }, call) =>
      // The Rust manager supports only this source; ours ignores the field.
      topologyFromWire(await topology.getTopology({ source: "zenoh" }, call), this.#options.ambient.clock.now()),
    );
  }

  async health(cluster: ClusterName, options?: CallOptions): Promise<ClusterHealth> {
    return this.#call(cluster, "GetEnvHealth", options, async (services, call, state) => {
      const { health, features } = await queryHealth(cluster, services, call, this.#options.ambient.clock);
      if (features !== undefined) state.createOnly = !features.includes("upsert");
      return health;
    });
  }

  /** Closes all connections. Idempotent. */
  close(): void {
    this.#unsubscribe();
    for (const { connection } of this.#clusters.values()) connection.close();
    this.#clusters.clear();
  }

  async #call<T>(
    cluster: ClusterName,
    method: keyof typeof CALLS,
    options: CallOptions | undefined,
    work: (services: CrmServices, call: RpcCallOptions, state: ClusterState) => Promise<T>,
  ): Promise<T> {
    const state = this.#stateOf(cluster);
    const { connection, guard } = state;
    const { timeoutSeconds, retryAttempts } = connection.registration;
    const policy: CallPolicy = CALLS[method];
    const timeoutMs = timeoutSeconds ? timeoutSeconds * 1000 : policy.timeoutMs;
    const headers = this.#headers();
    return this.#metrics.measure(cluster, method, () =>
      guard.call(
        (deadline) => {
          let used: CrmServices;
          const send = async (): Promise<T> => {
            used = connection.services();
            return work(used, { signal: deadline.signal, deadlineMs: deadline.remainingMs(), headers }, state);
          };
          const reconnect = (): void => connection.replace(used);
          return findServingReplica(send, { reconnect, ambient: this.#options.ambient, deadline });
        },
        {
          deadlineMs: Math.min(timeoutMs, policy.maxTimeoutMs ?? Number.POSITIVE_INFINITY),
          attempts: policy.retriedBy === "gateway" ? retryAttempts : 1,
          signal: options?.signal,
          probe: policy.probe === true,
          ignoresFailures: policy.isAboutStore === true,
          explicit: options?.explicit === true,
        },
      ),
    );
  }

  /** Throws not-found for a cluster that is not registered. */
  #stateOf(cluster: ClusterName): ClusterState {
    const registration = this.#options.clusters.registration(cluster);
    if (registration === undefined) throw notFound("cluster", cluster);
    const state = this.#clusters.get(cluster);
    if (state?.connection.registration === registration) return state;
    state?.connection.close();
    const created = this.#connect(cluster, registration);
    this.#clusters.set(cluster, created);
    return created;
  }

  #connect(cluster: ClusterName, registration: ClusterRegistration): ClusterState {
    const { ambient, guard: policy = DEFAULT_GUARD } = this.#options;
    const { context = NOOP_CONTEXT, tracer, files = nodeSecretFiles, logger = NOOP_LOGGER } = this.#options;
    this.#metrics.setBreaker(cluster, "closed");
    return {
      connection: new CrmConnection(registration, { ambient, context, tracer, files, logger, expiry: this.#expiry }),
      guard: new ClusterGuard({
        cluster,
        ambient,
        policy,
        onState: (state) => this.#metrics.setBreaker(cluster, state),
      }),
      sent: new SentDigests(),
      createOnly: undefined,
    };
  }

  #dropOutdated(cluster: ClusterName): void {
    const state = this.#clusters.get(cluster);
    if (state === undefined) return;
    if (state.connection.registration === this.#options.clusters.registration(cluster)) return;
    state.connection.close();
    this.#clusters.delete(cluster);
    this.#metrics.removeCluster(cluster);
  }

  /** Background work gets a new correlation id, so that the logs of both managers can be joined. */
  #headers(): Record<string, string> {
    const { context = NOOP_CONTEXT, ambient } = this.#options;
    return context.current().correlationId === undefined ? { [METADATA_KEYS.correlationId]: ambient.ids.uuid() } : {};
  }

  async #replace(
    services: CrmServices,
    unit: DeploymentUnit,
    { call, options }: { readonly call: RpcCallOptions; readonly options: UnitCallOptions | undefined },
    state: ClusterState,
  ): Promise<void> {
    const { deployments } = services;
    const where = namespaceOf(options);
    const cluster = state.connection.registration.name;
    const { signal = new AbortController().signal } = call;
    await replaceUnit(
      unit,
      {
        create: async () => {
          const reply = await deployments.deploy({ deploymentUnit: unit, ...where }, call);
          checkReply(cluster, reply.status, reply.message);
        },
        exists: async (deploymentId) =>
          (await undefinedIfMissing(deployments.getClassRuntime({ deploymentId, ...where }, call))) !== undefined,
        remove: async (deploymentId) =>
          void (await undefinedIfMissing(deployments.deleteDeployment({ deploymentId, ...where }, call))),
      },
      { sent: state.sent, ambient: this.#options.ambient, signal },
    );
  }
}

/** The namespace of a request about a unit. */
function namespaceOf({ namespace }: Pick<UnitCallOptions, "namespace"> = {}): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

/** The Rust manager sets neither field. */
function isCreateOnly({ accepted, outcome }: DeployResponse): boolean {
  return !accepted && outcome === DeployOutcome.UNSPECIFIED;
}

async function undefinedIfMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (thrown) {
    if (isFault(thrown, "not-found")) return undefined;
    throw thrown;
  }
}

/** A successful call may still carry a failure. */
function checkReply(cluster: ClusterName, status: StatusCode, message: string | undefined): void {
  if (status === StatusCode.OK) return;
  const text = message === undefined || message === "" ? `responded with status ${status}` : message;
  if (status === StatusCode.INVALID_REQUEST) throw invalidArgument("the unit", [{ path: ROOT_PATH, message: text }]);
  throw unavailable(peerName(cluster), text);
}
