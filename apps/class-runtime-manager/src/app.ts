import type { ClassRuntime } from "@oaas/contracts/crd";
import { isLoopbackHost, sleep, type Ambient } from "@oaas/foundation";
import type { Controller, KubeClient, LedTask } from "@oaas/kube-runtime";
import {
  formatTraceparent,
  NOOP_TRACER,
  type ContextStore,
  type Logger,
  type Meter,
  type MetricsFormat,
  type Tracer,
} from "@oaas/observability";
import type { PrometheusTransport } from "@oaas/prometheus-client";
import {
  CertificateExpiry,
  openMetricsListener,
  RpcServer,
  type MetricsListener,
  type RequestListener,
} from "@oaas/rpc";
import { openListeners, type Listeners } from "./adapters/listeners.ts";
import { createHttpEndpoints } from "./adapters/http-endpoints.ts";
import { createStoreNodes, podAddressResolver } from "./adapters/store-nodes.ts";
import { createPmReportSink } from "./adapters/pm-report-sink.ts";
import { watchSecrets, type WatchedSecrets } from "./adapters/secret-files.ts";
import { loadTlsFiles, type TlsSource } from "./adapters/tls-files.ts";
import { createKubeCertificateStore } from "./certificates/kube-certificate-store.ts";
import { SelfSignedCertificates } from "./certificates/self-signed-certificates.ts";
import { configWarnings, type CrmConfig } from "./config.ts";
import { createClassManager, type ClassManager, type ClassManagerOptions } from "./controller/class-manager.ts";
import { configuredFacts } from "./controller/cluster/cluster-facts.ts";
import { DEPLOYMENT_RECORDS } from "./controller/kinds/resource-types.ts";
import { CLASS_RUNTIME_KIND } from "./controller/kinds/class-kind.ts";
import type { Leadership } from "./grpc/access/leadership.ts";
import { createAuditLog } from "./grpc/access/audit.ts";
import { authorizeCall, authorizeRole, isChange, type Credentials } from "./grpc/access/authorize.ts";
import { isNodeReady } from "./availability/capacity.ts";
import { AvailabilityRecorder } from "./availability/availability-recorder.ts";
import { createKubeAvailabilityStore } from "./grpc/cluster/kube-availability-store.ts";
import { createKubeUsageReader } from "./grpc/cluster/kube-usage-reader.ts";
import {
  capabilityNames,
  createKubeClusterReader,
  templateNames,
  zeroScaleNames,
  type ClusterReader,
} from "./grpc/cluster/kube-cluster-reader.ts";
import { createExplainer } from "./grpc/deployments/explainer.ts";
import { annotateClass } from "./classes/annotate-class.ts";
import { ignoreForbidden } from "./classes/kube-directory.ts";
import { KubeNamespaces } from "./classes/kube-namespaces.ts";
import { namespaceLimitsController } from "./classes/namespace-limits.ts";
import { createKubeClasses } from "./classes/kube-store.ts";
import { namespaceRules, type NamespaceRules } from "./grpc/access/namespaces.ts";
import { findFunctionService } from "./grpc/functions/function-service.ts";
import type { DeploymentServiceDeps } from "./grpc/deployments/deployment-service.ts";
import { createServeCheck } from "./grpc/deployments/serve-check.ts";
import { createClassEvents } from "./grpc/inspection/class-events.ts";
import type { InspectionDeps } from "./grpc/inspection/inspection-service.ts";
import { createGrpcServices, type GrpcServices } from "./grpc/services.ts";
import type { ClassDirectory, ClassStore, NamespaceProvisioner } from "./classes/ports.ts";
import type { Environment } from "./rendering/model/cluster-facts.ts";
import { connectPrometheus } from "./adapters/prometheus.ts";
import { createMeasuring } from "./nfr/measuring.ts";
import { createKubeClients, type KubeClients, type KubeTransports } from "./kube-clients.ts";
import { OdgmHealth } from "./odgm-health/odgm-health.ts";
import { PmReporter, reportingMetrics } from "./reporting/pm-reporter.ts";
import { crmMetrics } from "./telemetry.ts";
import type { StoreNodeResolver } from "./state-store/store-nodes.ts";
import { VERSION } from "./version.ts";

