import { present } from "@oaas/contracts/rest";
import { CrmInfoService, DeploymentService, HealthService, TopologyService } from "@oaas/contracts/grpc";
import type { Ambient, Timer } from "@oaas/foundation";
import type { ContextStore, Logger } from "@oaas/observability";
import { RpcChannel, type ChannelTls, type RpcClient } from "@oaas/rpc";
import type { ClusterRegistration } from "../../../use-cases.ts";
import { peerName } from "../guard/cluster-guard.ts";
import { tlsProblem, tokenProblem, type ClusterTls, type TlsTexts } from "./secret-checks.ts";
import { ReloadedFiles, type ReloadOptions, type SecretFiles } from "./secret-files.ts";

/** The services of one class runtime manager. */
export interface CrmServices {
  readonly deployments: RpcClient<typeof DeploymentService>;
  readonly info: RpcClient<typeof CrmInfoService>;
  readonly health: RpcClient<typeof HealthService>;
  readonly topology: RpcClient<typeof TopologyService>;
}

/** How long calls on a connection with old certificates may go on. */
const OLD_CHANNEL_MS = 60_000;

export interface ConnectionDeps {
  readonly ambient: Ambient;
  readonly context: ContextStore;
  readonly files: SecretFiles;
  readonly logger: Logger;
}

/**
 * The way to one cluster: one connection, kept alive, made anew when its certificates were replaced.
 *
 * It connects by itself when first used. A token file that changed counts from the next call on.
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
    this.#tlsFiles = this.#follow(filesOf(tls), (texts) => tlsProblem(tls, textsOf(tls, texts)));
    this.#tokenFile =
      tokenFile === undefined ? undefined : this.#follow([tokenFile], (texts) => tokenProblem(tokenFile, texts));
  }

  /** The services over the present connection. Failed-precondition when a file that is needed was never readable. */
  services(): CrmServices {
    const texts = this.#tlsFiles?.texts();
    if (this.#current !== undefined && this.#current.texts === texts) return this.#current.services;
    const channel = this.#open(texts ?? []);
    if (this.#current !== undefined) this.#retire(this.#current.channel);
    const services = {
      deployments: channel.client(DeploymentService),
      info: channel.client(CrmInfoService),
      health: channel.client(HealthService),
      topology: channel.client(TopologyService),
    };
    this.#current = { channel, services, texts };
    return services;
  }

  /** Ends the connection; calls under way fail. Repeatable. */
  close(): void {
    this.#current?.channel.close();
    this.#current = undefined;
    for (const [channel, timer] of this.#retired) {
      timer.cancel();
      channel.close();
    }
    this.#retired.clear();
  }

  #follow(paths: readonly string[], check: ReloadOptions["check"] & {}): ReloadedFiles | undefined {
    if (paths.length === 0) return undefined;
    const { files, ambient, logger } = this.#deps;
    const cluster = this.registration.name;
    const onTrouble: ReloadOptions["onTrouble"] = (fault) =>
      fault === undefined
        ? logger.info("the changed files of a cluster are in use", { cluster })
        : logger.error("the changed files of a cluster cannot be used; those from before stay in use", {
            cluster,
            fault,
          });
    return new ReloadedFiles(files, ambient.clock, paths, { check, onTrouble });
  }

  #open(texts: readonly string[]): RpcChannel {
    const { name, url } = this.registration;
    const { ambient, context } = this.#deps;
    const tls = this.#tls(texts);
    const token = this.#token();
    return new RpcChannel({
      name: peerName(name),
      address: addressOf(url),
      clock: ambient.clock,
      context,
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

  #retire(channel: RpcChannel): void {
    const timer = this.#deps.ambient.timers.after(OLD_CHANNEL_MS, () => {
      this.#retired.delete(channel);
      channel.close();
    });
    this.#retired.set(channel, timer);
  }
}

const NO_TLS: ClusterTls = { insecure: false };

/** The files that are named, in the order in which they are read. */
function filesOf({ caFile, certificateFile, keyFile }: ClusterTls): string[] {
  return [caFile, certificateFile, keyFile].filter((path) => path !== undefined);
}

/** What was read of the files that are named. */
function textsOf({ caFile, certificateFile, keyFile }: ClusterTls, texts: readonly string[]): TlsTexts {
  const rest = [...texts];
  const next = (path: string | undefined): string | undefined => (path === undefined ? undefined : rest.shift());
  return present({ ca: next(caFile), certificate: next(certificateFile), key: next(keyFile) });
}

/** Whether an address asks for TLS. */
function isSecure(url: string): boolean {
  return new URL(url).protocol === "https:";
}

/** host:port of an http or https address. */
function addressOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}
