import type { Ambient } from "@oaas/foundation";
import { fenced, KubeClient, type LedTask, type Transport } from "@oaas/kube-runtime";
import type { ContextStore, Logger, Meter } from "@oaas/observability";
import { RpcServer } from "@oaas/rpc";
import { openDoors } from "./adapters/listeners.ts";
import { createEndpoints } from "./adapters/http-endpoints.ts";
import { clusterResolver, odgmAsker, type GridResolver } from "./adapters/odgm-client.ts";
import { pmSink } from "./adapters/pm-report-sink.ts";
import { followSecrets, type FollowedSecrets } from "./adapters/secret-files.ts";
import type { CrmConfig } from "./config.ts";
import { createClassManager, type ClassManager, type ClassManagerOptions } from "./controller/class-manager.ts";
import { configuredFacts } from "./controller/cluster/cluster-facts.ts";
import { DEPLOYMENT_RECORDS } from "./controller/kinds/resource-types.ts";
import { CLASS_RUNTIME_KIND } from "./controller/kinds/class-kind.ts";
import { bearerAuthorizer, certificateAuthorizer, everyAuthorizer } from "./grpc/access/authorize.ts";
import { capabilityNames, kubeClusterReader, templateNames } from "./grpc/cluster/kube-cluster-reader.ts";
import { createExplainer } from "./grpc/deployments/explainer.ts";
import { whereAllowed } from "./classes/kube-directory.ts";
import { kubeClasses } from "./classes/kube-store.ts";
import { namespaceRules, type NamespaceRules } from "./grpc/access/namespaces.ts";
import { createServeCheck } from "./grpc/deployments/serve-check.ts";
import { createGrpcServices, type GrpcServices } from "./grpc/services.ts";
import type { ClassDirectory, ClassStore } from "./classes/ports.ts";
import { OdgmHealth } from "./odgm-health/odgm-health.ts";
import { PmReporter, reportingMetrics } from "./reporting/pm-reporter.ts";
import { crmMetrics } from "./telemetry.ts";
import { VERSION } from "./version.ts";

/** The world around the manager; `main.ts` hands in the real one. */
export interface AppPorts {
  readonly ambient: Ambient;
  readonly transport: Transport;
  /** To the same server, for the Lease alone: it must be renewed in time however much else is sent. Without it: the other one. */
  readonly leaseTransport?: Transport;
  /** The namespace of the pod or of the kubeconfig's context. */
  readonly ownNamespace: string;
  /** Differs between processes. */
  readonly identity: string;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly metricsText: () => Promise<string>;
  readonly metricsType: string;
  readonly context: ContextStore;
  /** The configuration as its templateSources are now, for secrets in files that change. */
  readonly reread: () => CrmConfig;
  /** Where state stores are, when not behind the cluster's own names. */
  readonly gridResolver?: GridResolver;
}

export interface RunningApp {
  readonly port: number;
  readonly grpcPort: number | undefined;
  /** Resolves when every cache is synced. */
  readonly ready: Promise<void>;
  /** Stops in order: no new calls, running ones end, workers end, the lease is given back, caches stop. Repeatable. */
  close(): Promise<void>;
}

/** Starts the class runtime manager: listens at once, so that probes are answered, and works as soon as it may. */
export async function startApp(config: CrmConfig, ports: AppPorts): Promise<RunningApp> {
  const { ambient, logger, meter } = ports;
  const namespaces = namespaceRules(config.k8s.namespaces, ports.ownNamespace);
  const served = namespaces.served === "all" ? undefined : namespaces.served;
  const clients = clientsOf(ports);
  const { client } = clients;
  // `reporting` is made below: what it tells comes from the manager's own caches.
  const reports: LedTask = { name: "reports", run: async (signal) => reporting?.reporter.run(signal) };
  const crm = createClassManager({
    ...clients,
    ambient,
    namespaces: served,
    facts: configuredFacts(config),
    identity: ports.identity,
    concurrency: config.limits.concurrency,
    tasks: [reports],
    ...(config.odgmHealth.enabled ? { odgmHealth: odgmHealthOf(config, ports) } : {}),
    ...(config.features.leaderElection ? { election: electionOf(config, namespaces) } : {}),
    logger,
    meter,
  });
  const records = crm.informers.view(DEPLOYMENT_RECORDS, served, {}, { mayBeRefused: true });
  const classes = kubeClasses(client, [crm.classRuntimes, whereAllowed(records)], ambient.clock);
  const services = servicesOf(config, ports, namespaces, client, crm, classes);
  const secrets = followSecrets({
    config,
    reread: ports.reread,
    timers: ambient.timers,
    changed: () => logger.info("secrets were read again"),
    failed: (fault) => logger.warn("secrets could not be read again; the last ones count", { fault }),
  });
  const reporting = reportingOf(config, ports, namespaces.fallback, crm, classes.directory, secrets);
  const rpc = new RpcServer({
    services: services.services,
    ambient,
    logger,
    meter,
    context: ports.context,
    authorize: everyAuthorizer([
      ...(config.security.mtls ? [certificateAuthorizer()] : []),
      bearerAuthorizer(() => secrets.current().tokens),
    ]),
  });
  const http = createEndpoints({
    version: VERSION,
    unhealthy: () => crm.manager.health().reasons,
    notReady: () => crm.manager.readiness().reasons,
    without: () => crm.informers.refused.map(({ fault }) => fault.message),
    metrics: ports.metricsText,
    metricsType: ports.metricsType,
    leader: () => crm.elector?.leader,
  });
  const release = async (): Promise<void> => {
    secrets.close();
    reporting?.close();
    await client.close();
    await clients.leaseClient?.close();
  };
  const doors = await openDoors(config, { rpc, http }, { timers: ambient.timers, logger }).catch(
    async (thrown: unknown) => {
      await release();
      throw thrown;
    },
  );
  crm.manager.start();
  const ready = crm.informers.synced().then(() => services.setServing(true));
  ready.catch(() => undefined);
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    services.setServing(false);
    await doors.close();
    await crm.manager.stop();
    await crm.events.flush();
    await release();
  };
  return { port: doors.port, grpcPort: doors.grpcPort, ready, close: () => (closing ??= close()) };
}

