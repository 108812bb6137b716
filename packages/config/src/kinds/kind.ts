import { err, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/**
 * Type of a setting: how a value is parsed from text and formatted.
 *
 * `D` is the type of a default in a schema: the value, or the text for durations and sizes ("2m", "50MiB").
 */
export interface Kind<T, D = T> {
  /** Name of the type in help: "port", "dev | edge | full". */
  readonly label: string;
  /** Whether an invalid text may be printed; false for documents that may contain secrets. */
  readonly echo: boolean;
  /** Never throws; violations have paths from the root of this value. */
  parse(text: string): Result<T, readonly Violation[]>;
  /** Formats the value as a user would write it. */
  show(value: T): string;
  fromDefault(written: D): T;
  /** What a configuration file may contain in place of the text: a list, a mapping, or any document. Default: a scalar. */
  readonly written?: "list" | "mapping" | "document";
}

/** Rejects a text. The message completes "NAME: …". */
export function invalid(message: string, fix?: string): Result<never, readonly Violation[]> {
  return err([fix === undefined ? { path: ROOT_PATH, message } : { path: ROOT_PATH, message, fix }]);
}

/** Parses a text of the schema itself. Throws a TypeError if it is invalid. */
export function parseSchemaText<T>(kind: Pick<Kind<T, never>, "label" | "parse">, text: string): T {
  const parsed = kind.parse(text);
  if (!parsed.ok)
    throw new TypeError(`"${text}" is not a valid ${kind.label}: ${parsed.error[0]?.message ?? "rejected"}`);
  return parsed.value;
}