/** Ports of the manager; `main.ts` provides the real ones. */
export interface AppPorts extends KubeTransports {
  readonly ambient: Ambient;
  /** The namespace of the pod or of the kubeconfig context. */
  readonly ownNamespace: string;
  /** The namespace of the pod; undefined outside of a cluster. */
  readonly podNamespace?: string | undefined;
  /** Unique per process. */
  readonly identity: string;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly metricsText: (format: MetricsFormat) => Promise<string>;
  readonly context: ContextStore;
  readonly tracer?: Tracer | undefined;
  /** Loads the configuration again, for secrets in files that change. */
  readonly reread: () => CrmConfig;
  /** The configuration in effect, for settings that reload. Default: that of the start. */
  readonly currentConfig?: () => CrmConfig;
  /** Why the configuration file is not in effect as it is now. */
  readonly configWarnings?: () => readonly string[];
  /** Resolves the addresses of the nodes of state stores. Default: the addresses of their pods. */
  readonly storeNodeResolver?: StoreNodeResolver;
  /** Divides the times of analysis and enforcement that are not settings, for local stacks that someone watches. */
  readonly nfrSpeed?: number;
  /** How queries reach Prometheus. Default: sockets. */
  readonly prometheusTransport?: PrometheusTransport;
}

export interface RunningApp {
  /** The address it listens on. */
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number | undefined;
  readonly metricsPort: number | undefined;
  /** Reasons why the setup is not fit for production. */
  readonly warnings: readonly string[];
  /** Resolves when every cache is synced and the cluster meets the requirements. */
  readonly ready: Promise<void>;
  /** Stops in order: after the shutdown delay listeners, running calls, controllers, the lease, caches. Idempotent. */
  close(): Promise<void>;
}

/** Time limit of one request to a node of a state store; another node may be asked after it. */
const STORE_CALL_MS = 4000;

/** What every construction step needs. */
interface Setup {
  readonly config: CrmConfig;
  readonly ports: AppPorts;
  readonly namespaces: NamespaceRules;
  readonly expiry: CertificateExpiry;
}

/** The class runtimes of the cluster, as directory and store. */
interface Classes {
  readonly directory: ClassDirectory;
  readonly store: ClassStore;
}

/** Starts the class runtime manager. It listens before its caches are synced, so that probes get a response. */
export async function startApp(config: CrmConfig, ports: AppPorts): Promise<RunningApp> {
  const { ownNamespace: context, podNamespace: pod } = ports;
  const namespaces = namespaceRules(config.k8s.namespaces, { context, pod });
  const setup: Setup = { config, ports, namespaces, expiry: new CertificateExpiry(ports.meter) };
  const clients = createKubeClients(ports);
  // The reporter reads the caches of the controllers, so it is created after them.
  const reporterTask: LedTask = { name: "reports", run: async (signal) => reporting?.reporter.run(signal) };
  const enforcerTask: LedTask = { name: "nfr-enforcer", run: async (signal) => measuring?.enforcer.run(signal) };
  const analyzerTask: LedTask = { name: "nfr-analyzer", run: async (signal) => measuring?.analyzer.run(signal) };
  const podAddress = podAddressResolver((pod) => crm.pods.ipOf(pod));
  const resolveNode = ports.storeNodeResolver ?? podAddress;
  const crm: ClassManager = createControllers(setup, clients, resolveNode, {
    controllers: () => (config.features.createNamespaces ? [createNamespaceLimits(setup, crm, classes)] : []),
    tasks: [reporterTask, enforcerTask, analyzerTask],
  });
  const classes = createClasses(setup, clients.intentClient, crm);
  const cluster = createClusterReader(setup, clients.client, crm);
  const recorder = createRecorder(setup, clients.client, crm, cluster);
  const services = createServices(setup, clients, crm, classes, cluster, recorder, () => measuring?.history);
  const secrets = startSecrets(setup);
  const certificates = createSelfSigned(setup, clients.client);
  const reporting = createReporting(setup, crm, classes.directory, secrets, certificates);
  const measuring = connectMeasuring(setup, crm, secrets);
  const release = async (): Promise<void> => {
    secrets.close();
    await certificates?.close();
    reporting?.close();
    await measuring?.close();
    await clients.client.close();
    await clients.intentClient.close();
    await clients.leaseClient?.close();
  };
  const { clientNames } = config.security;
  let isStopping = false;
  const credentials: Credentials = { clientNames, tokens: () => secrets.current().tokens };
  const handlers = {
    rpc: createRpcServer(setup, services, credentials),
    http: createHttpServer(setup, crm, credentials, () =>
      isStopping ? "the process is stopping" : tls?.problem(ports.ambient.clock.now()),
    ),
  };
  const { ambient, logger } = ports;
  const metrics = await openMetrics(setup).catch(async (thrown: unknown) => {
    await release();
    throw thrown;
  });
  let tls: TlsSource | undefined;
  const open = async (): Promise<Listeners> => {
    tls = certificates ? selfSignedTls(certificates) : loadTlsFiles(config.security, setup.expiry);
    const problem = tls?.problem(ambient.clock.now());
    if (problem !== undefined) logger.warn("certificate cannot be used", { problem });
    return openListeners(config, handlers, { timers: ambient.timers, logger, tls });
  };
  const listeners = await open().catch(async (thrown: unknown) => {
    await metrics?.close();
    await release();
    throw thrown;
  });
  crm.manager.start();
  recorder?.start();
  const ready = crm.manager.ready.then(() => services.setServing(true));
  ready.catch(() => undefined);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    isStopping = true;
    services.setServing(false);
    await sleep(ambient.timers, config.server.shutdownDelayMs);
    await listeners.close();
    await metrics?.close();
    // Before the lease is released: only the leader stores.
    await recorder?.close();
    await crm.manager.stop();
    await crm.events.flush();
    await release();
  };
  const { host, port, grpcPort } = listeners;
  return {
    host,
    port,
    grpcPort,
    metricsPort: metrics?.port,
    warnings: configWarnings(config),
    ready,
    close: () => (closing ??= close()),
  };
}

