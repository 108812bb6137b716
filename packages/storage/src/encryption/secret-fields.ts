import { failedPrecondition } from "@oaas/foundation";
import { keyMissing } from "./aes-gcm-cipher.ts";
import { isSealed, keyIdOf, type SecretCipher } from "./secret-cipher.ts";

/** Paths of the secret fields of a record, as member names; the same in every schema version. */
export type SecretFields = readonly (readonly string[])[];

/** The secrets of opened JSON: whether one was stored in clear, or sealed with an earlier key. */
export interface OpenedSecrets {
  readonly json: unknown;
  readonly hasClear: boolean;
  readonly isOutdated: boolean;
}

/**
 * Seals the secret fields of a record. The record is not changed.
 *
 * Throws OAAS_STORE_KEY_MISSING without a cipher: a secret is never stored in clear.
 */
export function sealSecrets(json: unknown, fields: SecretFields, key: string, cipher: SecretCipher | undefined) {
  return fields.reduce(
    (changed, path) =>
      replaceAt(changed, path, (value) => {
        if (typeof value !== "string") return value;
        if (cipher === undefined) throw noKey(path);
        return cipher.seal(value, contextOf(key, path));
      }),
    json,
  );
}

/** Opens the secret fields of stored JSON; values of earlier releases are in clear. */
export function openSecrets(
  json: unknown,
  fields: SecretFields,
  key: string,
  cipher: SecretCipher | undefined,
): OpenedSecrets {
  let hasClear = false;
  let isOutdated = false;
  const opened = fields.reduce(
    (changed, path) =>
      replaceAt(changed, path, (value) => {
        if (!isSealed(value)) {
          hasClear ||= typeof value === "string";
          return value;
        }
        if (cipher === undefined) throw keyMissing(keyIdOf(value));
        isOutdated ||= keyIdOf(value) !== cipher.keyId;
        return cipher.open(value, contextOf(key, path));
      }),
    json,
  );
  return { json: opened, hasClear, isOutdated: isOutdated || (hasClear && cipher !== undefined) };
}

/** Binds a secret to its record and field. */
function contextOf(key: string, path: readonly string[]): string {
  return `${key}#${path.join(".")}`;
}

function noKey(path: readonly string[]) {
  return failedPrecondition("encryption key", `${path.join(".")} is a secret, and no encryption key is configured`, {
    code: "OAAS_STORE_KEY_MISSING",
  });
}

/** Copies the objects on the path; returns the same object when the field is absent or unchanged. */
function replaceAt(json: unknown, path: readonly string[], change: (value: unknown) => unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return change(json);
  if (typeof json !== "object" || json === null || !Object.hasOwn(json, name)) return json;
  const before = (json as Record<string, unknown>)[name];
  const after = replaceAt(before, rest, change);
  return after === before ? json : { ...json, [name]: after };
}
