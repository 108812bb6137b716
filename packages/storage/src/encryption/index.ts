/** Encryption of the secret fields of records: ADR 0021. */
export { AesGcmCipher, parseKeys, randomKey, type ParsedKeys } from "./aes-gcm-cipher.ts";