/** One for everything, one for the Lease, and one whose writes pass only while this process leads. */
function clientsOf({
  ambient,
  logger,
  meter,
  transport,
  leaseTransport,
}: AppPorts): Pick<ClassManagerOptions, "client" | "leaseClient" | "fencedClient"> {
  const common = { ambient, meter, userAgent: `oprc-crm/${VERSION}` };
  const onWarning = (text: string): void => logger.warn("the API server warns", { text });
  return {
    client: new KubeClient({ ...common, transport, onWarning }),
    ...(leaseTransport ? { leaseClient: new KubeClient({ ...common, transport: leaseTransport }) } : {}),
    fencedClient: (mayWrite) => new KubeClient({ ...common, transport: fenced(transport, mayWrite) }),
  };
}

function electionOf(
  { leaderElection: { namespace, lease, leaseMs } }: CrmConfig,
  { fallback }: NamespaceRules,
): NonNullable<ClassManagerOptions["election"]> {
  return { namespace: namespace ?? fallback, name: lease, leaseMs };
}

function odgmHealthOf({ odgmHealth, k8s }: CrmConfig, { ambient, logger, meter, gridResolver }: AppPorts): OdgmHealth {
  const { everyMs, timeoutMs } = odgmHealth;
  const resolve = gridResolver ?? clusterResolver(k8s.clusterDomain);
  return new OdgmHealth({
    client: odgmAsker(resolve, ambient.clock, timeoutMs),
    ambient,
    logger,
    meter,
    everyMs,
    timeoutMs,
  });
}

/** Undefined when there is nobody to report to. */
function reportingOf(
  { pm, clusterName }: CrmConfig,
  { ambient, logger, meter }: AppPorts,
  ownName: string,
  crm: ClassManager,
  classes: ClassDirectory,
  secrets: FollowedSecrets,
): { readonly reporter: PmReporter; close(): void } | undefined {
  if (pm.url === undefined) return undefined;
  const sink = pmSink({
    config: { ...pm, url: pm.url },
    clock: ambient.clock,
    token: () => secrets.current().pmToken,
  });
  const reporter = new PmReporter({
    classes,
    sink,
    cluster: clusterName ?? ownName,
    ambient,
    logger,
    metrics: reportingMetrics(meter),
    isLeading: () => crm.elector?.isLeading ?? true,
    metricsEveryMs: pm.metricsEveryMs,
    drainMs: pm.drainMs,
  });
  return { reporter, close: () => sink.close() };
}

function servicesOf(
  config: CrmConfig,
  ports: AppPorts,
  namespaces: NamespaceRules,
  client: KubeClient,
  crm: ClassManager,
  { directory, store }: { readonly directory: ClassDirectory; readonly store: ClassStore },
): GrpcServices {
  const { ambient, logger, meter } = ports;
  const { templateSources, facts } = crm;
  return createGrpcServices({
    ambient,
    namespaces,
    profile: config.profile,
    directory,
    store,
    leadership: {
      get isLeading() {
        return crm.elector?.isLeading ?? true;
      },
      get leader() {
        return crm.elector ? crm.elector.leader : ports.identity;
      },
    },
    check: createServeCheck({
      facts: (namespace) => facts.read(namespace),
      environmentOf: (namespace, wanted) => templateSources.resolveEnvironment(namespace, wanted),
      userTemplates: (namespace) => templateSources.userTemplates(namespace),
      brokenQuotas: ({ metadata: { name, namespace = "" } }, wanted) =>
        crm.quotas.check(CLASS_RUNTIME_KIND.name, { namespace, name }, wanted),
    }),
    explainer: createExplainer((object, signal) => crm.observe(object, signal), ambient.clock),
    cluster: kubeClusterReader({
      client,
      ambient,
      logger,
      nodes: () => crm.pods.nodes,
      trouble: () => crm.informers.troubles.find(({ fault }) => fault.kind !== "permission-denied")?.fault,
      capabilities: () => capabilityNames(facts.read(namespaces.fallback)),
      templates: () => templateNames([...templateSources.templates.cache.list()].map(({ metadata }) => metadata.name)),
      environments: () => [...templateSources.environments.cache.list()].map(({ metadata }) => metadata.name),
    }),
    version: VERSION,
    clusterName: config.clusterName,
    labels: Object.fromEntries(
      Object.entries({ region: config.place.region, zone: config.place.zone }).filter(
        (entry): entry is [string, string] => entry[1] !== undefined,
      ),
    ),
    mockAvailability: config.mockAvailability,
    logger,
    metrics: crmMetrics(meter),
    maxWatchers: config.limits.watchers,
  });
}
