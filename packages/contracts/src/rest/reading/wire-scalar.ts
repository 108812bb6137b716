/**
 * A number or a boolean of a YAML document, with its written form.
 *
 * YAML leaves the type of a plain scalar to its reader. Where a text is wanted the written form is the text, elsewhere
 * the value counts; so `version: 1.0` is the version "1.0" and `port: 0x50` is the port 80.
 */
export class WireScalar {
  readonly value: number | boolean;
  readonly source: string;

  constructor(value: number | boolean, source: string) {
    this.value = value;
    this.source = source;
  }
}

/** Reads a scalar where text of a certain form is wanted: as it was written in YAML. JSON has texts for texts. */
export function asWritten(value: unknown): unknown {
  return value instanceof WireScalar ? value.source : value;
}

/** Reads a scalar where any text is wanted; a number or boolean of JSON is its text too. */
export function asText(value: unknown): unknown {
  return typeof value === "number" || typeof value === "boolean" ? String(value) : asWritten(value);
}

/** Reads a scalar where its value is wanted; anything else stays as it is. */
export function asValue(value: unknown): unknown {
  return value instanceof WireScalar ? value.value : value;
}
