import type { ConfigSchema } from "../schema/define-config.ts";
import { MASK, maskText } from "./mask.ts";
import { originText, type Origin } from "../parsing/origin.ts";
import { resolve, unusedSettings, type ConfigSources } from "../parsing/parse-config.ts";
import type { Resolved } from "../parsing/resolve-variable.ts";

/** One effective value for display. */
export interface ReportEntry {
  /** Primary name of the variable, also when an alias is set. */
  readonly name: string;
  /** Formatted value with secrets masked. Undefined when it is not set or invalid. */
  readonly value: string | undefined;
  readonly origin: Origin;
  readonly valid: boolean;
}

/** Returns the effective values and their origins, also when some are invalid. Does not throw. */
export function configReport(schema: ConfigSchema<unknown>, sources: ConfigSources): readonly ReportEntry[] {
  const { values, familyValues } = resolve(schema, sources);
  const entries = [...values, ...familyValues].map(({ at }): ReportEntry => ({
    name: at.spec.name,
    value: displayText(at),
    origin: at.origin,
    valid: at.violations.length === 0,
  }));
  const unused = unusedSettings(schema, sources).map(({ name, text, reason }): ReportEntry => ({
    name,
    value: maskText(text),
    origin: { from: "not-used", reason },
    valid: true,
  }));
  return [...entries, ...unused];
}

/** Formats a report, one line per variable, for `--print-config`. */
export function configReportText(entries: readonly ReportEntry[]): string {
  const rows = entries.map((entry) => ({
    left: entry.valid ? `${entry.name}=${entry.value ?? ""}` : `${entry.name} is invalid`,
    origin: originText(entry.origin),
  }));
  const width = Math.min(60, Math.max(0, ...rows.map((row) => row.left.length)));
  return rows.map((row) => `${row.left.padEnd(width)}  # ${row.origin}\n`).join("");
}

function displayText({ spec, value }: Resolved): string | undefined {
  if (value === undefined) return undefined;
  return spec.secret ? MASK : maskText(spec.kind.show(value));
}
