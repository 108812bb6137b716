import type { TlsOptions } from "node:tls";
import { createPlaceholder } from "@oaas/certificates";
import { Fault, sleep, startDeadline, unavailable, type Ambient } from "@oaas/foundation";
import { NOOP_LOGGER, type Logger } from "@oaas/observability";
import type { CertificateExpiry, ChannelTls } from "@oaas/rpc";
import { firstExpiryMs, renewCertificates, type CertificateRules, type CertificateSet } from "./renew.ts";

/** Stored certificates with the version that a write must match. */
export interface StoredCertificates extends CertificateSet {
  readonly versions: Readonly<Record<keyof CertificateSet, string>>;
}

/** Stores the certificates outside of the process. */
export interface CertificateStore {
  /** Fails when a part does not exist. */
  load(signal: AbortSignal): Promise<StoredCertificates>;
  /** Stores one part. Fails with a conflict if the stored version is another one. */
  save(
    part: keyof CertificateSet,
    data: CertificateSet[keyof CertificateSet],
    version: string,
    signal: AbortSignal,
  ): Promise<void>;
}

export interface SelfSignedOptions {
  readonly ambient: Ambient;
  readonly store: CertificateStore;
  readonly rules: Omit<CertificateRules, "nowMs">;
  /** Whether clients must present a certificate. */
  readonly mtls: boolean;
  readonly logger?: Logger;
  readonly expiry?: CertificateExpiry;
}

/** How often the stored certificates are read: another replica may have renewed them. */
const CHECK_MS = 30_000;
const RETRY_MS = 2_000;
const TIMEOUT_MS = 10_000;

/** The authority is stored first: certificates that it did not sign are replaced, so that a crash in between is repaired. */
const ORDER = ["authority", "server", "client"] as const;

/**
 * Creates the certificates of an installation, renews them, and serves with them.
 *
 * Every replica does it: a write that lost against another replica is repeated from the stored state. Until the first
 * certificate is loaded it serves with a placeholder that no client trusts, so that probes get a response with the
 * reason.
 */
export class SelfSignedCertificates {
  readonly #options: SelfSignedOptions;
  readonly #logger: Logger;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #served: CertificateSet["server"] | undefined;
  #problem: string | undefined = "certificates are not loaded yet";

  constructor(options: SelfSignedOptions) {
    this.#options = options;
    this.#logger = options.logger ?? NOOP_LOGGER;
  }

  /** Why no certificate can be served; undefined when one is. */
  get problem(): string | undefined {
    return this.#served === undefined ? this.#problem : undefined;
  }

  /** The certificate of this manager as a client, and the authorities of its peers. Throws unavailable until it is loaded. */
  clientTls(): Required<Pick<ChannelTls, "ca" | "certificate" | "key">> {
    if (this.#served === undefined) throw unavailable("certificates", this.#problem ?? "");
    const { "ca.crt": ca = "", "tls.crt": certificate = "", "tls.key": key = "" } = this.#served;
    return { ca, certificate, key };
  }

  /** TLS options that no client trusts. */
  placeholder(): TlsOptions {
    const { certificate, key, authority } = createPlaceholder(this.#options.ambient.clock.now());
    return this.#tlsOptions({ "tls.crt": certificate, "tls.key": key, "ca.crt": authority });
  }

  /** Keeps the certificates valid until `close`, and applies each new one. */
  start(apply: (options: TlsOptions) => void): void {
    this.#running ??= this.#run(apply);
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #run(apply: (options: TlsOptions) => void): Promise<void> {
    const { ambient } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const isUpToDate = await this.#renew(apply);
      await sleep(ambient.timers, isUpToDate ? CHECK_MS : RETRY_MS, signal).catch(() => undefined);
    }
  }

  async #renew(apply: (options: TlsOptions) => void): Promise<boolean> {
    const { ambient, store, rules } = this.#options;
    const { signal } = this.#stop;
    using deadline = startDeadline(ambient, TIMEOUT_MS, signal);
    try {
      const stored = await store.load(deadline.signal);
      const renewed = renewCertificates(stored, { ...rules, nowMs: ambient.clock.now() });
      for (const part of ORDER) {
        if (renewed[part] === stored[part]) continue;
        await store.save(part, renewed[part], stored.versions[part], deadline.signal);
        this.#logger.info("certificates stored", {
          part,
          first_expiry: new Date(firstExpiryMs(renewed)).toISOString(),
        });
      }
      this.#showExpiry(renewed);
      this.#serve(renewed.server, apply);
      return true;
    } catch (thrown) {
      if (signal.aborted) return false;
      const fault = Fault.from(thrown);
      // Another replica was faster; its certificates are read at the next attempt.
      if (fault.kind === "conflict") return false;
      if (this.#problem !== fault.message) this.#logger.warn("renew certificates failed", { fault });
      this.#problem = fault.message;
      return false;
    }
  }

  #showExpiry({ authority, server, client }: CertificateSet): void {
    const { expiry, rules } = this.#options;
    expiry?.show({ use: "authority" }, authority["tls.crt"] ?? "");
    expiry?.show({ use: "server" }, server["tls.crt"] ?? "");
    expiry?.show({ use: "issued", peer: rules.clientName }, client["tls.crt"] ?? "");
  }

  #serve(server: CertificateSet["server"], apply: (options: TlsOptions) => void): void {
    this.#problem = undefined;
    const isSame = this.#served?.["tls.crt"] === server["tls.crt"] && this.#served?.["ca.crt"] === server["ca.crt"];
    this.#served = server;
    if (!isSame) apply(this.#tlsOptions(server));
  }

  #tlsOptions(server: CertificateSet["server"]): TlsOptions {
    return {
      cert: server["tls.crt"],
      key: server["tls.key"],
      ca: server["ca.crt"],
      // Accepted here without a certificate, because health needs none. The port closes connections with an invalid one.
      ...(this.#options.mtls ? { requestCert: true, rejectUnauthorized: false } : {}),
    };
  }
}
