import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from "node:crypto";
import { failedPrecondition, internal } from "@oaas/foundation";
import { keyIdOf, type SealedSecret, type SecretCipher } from "./secret-cipher.ts";

const ALGORITHM = "aes-256-gcm";
const VERSION = "v1";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key of 32 bytes, or why a line is not one. The line itself is never repeated. */
export type ParsedKeys =
  | { readonly ok: true; readonly keys: readonly Buffer[] }
  | { readonly ok: false; readonly problem: string };

/** Parses keys in base64 or hex, one per line (or separated by commas); `#` starts a comment. */
export function parseKeys(text: string): ParsedKeys {
  const keys: Buffer[] = [];
  for (const [index, line] of text.split(/[\n,]/).entries()) {
    const entry = line.replace(/#.*/, "").trim();
    if (entry === "") continue;
    const key = /^[0-9a-f]{64}$/i.test(entry) ? Buffer.from(entry, "hex") : decodeBase64(entry);
    if (key?.length !== KEY_BYTES)
      return { ok: false, problem: `line ${index + 1} is not a key of ${KEY_BYTES} bytes` };
    keys.push(key);
  }
  return keys.length === 0 ? { ok: false, problem: "contains no key" } : { ok: true, keys };
}

/** A new random key, for stores that do not outlive their key. */
export function randomKey(): Buffer {
  return randomBytes(KEY_BYTES);
}

/** AES-256-GCM. The first key encrypts, every key decrypts. */
export class AesGcmCipher implements SecretCipher {
  readonly keyId: string;
  readonly #keys = new Map<string, KeyObject>();

  constructor(keys: readonly Buffer[]) {
    for (const key of keys) this.#keys.set(idOf(key), createSecretKey(key));
    const [first] = this.#keys.keys();
    if (first === undefined) throw new TypeError("a cipher needs a key");
    this.keyId = first;
  }

  seal(secret: string, context: string): SealedSecret {
    const key = this.#keys.get(this.keyId) as KeyObject;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(context));
    const sealed = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return { $sealed: `${VERSION}.${this.keyId}.${sealed.toString("base64url")}` };
  }

  open(sealed: SealedSecret, context: string): string {
    const id = keyIdOf(sealed);
    const key = this.#keys.get(id);
    if (key === undefined) throw keyMissing(id);
    const [version, , text = ""] = sealed.$sealed.split(".");
    const bytes = Buffer.from(text, "base64url");
    if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES) throw notAuthentic(context);
    const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, "utf8") + decipher.final("utf8");
    } catch (cause) {
      throw notAuthentic(context, cause);
    }
  }
}

/** Fault of a secret whose key is not configured. */
export function keyMissing(keyId: string) {
  return failedPrecondition("encryption key", `a secret is encrypted with the key ${keyId}, which is not configured`, {
    code: "OAAS_STORE_KEY_MISSING",
    context: { keyId },
  });
}

function notAuthentic(context: string, cause?: unknown) {
  return internal(`the secret ${context} was changed outside of this program`, {
    code: "OAAS_STORE_VALUE_INVALID",
    cause,
  });
}

/** Identifies a key without revealing it. */
function idOf(key: Buffer): string {
  return createHash("sha256").update("oaas storage key\0").update(key).digest("hex").slice(0, 12);
}

function decodeBase64(text: string): Buffer | undefined {
  return /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}
