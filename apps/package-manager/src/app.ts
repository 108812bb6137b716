import type { TlsOptions } from "node:tls";
import { createPlaceholder } from "@oaas/certificates";
import { FILE_DESCRIPTORS, METADATA_KEYS, PackageService } from "@oaas/contracts/grpc";
import { faultStatus } from "@oaas/contracts/rest";
import { Fault, isLoopbackHost, sleep, type Clock } from "@oaas/foundation";
import { ensureCorrelationId, type MetricsFormat } from "@oaas/observability";
import {
  CertificateExpiry,
  listenFault,
  HealthRegistry,
  listenOnePort,
  openMetricsListener,
  reflectionServices,
  RpcServer,
  type MetricsListener,
  type OnePort,
} from "@oaas/rpc";
import { actorOf, AuditTrail } from "./access/audit.ts";
import { AuditQueue, auditToLog, type AuditSink } from "./access/audit-queue.ts";
import {
  acceptEveryCaller,
  bearerAuthenticator,
  certificateAuthenticator,
  reporterAuthenticator,
  type Authenticator,
} from "./access/authenticator.ts";
import { callerId, UNKNOWN_CALLER, type Caller } from "./access/caller.ts";
import { OidcCallers, type FetchJson } from "./access/oidc.ts";
import { cookieNames } from "./access/sessions/cookies.ts";
import { OidcLogin } from "./access/sessions/oidc-login.ts";
import { Sessions } from "./access/sessions/sessions.ts";
import { SignIn } from "./access/sessions/sign-in.ts";
import { RateLimiter } from "./access/limits/rate-limit.ts";
import type { TokenTable } from "./access/token-file.ts";
import type { ConsoleFiles } from "./adapters/console-files.ts";
import { respondWithPort } from "./adapters/http-fallback.ts";
import { newSecret } from "./adapters/new-secret.ts";
import { openConsole } from "./adapters/open-console.ts";
import { openServerTls, type ServerTls, type ServerTlsOptions } from "./adapters/server-tls.ts";
import {
  acceptsTokens,
  crossSiteRules,
  isAuthenticationOff,
  isCookieSecure,
  listenHost,
  maxBodiesBytes,
  sendsTokensInClear,
  servesMetrics,
  type PmConfig,
} from "./config.ts";
import { isChange, packageService, sentCredentials } from "./grpc/package-service.ts";
import { Idempotency } from "./idempotency/idempotency.ts";
import { Pipeline } from "./http/pipeline.ts";
import { auditHandlers } from "./http/routes/audit.ts";
import { classRuntimeHandlers } from "./http/routes/class-runtimes.ts";
import { clusterHandlers } from "./http/routes/clusters.ts";
import { freezeWindowHandlers } from "./http/routes/freeze-windows.ts";
import { labHandlers } from "./http/routes/lab.ts";
import { overviewHandlers } from "./http/routes/overview.ts";
import { functionHandlers } from "./http/routes/functions.ts";
import { stateObjectHandlers } from "./http/routes/state-objects.ts";
import { inspectionHandlers } from "./http/routes/inspection.ts";
import { deploymentHandlers } from "./http/routes/deployments.ts";
import { documentHandlers } from "./http/routes/documents.ts";
import { eventHandlers } from "./http/routes/events.ts";
import { catalogueHandlers, packageHandlers } from "./http/routes/packages.ts";
import { serviceHandlers } from "./http/routes/service.ts";
import { sessionHandlers, type SessionRoutes } from "./http/routes/session.ts";
import { HttpServer } from "./http/server/http-server.ts";
import type { PlatformPorts } from "./platform-parts.ts";
import { startPlatform, type Platform } from "./platform.ts";
import { backgroundAudit } from "./access/background-audit.ts";
import { AuditStore } from "./stores/audit-records.ts";
import { measureStore } from "./stores/measured-store.ts";
import { SessionStore } from "./stores/session-store.ts";
import type { AuditReader, Lab } from "./use-cases.ts";
import { VERSION } from "./version.ts";

