import { CrmInfoService, DeploymentService, HealthService, TopologyService } from "@oaas/contracts/grpc";
import type { Ambient, Timer } from "@oaas/foundation";
import type { ContextStore } from "@oaas/observability";
import { RpcChannel, type ChannelTls, type RpcClient } from "@oaas/rpc";
import type { ClusterRegistration } from "../../use-cases.ts";
import { peerName } from "./cluster-guard.ts";
import { FollowedFiles, type SecretFiles } from "./secret-files.ts";

/** The services of one class runtime manager. */
export interface CrmServices {
  readonly deployments: RpcClient<typeof DeploymentService>;
  readonly info: RpcClient<typeof CrmInfoService>;
  readonly health: RpcClient<typeof HealthService>;
  readonly topology: RpcClient<typeof TopologyService>;
}

/** How long calls on a connection with old certificates may go on. */
const OLD_CHANNEL_MS = 60_000;

export interface LinkDeps {
  readonly ambient: Ambient;
  readonly context: ContextStore;
  readonly files: SecretFiles;
}

/**
 * The way to one cluster: one connection, kept alive, made anew when its certificates were replaced.
 *
 * It connects by itself when first used. A token file that changed counts from the next call on.
 */
export class CrmLink {
  readonly registration: ClusterRegistration;
  readonly #deps: LinkDeps;
  readonly #tlsFiles: FollowedFiles | undefined;
  readonly #tokenFile: FollowedFiles | undefined;
  readonly #retired = new Map<RpcChannel, Timer>();
  #current: { readonly channel: RpcChannel; readonly services: CrmServices; readonly texts: unknown } | undefined;

  constructor(registration: ClusterRegistration, deps: LinkDeps) {
    this.registration = registration;
    this.#deps = deps;
    const { tls, tokenFile } = registration;
    const follow = (...paths: readonly (string | undefined)[]): FollowedFiles | undefined => {
      const named = paths.filter((path) => path !== undefined);
      return named.length === 0 ? undefined : new FollowedFiles(deps.files, deps.ambient.clock, named);
    };
    this.#tlsFiles = follow(tls?.caFile, tls?.certificateFile, tls?.keyFile);
    this.#tokenFile = follow(tokenFile);
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
    const { tls } = this.registration;
    const rest = [...texts];
    const next = (path: string | undefined): string | undefined => (path === undefined ? undefined : rest.shift());
    const [ca, certificate, key] = [next(tls?.caFile), next(tls?.certificateFile), next(tls?.keyFile)];
    return {
      ...(ca === undefined ? {} : { ca }),
      ...(certificate === undefined ? {} : { certificate }),
      ...(key === undefined ? {} : { key }),
      ...(tls?.insecure ? { insecure: true } : {}),
    };
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

/** Whether an address asks for TLS. */
export function isSecure(url: string): boolean {
  return new URL(url).protocol === "https:";
}

/** host:port of an http or https address. */
export function addressOf(url: string): string {
  const { hostname, port, protocol } = new URL(url);
  return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
}
