/**
 * A number or a boolean whose written form says more than its value: `1.0`, `007`, `True`.
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

/** Reads a scalar where text is wanted; anything else stays as it is, for the schema to refuse. */
export function asText(value: unknown): unknown {
  if (value instanceof WireScalar) return value.source;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : value;
}

/** Reads a scalar where its value is wanted; anything else stays as it is. */
export function asValue(value: unknown): unknown {
  return value instanceof WireScalar ? value.value : value;
}
