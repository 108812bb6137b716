import type { SecretCipher } from "@oaas/storage";
import { AesGcmCipher, parseKeys, randomKey } from "@oaas/storage/encryption";
import type { PmConfig } from "../config.ts";

/**
 * The cipher of secrets in the store; undefined when no key is configured.
 *
 * A memory store ends with the process, so its key does too.
 */
export function storageCipher({ type, encryptionKey }: PmConfig["storage"]): SecretCipher | undefined {
  if (encryptionKey === undefined) return type === "memory" ? new AesGcmCipher([randomKey()]) : undefined;
  const parsed = parseKeys(encryptionKey);
  if (!parsed.ok) throw new TypeError("the configuration was not validated");
  return new AesGcmCipher(parsed.keys);
}