/** The dependencies of the package manager; `main.ts` passes the real ones. */
export interface AppPorts extends PlatformPorts {
  /** The current tokens; undefined when no token file is configured. */
  readonly tokens: () => TokenTable | undefined;
  /** Problems of the environment that an operator should fix. */
  readonly warnings?: () => readonly string[];
  readonly fetchJson: FetchJson;
  /** Where audit lines go. Default: the log. */
  readonly audit?: AuditSink;
  readonly metricsText: (format: MetricsFormat) => Promise<string>;
  /** Fault injection of the local stack. Offered on loopback only. */
  readonly lab?: Lab | undefined;
}

export interface RunningApp {
  readonly host: string;
  readonly port: number;
  readonly grpcPort: number | undefined;
  readonly metricsPort: number | undefined;
  /** Whether the console is served at `/`. */
  readonly hasConsole: boolean;
  /** Reasons why the setup is not fit for production. */
  readonly warnings: readonly string[];
  /** Applies the settings that reload. Throws and changes nothing if they cannot be applied. */
  applyConfig(config: PmConfig): void;
  /**
   * Stops within the shutdown delay and the grace period: serves requests during the delay, then rejects new ones, drains
   * running ones, leaves sagas to their journal. Repeatable.
   */
  close(): Promise<void>;
}

/** Starts the package manager: the platform, then its listeners. */
export async function startApp(config: PmConfig, given: AppPorts): Promise<RunningApp> {
  const ports = {
    ...given,
    store: measureStore(given.store, {
      meter: given.meter,
      clock: given.ambient.clock,
      backend: config.storage.type,
    }),
  };
  const console = await openConsole(config.console);
  const { timers } = ports.ambient;
  const expiry = new CertificateExpiry(ports.meter);
  const tlsOptions = { timers, logger: ports.logger, expiry };
  const { certFile, keyFile, clientCaFile } = config.security;
  const tls = openServerTls({ prefix: "OPRC_PM_SECURITY_TLS", certFile, keyFile, clientCaFile }, tlsOptions);
  const ownGrpcTls = openGrpcTls(config, ports.ambient.clock, tlsOptions);
  const audit = openAudit(config, ports);
  const platform = await startPlatform(config, { ...ports, backgroundAudit: backgroundAudit(audit.trail) });
  const sessions = sessionsOf(config, ports);
  const authenticate = authenticatorOf(config, ports, sessions);
  const configured = warningsOf(config);
  const warnings = (): readonly string[] => {
    const problem = ownGrpcTls?.problem();
    return problem === undefined ? configured : [...configured, `class runtime managers cannot report: ${problem}`];
  };
  let current = config;
  let isStopping = false;
  const rates = new RateLimiter(
    () => ({ perSecond: current.server.callerRate, burst: current.server.callerBurst }),
    ports.ambient.clock,
  );
  const edge: Edge = { authenticate, audit: audit.trail, admit: (caller) => rates.admit(callerId(caller)) };
  const http = httpServer(config, () => current, ports, platform, {
    ...edge,
    kept: audit,
    warnings,
    tls: tls?.options,
    console,
    signIn: sessions && signInOf(config, ports, { sessions, authenticate, audit: audit.trail }),
    isStopping: () => isStopping,
  });
  const host = listenHost(config);
  let metrics: MetricsListener | undefined;
  try {
    const port = await http.listen(host, config.server.port).catch((thrown: Error) => {
      throw listenFault(host, config.server.port, thrown);
    });
    metrics = await openMetrics(config, ports);
    const { reporters } = config.grpcSecurity;
    const grpc = await openGrpc(config, ports, platform, {
      ...edge,
      ...(reporters === undefined ? {} : { authenticate: reporterAuthenticator(reporters, authenticate) }),
      tls: (ownGrpcTls ?? tls)?.options,
    });
    const unfollow = tls?.follow((options) => {
      http.setTls(options);
      if (ownGrpcTls === undefined) grpc?.setTls(options);
    });
    const unfollowGrpc = ownGrpcTls?.follow((options) => grpc?.setTls(options));
    const { etcdCertFile } = config.storage;
    const unfollowEtcd =
      etcdCertFile === undefined ? undefined : expiry.follow({ use: "client", peer: "etcd" }, etcdCertFile, timers);
    let closing: Promise<void> | undefined;
    return {
      host,
      port,
      grpcPort: grpc?.port,
      metricsPort: metrics?.port,
      hasConsole: console !== undefined,
      warnings: warnings(),
      applyConfig: (changed) => {
        platform.setConfiguredClusters(changed.crm);
        current = changed;
        http.setMaxConnections(changed.server.maxConnections);
      },
      close: () =>
        (closing ??= (async () => {
          const { shutdownDelayMs, graceMs } = config.server;
          isStopping = true;
          http.startClosing();
          await sleep(timers, shutdownDelayMs);
          unfollow?.();
          unfollowGrpc?.();
          unfollowEtcd?.();
          const late = ports.ambient.timers.after(graceMs, () => http.closeAllConnections());
          await Promise.all([http.close(), grpc?.close(graceMs), metrics?.close()]);
          late.cancel();
          await platform.close(graceMs);
          await audit.close(graceMs);
        })()),
    };
  } catch (thrown) {
    await metrics?.close();
    await http.close();
    await platform.close(0);
    await audit.close(0);
    throw thrown;
  }
}