function createControllers(
  setup: Setup,
  clients: KubeClients,
  resolveNode: StoreNodeResolver,
  led: Pick<ClassManagerOptions, "controllers" | "tasks">,
): ClassManager {
  const { config, ports, namespaces } = setup;
  const { ambient, identity, logger, meter, tracer = NOOP_TRACER } = ports;
  const { leaderElection } = config;
  const election = {
    namespace: leaseNamespace(setup),
    name: leaderElection.lease,
    leaseMs: leaderElection.leaseMs,
  };
  return createClassManager({
    client: clients.client,
    ...(clients.leaseClient ? { leaseClient: clients.leaseClient } : {}),
    fencedClient: clients.fencedClient,
    ambient,
    namespaces: watchedNamespaces(namespaces),
    ...(config.features.createNamespaces ? { environmentsNamespace: namespaces.fallback } : {}),
    ...(config.k8s.routerNamespace === undefined ? {} : { routerNamespace: config.k8s.routerNamespace }),
    facts: configuredFacts(config, ports.podNamespace),
    identity,
    concurrency: config.limits.concurrency,
    ...led,
    ...(config.odgmHealth.enabled ? { odgmHealth: createOdgmHealth(config, ports, resolveNode) } : {}),
    ...(config.features.leaderElection ? { election } : {}),
    logger,
    meter,
    tracer,
  });
}

function currentConfig(config: CrmConfig, ports: AppPorts): CrmConfig {
  return ports.currentConfig?.() ?? config;
}

function watchedNamespaces({ served }: NamespaceRules): readonly string[] | undefined {
  return served === "all" ? undefined : served;
}

function createOdgmHealth({ odgmHealth }: CrmConfig, ports: AppPorts, resolveNode: StoreNodeResolver): OdgmHealth {
  const { ambient, logger, meter } = ports;
  const { everyMs, timeoutMs } = odgmHealth;
  const nodes = createStoreNodes(resolveNode, ambient.clock, timeoutMs);
  return new OdgmHealth({ nodes, ambient, logger, meter, everyMs, timeoutMs });
}

function createClasses({ ports, namespaces }: Setup, client: KubeClient, crm: ClassManager): Classes {
  const records = crm.informers.view(DEPLOYMENT_RECORDS, watchedNamespaces(namespaces), {}, { isOptional: true });
  return createKubeClasses(client, [crm.classRuntimes, ignoreForbidden(records)], ports.ambient.clock);
}

