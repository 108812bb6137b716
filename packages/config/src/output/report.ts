import type { ConfigSchema } from "../schema/define-config.ts";
import { MASK, maskText } from "./mask.ts";
import { originText, type Origin } from "../parsing/origin.ts";
import { resolve, unusedSettings, type ConfigSources } from "../parsing/parse-config.ts";
import type { Resolved } from "../parsing/resolve-variable.ts";

/** One effective value, fit to be shown. */
export interface ReportEntry {
  /** The variable's own name, also when an alias was used. */
  readonly name: string;
  /** As a user would write it; secrets are masked. Undefined when there is none, or when it is invalid. */
  readonly value: string | undefined;
  readonly origin: Origin;
  readonly valid: boolean;
}

/** The effective values with their origin, secrets masked; works also when some are invalid. Does not throw. */
export function configReport(schema: ConfigSchema<unknown>, sources: ConfigSources): readonly ReportEntry[] {
  const { values, familyValues } = resolve(schema, sources);
  const entries = [...values, ...familyValues].map(({ at }): ReportEntry => ({
    name: at.spec.name,
    value: shown(at),
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

/** A report as text, a line per variable: what `--print-config` prints. */
export function configReportText(entries: readonly ReportEntry[]): string {
  const rows = entries.map((entry) => ({
    left: entry.valid ? `${entry.name}=${entry.value ?? ""}` : `${entry.name} is invalid`,
    origin: originText(entry.origin),
  }));
  const width = Math.min(60, Math.max(0, ...rows.map((row) => row.left.length)));
  return rows.map((row) => `${row.left.padEnd(width)}  # ${row.origin}\n`).join("");
}

function shown({ spec, value }: Resolved): string | undefined {
  if (value === undefined) return undefined;
  return spec.secret ? MASK : maskText(spec.kind.show(value));
}