interface OpenAudit extends AuditReader {
  readonly trail: AuditTrail;
  warnings(): readonly string[];
  /** Writes what waits. */
  close(graceMs: number): Promise<void>;
}

function openAudit({ audit: { keep } }: PmConfig, { ambient, store, logger, audit }: AppPorts): OpenAudit {
  const queue = new AuditQueue({ sink: audit ?? auditToLog(logger), ambient, logger });
  const records = new AuditStore({ store, ambient, logger, keep });
  return {
    trail: new AuditTrail({ queue, records, ambient, instance: ambient.ids.uuid() }),
    list: (query) => records.list(query),
    warnings: () => queue.warnings(),
    close: async (graceMs) => {
      await records.close();
      await queue.close(graceMs);
    },
  };
}

/** What the listeners share. */
interface Edge {
  readonly authenticate: Authenticator;
  /** Throws when a caller exceeds its rate limit, over all listeners. */
  readonly admit: (caller: Caller) => void;
  readonly audit: AuditTrail;
  readonly tls?: TlsOptions | undefined;
}

function httpServer(
  config: PmConfig,
  current: () => PmConfig,
  ports: AppPorts,
  platform: Platform,
  edge: Edge & {
    readonly warnings: () => readonly string[];
    readonly kept: OpenAudit;
    readonly console: ConsoleFiles | undefined;
    readonly signIn: SessionRoutes["signIn"];
    readonly isStopping: () => boolean;
  },
): HttpServer {
  const { ambient, store } = ports;
  const lab = isLoopbackHost(listenHost(config)) ? ports.lab : undefined;
  return new HttpServer({
    pipeline: new Pipeline({
      ...ports,
      ...edge,
      crossSite: crossSiteRules(config),
      sessionCookie: edge.signIn?.cookies.session,
      idempotency: new Idempotency(store, ambient, () => platform.leaseKey()),
    }),
    handlers: {
      ...packageHandlers(platform.registry),
      ...catalogueHandlers(platform.registry, platform.status),
      ...deploymentHandlers(platform.deployments, platform.replans, platform.pauses, platform.status),
      ...functionHandlers(platform.functions),
      ...inspectionHandlers(platform.inspection),
      ...stateObjectHandlers(platform.state),
      ...documentHandlers(platform.documents),
      ...freezeWindowHandlers(platform.freezes),
      ...clusterHandlers(platform.clusters, platform, platform.status, ambient.clock),
      ...classRuntimeHandlers(platform.status),
      ...eventHandlers(platform.feed, platform.deployments),
      ...auditHandlers(edge.kept),
      ...overviewHandlers(platform.overview),
      ...labHandlers(lab),
      ...sessionHandlers({
        authenticate: edge.authenticate,
        signIn: edge.signIn,
        isAuthenticationOff: isAuthenticationOff(config),
        hasConsole: edge.console !== undefined,
        hasLab: lab !== undefined,
        now: () => ambient.clock.now(),
      }),
      ...serviceHandlers({
        version: VERSION,
        ambient,
        storage: () => store.revision(),
        warnings: () => [
          ...edge.warnings(),
          ...(ports.warnings?.() ?? []),
          ...platform.warnings(),
          ...edge.kept.warnings(),
        ],
        checks: () => ({
          ...Object.fromEntries(Object.entries(platform.faults()).map(([name, fault]) => [name, fault?.message])),
          ...(edge.isStopping() ? { shutdown: "the process is stopping" } : {}),
        }),
        metrics: servesMetrics(config) ? ports.metricsText : noMetrics,
      }),
    },
    clock: ambient.clock,
    timers: ambient.timers,
    ensureCorrelationId: (sent) => ensureCorrelationId(sent, ambient.ids),
    corsOrigins: config.server.corsOrigins,
    get maxBodyBytes() {
      return current().server.maxBodyBytes;
    },
    get maxBodiesBytes() {
      return maxBodiesBytes(current());
    },
    maxConnections: config.server.maxConnections,
    get maxStreams() {
      return current().server.maxStreams;
    },
    requestTimeoutMs: config.server.requestTimeoutMs,
    tls: edge.tls,
    console: edge.console,
  });
}

