import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
  type KeyObject,
} from "node:crypto";
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

/** The time in which a certificate is valid, to the second. */
export interface Validity {
  readonly from: Date;
  readonly to: Date;
}

/** A certificate and its private key in PEM. */
export interface IssuedCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate authority. */
export interface Authority extends IssuedCertificate {
  /** Issues a certificate for servers and clients with a new key. */
  issue(request: CertificateRequest, validity: Validity): IssuedCertificate;
}

const ECDSA_SHA256 = sequence(oid("1.2.840.10045.4.3.2"));

/** Creates a certificate authority with a new key. */
export function createAuthority(commonName: string, validity: Validity): Authority {
  const { privateKey, publicKey } = newKeys();
  const name = nameOf({ commonName });
  const extensions = [
    extension("2.5.29.19", sequence(truth(true)), true),
    extension("2.5.29.15", bits(Buffer.from([0x06]), 1), true),
    extension("2.5.29.14", octets(keyId(publicKey))),
  ];
  const body = { issuer: name, subject: name, subjectKey: publicKey, extensions, validity };
  return openAuthority({ certificate: certificate(body, privateKey), key: privateKeyPem(privateKey) });
}

/**
 * Opens an authority that `createAuthority` created. Throws a RangeError if the certificate is not one of an authority,
 * or the key is not its key.
 */
export function openAuthority(authority: IssuedCertificate): Authority {
  const own = new X509Certificate(authority.certificate);
  const key = createPrivateKey(authority.key);
  const commonName = /^CN=([^\n]+)$/.exec(own.subject)?.[1];
  if (!own.ca || commonName === undefined) throw new RangeError("the certificate is not one of an authority");
  if (!own.checkPrivateKey(key)) throw new RangeError("the key does not match the certificate of the authority");
  const issuer = nameOf({ commonName });
  const authorityKeyId = extension("2.5.29.35", sequence(context(0, keyId(own.publicKey), false)));
  return {
    ...authority,
    issue: (request, validity) => {
      const { privateKey, publicKey } = newKeys();
      const extensions = [...leafExtensions(request), extension("2.5.29.14", octets(keyId(publicKey))), authorityKeyId];
      const body = { issuer, subject: nameOf(request), subjectKey: publicKey, extensions, validity };
      return { certificate: certificate(body, key), key: privateKeyPem(privateKey) };
    },
  };
}

const PLACEHOLDER_VALID_MS = 86_400_000;

/** A certificate that no client trusts and its authority, to listen before the real one is known. */
export function createPlaceholder(nowMs: number): IssuedCertificate & { readonly authority: string } {
  const validity = { from: new Date(nowMs - PLACEHOLDER_VALID_MS), to: new Date(nowMs + PLACEHOLDER_VALID_MS) };
  const authority = createAuthority("placeholder", validity);
  return { ...authority.issue({ commonName: "placeholder" }, validity), authority: authority.certificate };
}

interface CertificateBody {
  readonly issuer: Buffer;
  readonly subject: Buffer;
  readonly subjectKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly validity: Validity;
}

function newKeys(): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return { privateKey, publicKey: createPublicKey(privateKey) };
}

function privateKeyPem(key: KeyObject): string {
  return key.export({ type: "pkcs8", format: "pem" }) as string;
}

/** The SHA-1 of the public key (RFC 5280, 4.2.1.2): a name of the key, not a signature. */
function keyId(key: KeyObject): Buffer {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  return createHash("sha1").update(point).digest();
}

function certificate(body: CertificateBody, issuerKey: KeyObject): string {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40;
  const signed = sequence(
    context(0, integer(Buffer.from([2]))),
    integer(serial),
    ECDSA_SHA256,
    body.issuer,
    sequence(time(body.validity.from), time(body.validity.to)),
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
