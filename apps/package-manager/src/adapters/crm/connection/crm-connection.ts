import { omitUndefined } from "@oaas/contracts/rest";
import {
  CrmInfoService,
  DeploymentService,
  HealthService,
  InspectionService,
  StateStoreService,
  TopologyService,
} from "@oaas/contracts/grpc";
import type { Ambient, Timer } from "@oaas/foundation";
import { type ContextStore, type Logger, NOOP_TRACER, type Tracer } from "@oaas/observability";
import { RpcChannel, type CertificateExpiry, type CertificateUse, type ChannelTls, type RpcClient } from "@oaas/rpc";
import type { ClusterRegistration } from "../../../use-cases.ts";
import { peerName } from "../guard/cluster-guard.ts";
import { tlsProblem, tokenProblem, type ClusterTls, type TlsTexts } from "./secret-checks.ts";
import { ReloadedFiles, type ReloadOptions, type SecretFiles } from "../../secret-files.ts";

/** The gRPC services of one class runtime manager. */
export interface CrmServices {
  readonly deployments: RpcClient<typeof DeploymentService>;
  readonly info: RpcClient<typeof CrmInfoService>;
  readonly health: RpcClient<typeof HealthService>;
  readonly topology: RpcClient<typeof TopologyService>;
  readonly inspection: RpcClient<typeof InspectionService>;
  readonly stateStore: RpcClient<typeof StateStoreService>;
}

/** How long calls may finish on a replaced connection. */
const RETIRED_CHANNEL_MS = 60_000;
/** Replaced connections that are kept for their calls. A cluster without a leader would fill them. */
const MAX_RETIRED = 32;

export interface ConnectionDeps {
  readonly ambient: Ambient;
  readonly context: ContextStore;
  readonly tracer?: Tracer | undefined;
  readonly files: SecretFiles;
  readonly logger: Logger;
  readonly expiry: CertificateExpiry;
}

/**
 * The connection to one cluster. Connects on first use, reconnects after its certificate files changed or another replica
 * is needed, and uses a changed token file from the next call.
 */
export class CrmConnection {
  readonly registration: ClusterRegistration;
  readonly #deps: ConnectionDeps;
  readonly #tlsFiles: ReloadedFiles | undefined;
  readonly #tokenFile: ReloadedFiles | undefined;
  readonly #retired = new Map<RpcChannel, Timer>();
  #current: { readonly channel: RpcChannel; readonly services: CrmServices; readonly texts: unknown } | undefined;

  constructor(registration: ClusterRegistration, deps: ConnectionDeps) {
    this.registration = registration;
    this.#deps = deps;
    const { tls = NO_TLS, tokenFile } = registration;
    this.#tlsFiles = this.#watchFiles(filesOf(tls), (texts) => tlsProblem(tls, textsOf(tls, texts)));
    this.#tokenFile =
      tokenFile === undefined ? undefined : this.#watchFiles([tokenFile], (texts) => tokenProblem(tokenFile, texts));
  }

  /** The services over the current connection. Throws failed-precondition if a required file was never readable. */
  services(): CrmServices {
    const texts = this.#tlsFiles?.texts();
    if (this.#current !== undefined && this.#current.texts === texts) return this.#current.services;
    const channel = this.#open(texts ?? []);
    this.#retireCurrent();
    const services = {
      deployments: channel.client(DeploymentService),
      info: channel.client(CrmInfoService),
      health: channel.client(HealthService),
      topology: channel.client(TopologyService),
      inspection: channel.client(InspectionService),
      stateStore: channel.client(StateStoreService),
    };
    this.#current = { channel, services, texts };
    return services;
  }

  /** Lets the next call open a new connection, unless another call did so since these services were returned. */
  replace(services: CrmServices): void {
    if (this.#current?.services === services) this.#retireCurrent();
  }

  /** Closes the connection; calls in flight fail. Idempotent. */
  close(): void {
    this.#current?.channel.close();
    this.#current = undefined;
    this.#deps.expiry.remove(this.#certificate);
    for (const [channel, timer] of this.#retired) {
      timer.cancel();
      channel.close();
    }
    this.#retired.clear();
  }

  #watchFiles(paths: readonly string[], check: ReloadOptions["check"] & {}): ReloadedFiles | undefined {
    if (paths.length === 0) return undefined;
    const { files, ambient, logger } = this.#deps;
    const cluster = this.registration.name;
    const onReload: ReloadOptions["onReload"] = (fault) =>
      fault === undefined
        ? logger.info("reloaded credential files", { cluster })
        : logger.error("reload credential files failed, keeping the previous ones", { cluster, fault });
    return new ReloadedFiles(files, ambient.clock, paths, { check, onReload });
  }

  get #certificate(): CertificateUse {
    return { use: "client", peer: this.registration.name };
  }

  #open(texts: readonly string[]): RpcChannel {
    const { name, url } = this.registration;
    const { ambient, context, tracer = NOOP_TRACER, expiry } = this.#deps;
    const tls = this.#tls(texts);
    if (tls?.certificate !== undefined) expiry.show(this.#certificate, tls.certificate);
    const token = this.#token();
    return new RpcChannel({
      name: peerName(name),
      address: addressOf(url),
      clock: ambient.clock,
      context,
      tracer,
      ...(tls === undefined ? {} : { tls }),
      ...(token === undefined ? {} : { token }),
    });
  }

  #tls(texts: readonly string[]): ChannelTls | undefined {
    if (!isSecure(this.registration.url)) return undefined;
    const { tls = NO_TLS } = this.registration;
    return { ...textsOf(tls, texts), ...(tls.insecure ? { insecure: true } : {}) };
  }

  #token(): (() => string | undefined) | undefined {
    const file = this.#tokenFile;
    if (file !== undefined) return () => file.texts()[0]?.trim();
    const { token } = this.registration;
    return token === undefined ? undefined : () => token;
  }

  #retireCurrent(): void {
    const channel = this.#current?.channel;
    this.#current = undefined;
    if (channel === undefined) return;
    const [oldest] = this.#retired;
    if (oldest !== undefined && this.#retired.size >= MAX_RETIRED) {
      const [former, itsTimer] = oldest;
      itsTimer.cancel();
      this.#retired.delete(former);
      former.close();
    }
    const timer = this.#deps.ambient.timers.after(RETIRED_CHANNEL_MS, () => {
      this.#retired.delete(channel);
      channel.close();
    });
    this.#retired.set(channel, timer);
  }
}

const NO_TLS: ClusterTls = { insecure: false };

/** The configured files, in reading order. */
function filesOf({ caFile, certificateFile, keyFile }: ClusterTls): string[] {
  return [caFile, certificateFile, keyFile].filter((path) => path !== undefined);
}

/** The file contents by purpose. */
function textsOf({ caFile, certificateFile, keyFile }: ClusterTls, texts: readonly string[]): TlsTexts {
  const rest = [...texts];
  const next = (path: string | undefined): string | undefined => (path === undefined ? undefined : rest.shift());
  return omitUndefined({ ca: next(caFile), certificate: next(certificateFile), key: next(keyFile) });
}

function isSecure(url: string): boolean {
  return new URL(url).protocol === "https:";
}

/** host:port of an http or https URL. */
function addressOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}