/** The TLS of the gRPC listener, if it has its own. Its Secret may be filled by a class runtime manager that starts later. */
function openGrpcTls({ grpcSecurity }: PmConfig, clock: Clock, options: ServerTlsOptions): ServerTls | undefined {
  const { certFile, keyFile, clientCaFile } = grpcSecurity;
  return openServerTls(
    { prefix: "OPRC_PM_SECURITY_GRPC_TLS", certFile, keyFile, clientCaFile },
    {
      ...options,
      peer: "class-runtime-managers",
      untilValid: () => {
        const { authority, certificate, key } = createPlaceholder(clock.now());
        return { cert: certificate, key, ca: authority, requestCert: true, rejectUnauthorized: true };
      },
    },
  );
}

async function openGrpc(
  config: PmConfig,
  ports: AppPorts,
  { registry, deployments, reports }: Platform,
  edge: Edge,
): Promise<OnePort | undefined> {
  if (config.server.grpcPort === undefined) return undefined;
  const board = new HealthRegistry();
  const own = [packageService({ registry, deployments, reports, ...edge }), ...board.services()];
  const names = own.map(({ service }) => service.typeName);
  const rpc = new RpcServer({
    ...ports,
    services: [...own, ...reflectionServices(FILE_DESCRIPTORS, names)],
    // Before the request is read. The service authenticates again, for the role of the method and the audit trail.
    authorize: async ({ parent }, head) =>
      parent === PackageService ? callerId(await edge.authenticate(sentCredentials(head))) : undefined,
    onRejected: (method, head, fault) => {
      if (!isChange(method)) return;
      const correlationId = head.header(METADATA_KEYS.correlationId) ?? "";
      const actor = actorOf(UNKNOWN_CALLER, head.peer.address);
      const attempt = { actor, action: method.localName, target: "", correlationId };
      // The call is rejected already, whether or not that can be recorded.
      void edge.audit
        .refuse(attempt, { status: faultStatus(fault), reason: fault.message })
        .catch((thrown: unknown) => ports.logger.error("audit call failed", { fault: Fault.from(thrown) }));
    },
  });
  for (const name of ["", ...names]) board.set(name, "serving");
  return listenOnePort({
    host: listenHost(config),
    port: config.server.grpcPort,
    rpc,
    http: respondWithPort,
    timers: ports.ambient.timers,
    crossSite: crossSiteRules(config),
    ...(edge.tls ? { tls: edge.tls } : {}),
  });
}

async function openMetrics(config: PmConfig, ports: AppPorts): Promise<MetricsListener | undefined> {
  const { port, host } = config.metrics;
  if (port === undefined || !servesMetrics(config)) return undefined;
  const crossSite = isLoopbackHost(host) ? (crossSiteRules(config) ?? {}) : undefined;
  return openMetricsListener({ host, port, text: ports.metricsText, crossSite });
}

async function noMetrics(): Promise<never> {
  const message = "metrics are disabled by METRICS_ENABLED or OBSERVABILITY_ENABLED";
  throw new Fault({ kind: "not-found", resource: "path", name: "/metrics" }, message);
}

