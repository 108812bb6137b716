import { err, ROOT_PATH, type Result, type Violation } from "@oaas/foundation";

/**
 * A type of value: how it is read from text and written back.
 *
 * `D` is how a schema writes a default: the value itself, or for durations and sizes the text ("2m", "50MiB").
 */
export interface Kind<T, D = T> {
  /** How the type reads in help: "port", "dev | edge | full". */
  readonly label: string;
  /** Whether a refused text may be shown in the message; no for documents that may hold secrets. */
  readonly echo: boolean;
  /** Never throws; violations have paths from the root of this value. */
  parse(text: string): Result<T, readonly Violation[]>;
  /** The text a user would write for the value. */
  show(value: T): string;
  fromDefault(written: D): T;
}

/** Refuses a text. The message completes "NAME: …". */
export function wrong(message: string, fix?: string): Result<never, readonly Violation[]> {
  return err([fix === undefined ? { path: ROOT_PATH, message } : { path: ROOT_PATH, message, fix }]);
}

/** The value of a text that the schema itself wrote; a mistake there is the programmer's. */
export function parseOwnText<T>(kind: Pick<Kind<T, never>, "label" | "parse">, text: string): T {
  const parsed = kind.parse(text);
  if (!parsed.ok) throw new TypeError(`"${text}" is no ${kind.label}: ${parsed.error[0]?.message ?? "refused"}`);
  return parsed.value;
}
