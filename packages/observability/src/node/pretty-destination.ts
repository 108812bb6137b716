import pc from "picocolors";
import { LOG_FIELDS } from "../log-fields.ts";
import type { LogLevel } from "../logger.ts";
import type { LogDestination } from "./fd-destination.ts";

type Paint = (text: string) => string;
type Colors = ReturnType<typeof pc.createColors>;

/**
 * Formats the JSON lines of the logger for a terminal: time, level, message, `key=value` fields. A fault follows on
 * indented lines with its causes.
 */
export function createPrettyDestination(destination: LogDestination, withColors: boolean): LogDestination {
  const colors = pc.createColors(withColors);
  const paints = levelPaints(colors);
  return {
    write: (line) => {
      const { level, time, message, [LOG_FIELDS.fault]: fault, ...fields } = JSON.parse(line) as JsonLine;
      const head = `${colors.dim(time.slice(11, 23))} ${paints[level](level.toUpperCase().padEnd(5))}`;
      const pairs = Object.entries(fields).map(
        ([key, value]) => ` ${colors.dim(`${escapeControls(key)}=`)}${valueText(value)}`,
      );
      const details = fault === undefined ? "" : faultText(fault, colors);
      destination.write(`${head} ${escapeControls(message)}${pairs.join("")}\n${details}`);
    },
  };
}

interface JsonLine {
  readonly level: LogLevel;
  readonly time: string;
  readonly message: string;
  readonly fault?: unknown;
}

function levelPaints(colors: Colors): Readonly<Record<LogLevel, Paint>> {
  return {
    trace: colors.dim,
    debug: colors.cyan,
    info: colors.green,
    warn: colors.yellow,
    error: colors.red,
    fatal: (text) => colors.bold(colors.red(text)),
  };
}

function valueText(value: unknown): string {
  const text = typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
  return escapeControls(text);
}

function faultText(fault: unknown, colors: Colors): string {
  const lines: string[] = [];
  let prefix = "";
  for (let link = fault; link !== undefined; link = (link as { readonly cause?: unknown }).cause) {
    const { frames, text } = faultLinkText(link);
    lines.push(`    ${colors.red(escapeControls(prefix + text))}\n`);
    for (const frame of frames) lines.push(`      ${colors.dim(escapeControls(frame.trim()))}\n`);
    if (typeof link !== "object" || link === null) break;
    prefix = "caused by ";
  }
  return lines.join("");
}

/** One fault or error of a cause chain: its summary, and the frames of its stack. */
function faultLinkText(link: unknown): { readonly text: string; readonly frames: readonly string[] } {
  if (typeof link !== "object" || link === null) return { text: valueText(link), frames: [] };
  const { kind, code, name, message, stack, cause: _cause, retryable: _retryable, ...more } = link as LoggedFault;
  const head = [kind, code, ...(kind === undefined ? [name] : [])].filter((part) => part !== undefined).join(" ");
  const details = Object.entries(kind === undefined || name === undefined ? more : { name, ...more });
  const frames = typeof stack === "string" ? stack.split("\n").filter((line) => /^\s+at /.test(line)) : [];
  const pairs = details.map(([key, value]) => ` ${key}=${valueText(value)}`).join("");
  return { text: `${head}: ${message ?? ""}${pairs}`, frames };
}

/** Output of `faultFields`. */
interface LoggedFault {
  readonly kind?: string;
  readonly code?: string;
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: unknown;
  readonly retryable?: boolean;
}

/** Escapes control characters, which could move the cursor or forge a line. */
function escapeControls(text: string): string {
  // oxlint-disable-next-line eslint/no-control-regex -- matching control characters is the purpose
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  });
}