/** Attempts to sign in per address: enough for people behind one proxy, too few to guess tokens or fill the store. */
const SIGN_IN_LIMIT = { perSecond: 0.2, burst: 20 };

/** The sessions of browsers; undefined where callers do not authenticate with tokens. */
function sessionsOf(config: PmConfig, { store, ambient, tokens }: AppPorts): Sessions | undefined {
  if (isAuthenticationOff(config) || !acceptsTokens(config)) return undefined;
  const { maxAgeMs } = config.session;
  return new Sessions({ store: new SessionStore(store, ambient), clock: ambient.clock, maxAgeMs, tokens, newSecret });
}

function signInOf(
  config: PmConfig,
  ports: AppPorts,
  parts: { readonly sessions: Sessions; readonly authenticate: Authenticator; readonly audit: AuditTrail },
): SessionRoutes["signIn"] {
  const attempts = new RateLimiter(SIGN_IN_LIMIT, ports.ambient.clock);
  const oidc = oidcLoginOf(config, ports);
  const service = new SignIn({ ...parts, admit: (address) => attempts.admit(address) });
  return { sessions: parts.sessions, service, oidc, cookies: cookieNames(isCookieSecure(config)), newSecret };
}

function oidcLoginOf(config: PmConfig, ports: AppPorts): OidcLogin | undefined {
  const { clientId, clientSecret, redirectUrl, scopes } = config.oidcLogin;
  const { oidcIssuer: issuer } = config.auth;
  if (clientId === undefined || redirectUrl === undefined || issuer === undefined) return undefined;
  const { fetchJson, ambient } = ports;
  const callers = oidcCallersOf(config, ports, clientId);
  if (callers === undefined) return undefined;
  return new OidcLogin({
    issuer,
    clientId,
    clientSecret,
    redirectUrl,
    scopes,
    callers,
    fetchJson,
    clock: ambient.clock,
  });
}

/** Verifies the JWTs of the issuer for an audience; undefined without an issuer. */
function oidcCallersOf(config: PmConfig, ports: AppPorts, audience: string | undefined): OidcCallers | undefined {
  const { oidcIssuer: issuer, oidcRoleClaim: roleClaim, oidcRoleMapping: roleMapping } = config.auth;
  if (issuer === undefined || audience === undefined) return undefined;
  const { fetchJson, ambient } = ports;
  return new OidcCallers({ issuer, audience, roleClaim, roleMapping, clock: ambient.clock, fetchJson });
}

function authenticatorOf(config: PmConfig, ports: AppPorts, sessions: Sessions | undefined): Authenticator {
  if (isAuthenticationOff(config)) return acceptEveryCaller();
  const oidc = oidcCallersOf(config, ports, config.auth.oidcAudience);
  const { clientNames } = config.security;
  const bearer = acceptsTokens(config) ? bearerAuthenticator(ports.tokens, oidc, sessions) : undefined;
  if (clientNames !== undefined) return certificateAuthenticator(clientNames, bearer);
  return bearer ?? acceptEveryCaller();
}

function warningsOf(config: PmConfig): readonly string[] {
  const host = listenHost(config);
  const open = `authentication is off: every client that reaches ${host} is admin; set AUTH_TOKENS_FILE or OIDC_ISSUER`;
  const clear = `bearer tokens cross the network in clear text on ${host}; set OPRC_PM_SECURITY_TLS_CERT_FILE and OPRC_PM_SECURITY_TLS_KEY_FILE, or set SERVER_HOST to a loopback address behind a proxy with TLS`;
  const readable = `every client that reaches ${config.metrics.host} can read the metrics; unset METRICS_HOST, or scrape SERVER_PORT with a viewer's token`;
  return [
    ...(config.storage.type === "memory"
      ? ["storage is in memory: everything is lost when the process ends; set STORAGE_TYPE=sqlite or etcd"]
      : []),
    ...(isAuthenticationOff(config) ? [open] : []),
    ...(config.metrics.port === undefined || isLoopbackHost(config.metrics.host) ? [] : [readable]),
    ...(sendsTokensInClear(config) ? [clear] : []),
  ];
}