function createServices(
  { config, ports, namespaces }: Setup,
  { client, intentClient }: KubeClients,
  crm: ClassManager,
  { directory, store }: Classes,
  cluster: ClusterReader,
  recorder: AvailabilityRecorder | undefined,
  signals: InspectionDeps["signals"],
): GrpcServices {
  const { ambient, logger, meter } = ports;
  const { templateSources, facts } = crm;
  const { region, zone } = config.place;
  return createGrpcServices({
    ambient,
    namespaces,
    profile: config.profile,
    directory,
    store,
    leadership: leadershipOf(crm, ports.identity),
    check: createServeCheck({
      facts: (namespace) => facts.read(namespace),
      environmentOf: (namespace, name) => templateSources.resolveEnvironment(namespace, name),
      runningStore: (existing) => crm.runningStore(existing),
      userTemplates: (namespace) => templateSources.userTemplates(namespace),
      exceededQuotas: ({ metadata: { name, namespace = "" } }, demand) =>
        crm.quotas.check(CLASS_RUNTIME_KIND.name, { namespace, name }, demand),
    }),
    ...(config.features.createNamespaces ? createProvisioner(intentClient, crm) : {}),
    logs: { ambient, client, podsOf: (namespace, owner) => crm.pods.podsOf(namespace, owner) },
    invocations: {
      isAllowed: config.features.invoke,
      client,
      serviceOf: (object, functionKey, signal) => findFunctionService(client, object, functionKey, signal),
    },
    preview: (object, signal) => crm.preview(object, signal),
    explainer: createExplainer((object, signal) => crm.observe(object, signal), ambient.clock),
    cluster,
    usage: createKubeUsageReader({
      client,
      ambient,
      namespaces,
      classes: () => directory.list(),
      podsOf: (namespace, owner) => crm.pods.podsOf(namespace, owner),
    }),
    inspection: {
      pods: crm.pods,
      childrenOf: (uid) => crm.children.childrenOf(uid).map((child) => child.object),
      events: createClassEvents(client),
      signals,
    },
    state: {
      nodes: createStoreNodes(
        ports.storeNodeResolver ?? podAddressResolver((pod) => crm.pods.ipOf(pod)),
        ambient.clock,
        STORE_CALL_MS,
      ),
      childrenOf: (uid) => crm.children.childrenOf(uid).map((child) => child.object),
      podsOf: (namespace, owner) => crm.pods.podsOf(namespace, owner),
      annotate: (object, name, value, signal) => annotateClass(intentClient, object, { name, value }, signal),
    },
    measuredAvailability: () => recorder?.measure(),
    traceparent: () => {
      const { span } = ports.context.current();
      return span && formatTraceparent(span);
    },
    version: VERSION,
    clusterName: config.clusterName,
    labels: { ...(region === undefined ? {} : { region }), ...(zone === undefined ? {} : { zone }) },
    dataPlaneNetwork: config.dataPlaneNetwork,
    persistentState: config.odgmPersistence,
    mockAvailability: config.mockAvailability,
    logger,
    metrics: crmMetrics(meter),
    maxWatchers: () => currentConfig(config, ports).limits.watchers,
  });
}

function createClusterReader(
  { config, ports, namespaces }: Setup,
  client: KubeClient,
  crm: ClassManager,
): ClusterReader {
  const { ambient, logger } = ports;
  const { templateSources, facts } = crm;
  return createKubeClusterReader({
    client,
    ambient,
    logger,
    nodes: () => crm.pods.nodes,
    apiFault: () => crm.informers.faults.find(({ fault }) => fault.kind !== "permission-denied")?.fault,
    capabilities: () => capabilityNames(facts.read(namespaces.fallback), config.prometheus.url !== undefined),
    templates: () => templateNames([...templateSources.templates.cache.list()].map(({ metadata }) => metadata.name)),
    zeroScaleTemplates: () => zeroScaleNames(facts.read(namespaces.fallback), templateSources.allTemplates()),
    environments: () => [...templateSources.environments.cache.list()].map(({ metadata }) => metadata.name),
  });
}

