import { createPrivateKey, X509Certificate } from "node:crypto";
import {
  createAuthority,
  openAuthority,
  type Authority,
  type CertificateRequest,
  type IssuedCertificate,
  type Validity,
} from "@oaas/certificates";

/** The content of a Secret by key. The names of the keys are those of cert-manager. */
export type SecretData = Readonly<Record<string, string>>;

/** The certificates of an installation. */
export interface CertificateSet {
  /** The authority that signs (`tls.crt`, `tls.key`), the next one (`next.crt`, `next.key`), and all to trust (`ca.crt`). */
  readonly authority: SecretData;
  /** The certificate of the class runtime manager, with the authorities of its clients in `ca.crt`. */
  readonly server: SecretData;
  /** The certificate of the package manager, with the authorities of servers in `ca.crt`. */
  readonly client: SecretData;
}

export interface CertificateRules {
  readonly nowMs: number;
  /** Lifetime of the certificates of server and client. */
  readonly validMs: number;
  /** DNS names of the server. */
  readonly serverNames: readonly string[];
  /** Common name of the client. */
  readonly clientName: string;
}

/** Common name of the server. Clients verify the DNS names, which may be longer than a common name. */
const SERVER_NAME = "oprc-crm";

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;

/** Clocks differ between nodes. */
const BACKDATED_MS = 5 * MINUTE_MS;
const AUTHORITY_VALID_MS = 3650 * DAY_MS;
/** A new authority signs only when every peer has had time to learn it: kubelets refresh mounted Secrets within minutes. */
const ANNOUNCED_MS = DAY_MS;

/**
 * Creates what is missing or unusable and renews what is in the last third of its lifetime.
 *
 * Guarantees: content that needs no change is returned as it is, so that nothing is written. An authority is renewed in
 * two steps: it is trusted for a day before it signs, so that both sides verify each other at every moment.
 */
export function renewCertificates(stored: CertificateSet, rules: CertificateRules): CertificateSet {
  const authority = renewAuthority(stored.authority, rules.nowMs);
  const signer = openAuthority(pairOf(authority, "tls"));
  const trusted = authority["ca.crt"] ?? "";
  return {
    authority,
    server: renewLeaf(stored.server, { commonName: SERVER_NAME, hosts: rules.serverNames }, { signer, trusted, rules }),
    client: renewLeaf(
      stored.client,
      { commonName: rules.clientName, hosts: [rules.clientName] },
      { signer, trusted, rules },
    ),
  };
}

function renewAuthority(stored: SecretData, nowMs: number): SecretData {
  const signer = usablePair(stored, "tls", nowMs);
  if (signer === undefined || !signer.read.ca) {
    const { certificate, key } = newAuthority(nowMs);
    return { "tls.crt": certificate, "tls.key": key, "ca.crt": certificate };
  }
  const next = usablePair(stored, "next", nowMs);
  const announced = certificatesIn(stored["ca.crt"] ?? "").filter((pem) => expiryOf(pem) > nowMs);
  if (next !== undefined && nowMs >= next.read.validFromDate.getTime() + BACKDATED_MS + ANNOUNCED_MS) {
    return withTrusted({ "tls.crt": next.certificate, "tls.key": next.key }, [next.certificate, ...announced]);
  }
  if (next !== undefined) return withTrusted(stored, [signer.certificate, next.certificate, ...announced]);
  if (!isDue(signer.read, nowMs)) return withTrusted(stored, [signer.certificate, ...announced]);
  const created = newAuthority(nowMs);
  return withTrusted({ ...stored, "next.crt": created.certificate, "next.key": created.key }, [
    signer.certificate,
    created.certificate,
    ...announced,
  ]);
}

function newAuthority(nowMs: number): Authority {
  return createAuthority("oaas-authority", validityFrom(nowMs, AUTHORITY_VALID_MS));
}

/** Sets the trusted authorities, each once. Returns the same object if nothing changes. */
function withTrusted(data: SecretData, trusted: readonly string[]): SecretData {
  const bundle = [...new Set(trusted.map((pem) => pem.trim()))].map((pem) => `${pem}\n`).join("");
  return data["ca.crt"] === bundle ? data : { ...data, "ca.crt": bundle };
}

interface Issuing {
  readonly signer: Authority;
  readonly trusted: string;
  readonly rules: CertificateRules;
}

function renewLeaf(stored: SecretData, request: CertificateRequest, { signer, trusted, rules }: Issuing): SecretData {
  const { nowMs, validMs } = rules;
  const pair = usablePair(stored, "tls", nowMs);
  const isUsable =
    pair !== undefined &&
    !isDue(pair.read, nowMs) &&
    pair.read.subject === `CN=${request.commonName}` &&
    hostsOf(pair.read) === (request.hosts ?? []).toSorted().join() &&
    certificatesIn(trusted).some((pem) => pair.read.verify(new X509Certificate(pem).publicKey));
  if (isUsable) return stored["ca.crt"] === trusted ? stored : { ...stored, "ca.crt": trusted };
  const endsMs = Math.min(nowMs + validMs, expiryOf(signer.certificate));
  const { certificate, key } = signer.issue(request, validityFrom(nowMs, endsMs - nowMs));
  return { "tls.crt": certificate, "tls.key": key, "ca.crt": trusted };
}

function validityFrom(nowMs: number, validMs: number): Validity {
  return { from: new Date(nowMs - BACKDATED_MS), to: new Date(nowMs + validMs) };
}

/** Whether a certificate is in the last third of its lifetime. */
function isDue(read: X509Certificate, nowMs: number): boolean {
  const fromMs = read.validFromDate.getTime();
  const toMs = read.validToDate.getTime();
  return nowMs >= fromMs + ((toMs - fromMs) * 2) / 3;
}

function expiryOf(pem: string): number {
  return new X509Certificate(pem).validToDate.getTime();
}

/** The first moment at which one of the certificates of server and client expires. */
export function firstExpiryMs({ server, client }: CertificateSet): number {
  return Math.min(expiryOf(server["tls.crt"] ?? ""), expiryOf(client["tls.crt"] ?? ""));
}

function hostsOf(read: X509Certificate): string {
  const names = (read.subjectAltName ?? "").split(", ").filter((name) => name !== "");
  return names
    .map((name) => name.replace(/^(?:DNS|IP Address):/, ""))
    .toSorted()
    .join();
}

interface Pair extends IssuedCertificate {
  readonly read: X509Certificate;
}

/** A certificate that is valid now with its key; undefined if it is missing, expired or unreadable. */
function usablePair(data: SecretData, name: "tls" | "next", nowMs: number): Pair | undefined {
  const pair = pairOf(data, name);
  try {
    const read = new X509Certificate(pair.certificate);
    const isValid = read.validToDate.getTime() > nowMs && read.validFromDate.getTime() <= nowMs;
    return isValid && read.checkPrivateKey(createPrivateKey(pair.key)) ? { ...pair, read } : undefined;
  } catch {
    return undefined;
  }
}

function pairOf(data: SecretData, name: "tls" | "next"): IssuedCertificate {
  return { certificate: data[`${name}.crt`] ?? "", key: data[`${name}.key`] ?? "" };
}

/** The readable certificates of a PEM text. */
function certificatesIn(text: string): readonly string[] {
  const found = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
  return found.filter((pem) => {
    try {
      return new X509Certificate(pem).ca;
    } catch {
      return false;
    }
  });
}
