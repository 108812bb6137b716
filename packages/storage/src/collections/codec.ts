import { Fault, internal, type Brand } from "@oaas/foundation";

/**
 * How a record becomes JSON and back, over the years.
 *
 * `upgrades[n]` turns what version n wrote into what version n + 1 writes; there is one for every version before the
 * present one, and none is ever removed while data of that version may exist.
 */
export interface Codec<T> {
  readonly version: number;
  /** Checks and returns the record; throws when it is none. */
  readonly decode: (json: unknown) => T;
  readonly encode?: (record: T) => unknown;
  readonly upgrades?: Readonly<Record<number, (json: unknown) => unknown>>;
}

/** A stored value: the record, the version that wrote it, and the index keys that were written along with it. */
export interface Decoded<T> {
  readonly record: T;
  readonly indexKeys: readonly string[];
  /** Written by an earlier version. */
  readonly outdated: boolean;
}

interface Envelope {
  readonly v: number;
  readonly i?: readonly string[];
  readonly d: unknown;
}

/** A record as it is stored where no index leads to it. */
export type RecordText = Brand<string, "RecordText">;

export function recordText<T>(codec: Codec<T>, record: T): RecordText {
  const d = codec.encode === undefined ? record : codec.encode(record);
  return JSON.stringify({ v: codec.version, d } satisfies Envelope) as RecordText;
}

/** The text that is stored. Index keys are kept with it, so that they are found again whatever the index is by then. */
export function storedText(text: RecordText, indexKeys: readonly string[]): string {
  return indexKeys.length === 0 ? text : `{"i":${JSON.stringify(indexKeys)},${text.slice(1)}`;
}

/** Reads what was stored; OAAS_STORE_VALUE_INVALID when that is impossible. */
export function decodeRecord<T>(codec: Codec<T>, key: string, text: string): Decoded<T> {
  try {
    const envelope = JSON.parse(text) as Envelope;
    if (!Number.isInteger(envelope?.v) || envelope.v < 1) throw new TypeError("it has no version");
    if (envelope.v > codec.version) {
      throw new TypeError(`it has version ${envelope.v}; this build knows up to ${codec.version}`);
    }
    const record = codec.decode(upgrade(codec, envelope));
    return { record, indexKeys: envelope.i ?? [], outdated: envelope.v < codec.version };
  } catch (thrown) {
    const why = thrown instanceof Error && !(thrown instanceof SyntaxError) ? thrown.message : "it is not JSON";
    throw internal(`the stored value of "${key}" cannot be read: ${why}`, {
      code: "OAAS_STORE_VALUE_INVALID",
      cause: thrown,
      context: { key },
    });
  }
}

/** Whether a fault says that one stored value cannot be read. */
export function isUnreadable(thrown: unknown): thrown is Fault {
  return thrown instanceof Fault && thrown.code === "OAAS_STORE_VALUE_INVALID";
}

function upgrade<T>(codec: Codec<T>, envelope: Envelope): unknown {
  let json = envelope.d;
  for (let version = envelope.v; version < codec.version; version += 1) {
    const step = codec.upgrades?.[version];
    if (step === undefined) throw new TypeError(`there is no upgrade from version ${version}`);
    json = step(json);
  }
  return json;
}