/** Undefined when the availability is set by configuration. */
function createRecorder(
  setup: Setup,
  client: KubeClient,
  crm: ClassManager,
  cluster: ClusterReader,
): AvailabilityRecorder | undefined {
  const { config, ports } = setup;
  if (config.mockAvailability !== undefined) return undefined;
  const { ambient, logger } = ports;
  const key = { namespace: leaseNamespace(setup), name: `${config.leaderElection.lease}-availability` };
  return new AvailabilityRecorder({
    ambient,
    logger,
    store: createKubeAvailabilityStore(client, key, ambient.clock),
    isApiUp: (signal) => cluster.isServing(signal),
    nodes: () => {
      const nodes = cluster.nodes();
      return nodes && { ready: nodes.filter(isNodeReady).length, all: nodes.length };
    },
    isLeading: () => leadershipOf(crm, ports.identity).isLeading,
  });
}

/** The namespace of the objects of the manager itself. */
function leaseNamespace({ config, ports, namespaces }: Setup): string {
  return config.leaderElection.namespace ?? ports.podNamespace ?? namespaces.fallback;
}

/** Without leader election this process is always the leader. */
function leadershipOf({ elector }: ClassManager, identity: string): Leadership {
  return {
    get isLeading() {
      return elector?.isLeading ?? true;
    },
    get leader() {
      return elector ? elector.leader : identity;
    },
  };
}

function startSecrets({ config, ports: { reread, ambient, logger } }: Setup): WatchedSecrets {
  return watchSecrets({
    config,
    reread,
    timers: ambient.timers,
    changed: () => logger.info("secrets reloaded"),
    failed: (fault) => logger.warn("reload secrets failed; keeping the last ones", { fault }),
  });
}

/** Undefined when certificates come from files. */
function createSelfSigned(setup: Setup, client: KubeClient): SelfSignedCertificates | undefined {
  const { config, ports, expiry } = setup;
  const { selfSigned, security, k8s } = config;
  if (security.tlsSource !== "self-signed") return undefined;
  const namespace = leaseNamespace(setup);
  const service = `oprc-crm.${namespace}`;
  const ownNames = [service, "oprc-crm", `${service}.svc`, `${service}.svc.${k8s.clusterDomain}`, "localhost"];
  return new SelfSignedCertificates({
    ambient: ports.ambient,
    logger: ports.logger,
    store: createKubeCertificateStore(client, namespace, {
      authority: selfSigned.authoritySecret,
      server: selfSigned.serverSecret,
      client: selfSigned.clientSecret,
    }),
    rules: {
      validMs: selfSigned.validMs,
      serverNames: selfSigned.serverNames.length > 0 ? selfSigned.serverNames : ownNames,
      clientName: selfSigned.clientName,
    },
    mtls: security.mtls,
    expiry,
  });
}

function selfSignedTls(certificates: SelfSignedCertificates): TlsSource {
  return {
    options: certificates.placeholder(),
    problem: () => certificates.problem,
    watch: (_timers, changed) => {
      certificates.start(changed);
      return () => undefined;
    },
  };
}

function createProvisioner(
  client: KubeClient,
  { templateSources }: ClassManager,
): Pick<DeploymentServiceDeps, "provisionNamespace" | "previewNamespace"> {
  const provisioner: NamespaceProvisioner = new KubeNamespaces(client);
  const environmentOf = ({ metadata: { namespace = "" }, spec }: ClassRuntime): Environment | undefined => {
    const environment = templateSources.resolveEnvironment(namespace, spec.target_environment);
    return environment.ok ? environment.value : undefined;
  };
  const namespaceOf = ({ metadata: { namespace = "" } }: ClassRuntime): string => namespace;
  return {
    provisionNamespace: (object, signal) => provisioner.ensure(namespaceOf(object), environmentOf(object), signal),
    previewNamespace: (object, signal) => provisioner.preview(namespaceOf(object), environmentOf(object), signal),
  };
}

function createNamespaceLimits(
  { ports: { ambient, logger, meter } }: Setup,
  { templateSources, actingClient }: ClassManager,
  { directory }: Classes,
): Controller {
  const provisioner = new KubeNamespaces(actingClient);
  return namespaceLimitsController({ ambient, logger, meter, directory, templateSources, provisioner });
}

