/**
 * A number or boolean of a YAML document with its source text.
 *
 * YAML leaves the type of a plain scalar to the reader. String fields use the source text, other fields the value:
 * `version: 1.0` is the version "1.0" and `port: 0x50` is the port 80.
 */
export class WireScalar {
  readonly value: number | boolean;
  readonly source: string;

  constructor(value: number | boolean, source: string) {
    this.value = value;
    this.source = source;
  }
}

/** The value for a string field with a rule: the source text of a YAML scalar. JSON numbers are not converted. */
export function asWritten(value: unknown): unknown {
  return value instanceof WireScalar ? value.source : value;
}

/** The value for a free string field: numbers and booleans of JSON are converted too. */
export function asText(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : asWritten(value);
}

/** The value for any other field. */
export function asValue(value: unknown): unknown {
  return value instanceof WireScalar ? value.value : value;
}
