import { readFileSync, statSync } from "node:fs";
import { failedPrecondition, type Clock, type Fault } from "@oaas/foundation";
import type { EtcdTlsOptions } from "./options.ts";

/** How often the files are looked at, at most. */
const LOOK_EVERY_MS = 1000;

/** What a TLS connection is made with. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly rejectUnauthorized: boolean;
}

/** Credentials (none without TLS), and a number that changes when they do. */
export interface CurrentCredentials {
  readonly generation: number;
  readonly tls: TlsMaterial | undefined;
}

/**
 * Credentials that follow their files.
 *
 * Guarantees: files that cannot be read at first are a fault; later (somebody is replacing them) what was read
 * before stays in use, and `onFailure` is told.
 */
export class CredentialFiles {
  readonly #tls: EtcdTlsOptions | undefined;
  readonly #clock: Clock;
  readonly #onFailure: (fault: Fault) => void;
  #current: CurrentCredentials | undefined;
  #stamp = "";
  #lookAgainAt = 0;

  constructor(tls: EtcdTlsOptions | undefined, clock: Clock, onFailure: (fault: Fault) => void) {
    this.#tls = tls;
    this.#clock = clock;
    this.#onFailure = onFailure;
  }

  current(): CurrentCredentials {
    const now = this.#clock.monotonic();
    if (this.#current !== undefined && now < this.#lookAgainAt) return this.#current;
    this.#lookAgainAt = now + LOOK_EVERY_MS;
    try {
      const stamp = this.#stampOfFiles();
      if (this.#current === undefined || stamp !== this.#stamp) {
        this.#current = { generation: (this.#current?.generation ?? 0) + 1, tls: this.#load() };
        this.#stamp = stamp;
      }
    } catch (thrown) {
      const fault = failedPrecondition("etcd certificates", "a TLS file of etcd cannot be read", { cause: thrown });
      if (this.#current === undefined) throw fault;
      this.#onFailure(fault);
    }
    return this.#current;
  }

  #files(): string[] {
    const { caFile, certFile, keyFile } = this.#tls ?? {};
    return [caFile, certFile, keyFile].filter((file) => file !== undefined);
  }

  #stampOfFiles(): string {
    const stamps = this.#files().map((file) => {
      const { mtimeMs, size, ino } = statSync(file);
      return `${mtimeMs}:${size}:${ino}`;
    });
    return stamps.join();
  }

  #load(): TlsMaterial | undefined {
    if (this.#tls === undefined) return undefined;
    const { caFile, certFile, keyFile, insecureSkipVerify = false } = this.#tls;
    return {
      ...(caFile === undefined ? {} : { ca: readFileSync(caFile) }),
      ...(certFile === undefined ? {} : { cert: readFileSync(certFile) }),
      ...(keyFile === undefined ? {} : { key: readFileSync(keyFile) }),
      rejectUnauthorized: !insecureSkipVerify,
    };
  }
}