/** Undefined without a package manager URL. */
function createReporting(
  { config: { pm, clusterName }, ports: { ambient, logger, meter }, namespaces, expiry }: Setup,
  crm: ClassManager,
  classes: ClassDirectory,
  secrets: WatchedSecrets,
  certificates: SelfSignedCertificates | undefined,
): { readonly reporter: PmReporter; close(): void } | undefined {
  if (pm.url === undefined) return undefined;
  const sink = createPmReportSink({
    config: { ...pm, url: pm.url },
    clock: ambient.clock,
    token: () => secrets.current().pmToken,
    certificates: pm.tlsSource === "self-signed" ? certificates && (() => certificates.clientTls()) : undefined,
    expiry,
  });
  const reporter = new PmReporter({
    classes,
    sink,
    cluster: clusterName ?? namespaces.fallback,
    ambient,
    logger,
    metrics: reportingMetrics(meter),
    isLeading: () => crm.elector?.isLeading ?? true,
    metricsEveryMs: pm.metricsEveryMs,
    drainMs: pm.drainMs,
  });
  return { reporter, close: () => sink.close() };
}

/** Undefined without a Prometheus URL. */
function connectMeasuring(
  { config, ports, namespaces, expiry }: Setup,
  crm: ClassManager,
  secrets: WatchedSecrets,
): (ReturnType<typeof createMeasuring> & { close(): Promise<void> }) | undefined {
  const { ambient, logger, meter, prometheusTransport, nfrSpeed = 1 } = ports;
  const connect = () => connectPrometheus(config.prometheus, ambient, () => secrets.current(), prometheusTransport);
  const [provider, historyProvider] = [connect(), connect()];
  if (provider === undefined || historyProvider === undefined) return undefined;
  const watched = watchedNamespaces(namespaces);
  const { certFile } = config.prometheus;
  const unfollow = certFile && expiry.follow({ use: "client", peer: "prometheus" }, certFile, ambient.timers);
  const measuring = createMeasuring({
    config,
    currentConfig: () => currentConfig(config, ports),
    ambient,
    logger,
    meter,
    provider,
    historyProvider,
    crm,
    namespaces: watched,
    speed: nfrSpeed,
  });
  const close = async (): Promise<void> => {
    if (unfollow) unfollow();
    await Promise.all([provider.close(), historyProvider.close()]);
  };
  return { ...measuring, close };
}

function createRpcServer({ config, ports }: Setup, { services }: GrpcServices, credentials: Credentials): RpcServer {
  const { ambient, logger, meter, context, tracer = NOOP_TRACER } = ports;
  const audit = createAuditLog(logger);
  return new RpcServer({
    services,
    ambient,
    logger,
    meter,
    context,
    tracer,
    maxCallsPerCaller: () => currentConfig(config, ports).limits.callsPerCaller,
    maxRequestBytesInFlight: () => currentConfig(config, ports).limits.requestBytes,
    authorize: (method, head) => authorizeCall(method, head, credentials),
    onRejected: (method, { peer }, fault) => {
      if (isChange(method)) audit.reject(method.localName, peer.address, fault);
    },
  });
}

/** Undefined without a metrics port. */
async function openMetrics({ config, ports }: Setup): Promise<MetricsListener | undefined> {
  const { port, host } = config.metrics;
  if (port === undefined) return undefined;
  const crossSite = isLoopbackHost(host) ? {} : undefined;
  return openMetricsListener({ host, port, text: ports.metricsText, crossSite });
}

function createHttpServer(
  { config, ports }: Setup,
  crm: ClassManager,
  credentials: Credentials,
  listenerProblem: () => string | undefined,
): RequestListener {
  return createHttpEndpoints({
    version: VERSION,
    unhealthyReasons: () => crm.manager.health().reasons,
    notReadyReasons: () => [...[listenerProblem() ?? []].flat(), ...crm.manager.readiness().reasons],
    missingPermissions: () => crm.informers.forbidden.map(({ fault }) => fault.message),
    warnings: () => [...configWarnings(config), ...(ports.configWarnings?.() ?? [])],
    authorizeMetrics: (head) => authorizeRole("viewer", "metrics", head, credentials),
    metrics: ports.metricsText,
    leader: () => crm.elector?.leader,
  });
}
