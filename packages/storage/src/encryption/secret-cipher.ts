/**
 * Encrypts secrets of records.
 *
 * The context is authenticated, not stored: a secret that is copied to another record or field cannot be opened there.
 */
export interface SecretCipher {
  /** The key of new secrets. */
  readonly keyId: string;
  seal(secret: string, context: string): SealedSecret;
  /** Throws OAAS_STORE_KEY_MISSING without the key, and OAAS_STORE_VALUE_INVALID if the secret or its context was changed. */
  open(sealed: SealedSecret, context: string): string;
}

/** The stored form of a secret: version, key id, then nonce, ciphertext and tag in base64url. */
export interface SealedSecret {
  readonly $sealed: string;
}

export function isSealed(value: unknown): value is SealedSecret {
  return typeof (value as Partial<SealedSecret> | null | undefined)?.$sealed === "string";
}

/** The id of the key that a secret was sealed with. */
export function keyIdOf({ $sealed }: SealedSecret): string {
  return $sealed.split(".")[1] ?? "";
}
