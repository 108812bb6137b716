import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { isIPv4 } from "node:net";
import { bits, context, integer, octets, oid, sequence, setOf, time, truth, utf8 } from "./der.ts";

/** The subject of a certificate. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly organization?: string;
  /** DNS names and IPv4 addresses of a server. */
  readonly hosts?: readonly string[];
  /** URIs of a client, for example its SPIFFE id. */
  readonly uris?: readonly string[];
}

/** A certificate and its private key in PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority whose key is never stored. */
export interface Authority {
  readonly certificate: string;
  /** Issues a server and client certificate with the lifetime of the authority. */
  issue(request: CertificateRequest): IssuedCertificate;
}

const DAY_MS = 86_400_000;
const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

/**
 * Creates a certificate authority with ECDSA P-256 keys in a millisecond, without openssl. All certificates are valid
 * from five days ago, because clocks differ, until `validDays` from now.
 */
export function makeAuthority(commonName: string, validDays = 5): Authority {
  const keys = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const issuer = nameOf({ commonName });
  const caExtensions = [
    extension("2.5.29.19", sequence(truth(true)), true),
    extension("2.5.29.15", bits(Buffer.from([0x06]), 1), true),
  ];
  return {
    certificate: certificate(
      { issuer, subject: issuer, subjectKey: keys.publicKey, extensions: caExtensions, validDays },
      keys.privateKey,
    ),
    issue: (request) => {
      const own = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
      const extensions = leafExtensions(request);
      const body = { issuer, subject: nameOf(request), subjectKey: own.publicKey, extensions, validDays };
      return {
        certificate: certificate(body, keys.privateKey),
        key: own.privateKey.export({ type: "sec1", format: "pem" }) as string,
      };
    },
  };
}

interface CertificateBody {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly subjectKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly validDays: number;
}

function certificate(body: CertificateBody, issuerKey: KeyObject): string {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const signed = sequence(
    context(0, integer(Buffer.from([2]))),
    integer(serial),
    ECDSA_SHA256,
    body.issuer,
    sequence(time(new Date(Date.now() - 5 * DAY_MS)), time(new Date(Date.now() + body.validDays * DAY_MS))),
    body.subject,
    body.subjectKey.export({ type: "spki", format: "der" }),
    context(3, sequence(...body.extensions)),
  );
  const whole = sequence(signed, ECDSA_SHA256, bits(sign("sha256", signed, issuerKey)));
  const lines = whole.toString("base64").replaceAll(/.{64}/g, "$&\n").trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function nameOf(request: CertificateRequest): Buffer {
  const part = (type: string, value: string): Buffer => setOf(sequence(oid(type), utf8(value)));
  const organization = request.organization === undefined ? [] : [part("2.5.4.10", request.organization)];
  return sequence(...organization, part("2.5.4.3", request.commonName));
}

function leafExtensions(request: CertificateRequest): Buffer[] {
  const usage = [
    extension("2.5.29.15", bits(Buffer.from([0xa0]), 5), true),
    extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"), oid("1.3.6.1.5.5.7.3.2"))),
  ];
  const hosts = (request.hosts ?? []).map((host) =>
    isIPv4(host)
      ? context(7, Buffer.from(host.split(".").map(Number)), false)
      : context(2, Buffer.from(host, "ascii"), false),
  );
  const uris = (request.uris ?? []).map((uri) => context(6, Buffer.from(uri, "ascii"), false));
  const names = [...hosts, ...uris];
  return names.length === 0 ? usage : [...usage, extension("2.5.29.17", sequence(...names))];
}

function extension(type: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(type), ...(critical ? [truth(true)] : []), octets(value));
}
