import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from "node:crypto";
import { createBlob, createJsonBlob, MEDIA_TYPES, type Blob, type Descriptor } from "../oci/blob.ts";
import { createArtifact, type Artifact } from "../oci/image.ts";

export const SIGNATURE_TYPE = "application/vnd.dev.cosign.artifact.sig.v1+json";
const SIGNED_PAYLOAD = "application/vnd.dev.cosign.simplesigning.v1+json";
const SIGNATURE = "dev.cosignproject.cosign/signature";

export const ENVELOPE = "application/vnd.dsse.envelope.v1+json";
const IN_TOTO = "application/vnd.in-toto+json";

/** Reads a private key in PEM. Signatures are ECDSA on P-256 or Ed25519, which every verifier of images knows. */
export function readSigningKey(pem: string): KeyObject {
  const key = parse(() => createPrivateKey(pem), "the signing key is not an unencrypted private key in PEM");
  return requireSupported(key);
}

export function readVerificationKey(pem: string): KeyObject {
  return requireSupported(parse(() => createPublicKey(pem), "the verification key is not a public key in PEM"));
}

function parse(read: () => KeyObject, problem: string): KeyObject {
  try {
    return read();
  } catch (error) {
    throw new Error(`${problem}; create one with: openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256`, {
      cause: error,
    });
  }
}

function requireSupported(key: KeyObject): KeyObject {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "ed25519" || (type === "ec" && details?.namedCurve === "prime256v1")) return key;
  throw new Error(`the key has the type ${type ?? "unknown"} ${details?.namedCurve ?? ""}; use EC P-256 or Ed25519`);
}

function signBytes(key: KeyObject, bytes: Uint8Array): string {
  return sign(key.asymmetricKeyType === "ed25519" ? null : "sha256", bytes, key).toString("base64");
}

function isSigned(key: KeyObject, bytes: Uint8Array, signature: string): boolean {
  return verify(key.asymmetricKeyType === "ed25519" ? null : "sha256", bytes, key, Buffer.from(signature, "base64"));
}

/** Signs a manifest or index as cosign does: the signature covers a document with the digest. */
export function createSignature(key: KeyObject, subject: Descriptor, reference: string): Artifact {
  const payload = createJsonBlob(SIGNED_PAYLOAD, {
    critical: {
      identity: { "docker-reference": reference },
      image: { "docker-manifest-digest": subject.digest },
      type: "cosign container image signature",
    },
    optional: null,
  });
  return createArtifact({
    artifactType: SIGNATURE_TYPE,
    subject,
    tag: `${subject.digest.replace(":", "-")}.sig`,
    content: payload,
    contentAnnotations: { [SIGNATURE]: signBytes(key, payload.bytes) },
    config: createJsonBlob(MEDIA_TYPES.config, {
      architecture: "",
      os: "",
      config: {},
      rootfs: { type: "layers", diff_ids: [payload.descriptor.digest] },
    }),
  });
}

/** The part of a manifest of a signature that is verified. */
interface SignatureManifest {
  readonly layers?: readonly Descriptor[];
}

/** Why a signature does not prove that the owner of the key signed the digest, or undefined if it does. */
export function findSignatureProblem(
  key: KeyObject,
  digest: string,
  manifest: SignatureManifest,
  readBlob: (digest: string) => Uint8Array,
): string | undefined {
  const [layer] = manifest.layers ?? [];
  const signature = layer?.annotations?.[SIGNATURE];
  if (layer === undefined || layer.mediaType !== SIGNED_PAYLOAD || signature === undefined)
    return "it has no signature";
  const payload = readBlob(layer.digest);
  if (!isSigned(key, payload, signature)) return "the signature is not of this key";
  const signed = JSON.parse(Buffer.from(payload).toString("utf8")) as {
    readonly critical?: { readonly image?: Readonly<Record<string, string>>; readonly type?: string };
  };
  if (signed.critical?.type !== "cosign container image signature") return "the signed document is not of an image";
  const named = signed.critical.image?.["docker-manifest-digest"];
  return named === digest ? undefined : `the signature is of ${named ?? "another image"}`;
}

/** The bytes that a DSSE signature covers. */
function preAuthentication(payload: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`DSSEv1 ${IN_TOTO.length} ${IN_TOTO} ${payload.length} `), payload]);
}

/** An in-toto statement as content of an artifact: in a signed envelope if there is a key, else as it is. */
export function createStatementBlob(statement: object, key: KeyObject | undefined): Blob {
  const payload = Buffer.from(JSON.stringify(statement));
  if (key === undefined) return createBlob(IN_TOTO, payload);
  return createJsonBlob(ENVELOPE, {
    payloadType: IN_TOTO,
    payload: payload.toString("base64"),
    signatures: [{ keyid: "", sig: signBytes(key, preAuthentication(payload)) }],
  });
}

/** Why an envelope was not signed by the owner of the key, or undefined if it was. */
export function findEnvelopeProblem(key: KeyObject, envelope: Uint8Array): string | undefined {
  const { payloadType, payload, signatures } = JSON.parse(Buffer.from(envelope).toString("utf8")) as {
    readonly payloadType?: string;
    readonly payload?: string;
    readonly signatures?: readonly { readonly sig: string }[];
  };
  if (payloadType !== IN_TOTO || payload === undefined) return "it is not an envelope of an in-toto statement";
  const signed = preAuthentication(Buffer.from(payload, "base64"));
  const isValid = (signatures ?? []).some(({ sig }) => isSigned(key, signed, sig));
  return isValid ? undefined : "the envelope is not signed by this key";
}
