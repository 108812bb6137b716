import { Fault, internal, type Brand } from "@oaas/foundation";
import type { SecretCipher } from "../encryption/secret-cipher.ts";
import { openSecrets, type SecretFields } from "../encryption/secret-fields.ts";

/**
 * Converts records to JSON and back, with schema versions.
 *
 * `upgrades[n]` converts JSON of version n to version n + 1. Every earlier version needs one; do not remove an upgrade
 * while data of its version may exist.
 */
export interface Codec<T> {
  readonly version: number;
  /** Validates and returns the record; throws if it is invalid. */
  readonly decode: (json: unknown) => T;
  readonly encode?: (record: T) => unknown;
  readonly upgrades?: Readonly<Record<number, (json: unknown) => unknown>>;
}

/** A decoded value: the record, and the index keys that were written with it. */
export interface Decoded<T> {
  readonly record: T;
  readonly indexKeys: readonly string[];
  /** Written by an earlier version, or a secret is not sealed with the current key. */
  readonly outdated: boolean;
  /** A secret is stored in clear. */
  readonly hasClearSecret: boolean;
}

/** The secret fields of a collection, and the cipher that seals them. */
export interface RecordSecrets {
  readonly fields: SecretFields;
  readonly cipher: SecretCipher | undefined;
}

interface Envelope {
  readonly v: number;
  readonly i?: readonly string[];
  readonly d: unknown;
}

/** JSON text of a record without index keys. */
export type RecordText = Brand<string, "RecordText">;

export function recordText<T>(codec: Codec<T>, record: T, seal?: (json: unknown) => unknown): RecordText {
  const json = codec.encode === undefined ? record : codec.encode(record);
  const d = seal === undefined ? json : seal(json);
  return JSON.stringify({ v: codec.version, d } satisfies Envelope) as RecordText;
}

/**
 * Returns the stored text. It includes the index keys, so that they can be deleted after the index definition changes.
 */
export function storedText(text: RecordText, indexKeys: readonly string[]): string {
  return indexKeys.length === 0 ? text : `{"i":${JSON.stringify(indexKeys)},${text.slice(1)}`;
}

/** Decodes a stored text. Throws OAAS_STORE_VALUE_INVALID if it is invalid, OAAS_STORE_KEY_MISSING without its key. */
export function decodeRecord<T>(codec: Codec<T>, key: string, text: string, secrets?: RecordSecrets): Decoded<T> {
  try {
    const envelope = JSON.parse(text) as Envelope;
    if (!Number.isInteger(envelope?.v) || envelope.v < 1) throw new TypeError("no schema version");
    if (envelope.v > codec.version) {
      throw new TypeError(
        `schema version ${envelope.v} is not supported; the latest known version is ${codec.version}`,
      );
    }
    const opened = secrets && openSecrets(envelope.d, secrets.fields, key, secrets.cipher);
    const record = codec.decode(upgrade(codec, opened === undefined ? envelope : { ...envelope, d: opened.json }));
    return {
      record,
      indexKeys: envelope.i ?? [],
      outdated: envelope.v < codec.version || opened?.isOutdated === true,
      hasClearSecret: opened?.hasClear === true,
    };
  } catch (thrown) {
    if (isUnreadable(thrown)) throw thrown;
    const reason = thrown instanceof Error && !(thrown instanceof SyntaxError) ? thrown.message : "not JSON";
    throw internal(`cannot read the stored value of "${key}": ${reason}`, {
      code: "OAAS_STORE_VALUE_INVALID",
      cause: thrown,
      context: { key },
    });
  }
}

/** Whether a fault reports an unreadable stored value. */
export function isUnreadable(thrown: unknown): thrown is Fault {
  return (
    thrown instanceof Fault && (thrown.code === "OAAS_STORE_VALUE_INVALID" || thrown.code === "OAAS_STORE_KEY_MISSING")
  );
}

function upgrade<T>(codec: Codec<T>, envelope: Envelope): unknown {
  let json = envelope.d;
  for (let version = envelope.v; version < codec.version; version += 1) {
    const step = codec.upgrades?.[version];
    if (step === undefined) throw new TypeError(`no upgrade from schema version ${version}`);
    json = step(json);
  }
  return json;
}
