import { readFileSync, statSync } from "node:fs";
import { failedPrecondition, type Clock, type Fault } from "@oaas/foundation";
import type { EtcdTlsOptions } from "../options.ts";

/** Minimum interval between checks of the files. */
const LOOK_EVERY_MS = 1000;

/** TLS parameters of a connection. */
export interface TlsMaterial {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly rejectUnauthorized: boolean;
}

/** Credentials (undefined without TLS), and a version number. */
export interface CurrentCredentials {
  readonly generation: number;
  readonly tls: TlsMaterial | undefined;
}

/**
 * Credentials that are reloaded when their files change.
 *
 * Guarantees: throws a fault if the files cannot be read at the start. Later failures keep the previous credentials and
 * call `onFailure`.
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
      const fault = failedPrecondition("etcd certificates", "cannot read a TLS file of etcd", { cause: thrown });
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
