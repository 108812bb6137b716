import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Timers } from "@oaas/foundation";
import type { Gauge, Meter } from "@oaas/observability";

/** What a certificate is for. */
export interface CertificateUse {
  /** server: presented to clients. client: presented to the peer. issued: created for the peer. authority: signs the others. */
  readonly use: "server" | "client" | "issued" | "authority";
  /** The other side, for example a cluster; empty for servers and authorities. */
  readonly peer?: string;
}

const FOLLOW_MS = 60_000;
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Shows how long the certificates in use are valid, whatever their source. */
export class CertificateExpiry {
  readonly #start: Gauge<"use" | "peer">;
  readonly #expiry: Gauge<"use" | "peer">;

  constructor(meter: Meter) {
    this.#start = meter.gauge({
      name: "oaas_certificate_start_timestamp_seconds",
      help: "Unix time from which a certificate in use is valid.",
      labels: ["use", "peer"],
    });
    this.#expiry = meter.gauge({
      name: "oaas_certificate_expiry_timestamp_seconds",
      help: "Unix time at which a certificate in use expires, by use (server, client, issued for a peer, or authority) and peer (cluster, package-manager, prometheus, etcd, or the name of the client). Of a chain, the certificate that expires first.",
      labels: ["use", "peer"],
    });
  }

  /** Shows the certificates of a PEM text; without a readable one, none. */
  show(of: CertificateUse, pem: string): void {
    const first = firstToExpire(pem);
    if (first === undefined) {
      this.remove(of);
      return;
    }
    this.#start.set(first.validFromDate.getTime() / 1000, labelsOf(of));
    this.#expiry.set(first.validToDate.getTime() / 1000, labelsOf(of));
  }

  remove(of: CertificateUse): void {
    this.#start.remove(labelsOf(of));
    this.#expiry.remove(labelsOf(of));
  }

  /** Shows the certificates of a file that another component loads. Returns the function that stops it. */
  follow(of: CertificateUse, file: string, timers: Timers): () => void {
    const check = (): void => {
      this.show(of, readText(file));
      timer = timers.after(FOLLOW_MS, check);
    };
    let timer = timers.after(0, check);
    return () => timer.cancel();
  }
}

function labelsOf({ use, peer = "" }: CertificateUse): { readonly use: string; readonly peer: string } {
  return { use, peer };
}

function firstToExpire(pem: string): X509Certificate | undefined {
  const certificates = (pem.match(CERTIFICATE) ?? []).flatMap((text) => {
    try {
      return [new X509Certificate(text)];
    } catch {
      return [];
    }
  });
  return certificates.toSorted((a, b) => a.validToDate.getTime() - b.validToDate.getTime())[0];
}

/** Empty for an unreadable file: the component that uses it reports that. */
function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
