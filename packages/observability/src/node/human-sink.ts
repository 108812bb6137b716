import pc from "picocolors";
import { LOG_FIELDS } from "../log-fields.ts";
import { recordTime, type LogLevel, type LogSink } from "../logger.ts";
import type { LogDestination } from "./fd-destination.ts";

type Paint = (text: string) => string;
type Colors = ReturnType<typeof pc.createColors>;

/** A line for people: time, level, message, `key=value` fields; a fault goes below, indented, with its causes. */
export function createHumanSink(destination: LogDestination, withColors: boolean): LogSink {
  const colors = pc.createColors(withColors);
  const paintOf = levelPaints(colors);
  return (record) => {
    const { [LOG_FIELDS.fault]: fault, ...fields } = record.fields;
    const shown = Object.entries(fields).map(([key, value]) => ` ${colors.dim(`${oneLine(key)}=`)}${valueText(value)}`);
    const time = colors.dim(recordTime(record).slice(11, 23));
    const level = paintOf[record.level](record.level.toUpperCase().padEnd(5));
    const below = fault === undefined ? "" : faultText(fault, colors);
    destination.write(`${time} ${level} ${oneLine(record.message)}${shown.join("")}\n${below}`);
  };
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
  return oneLine(text);
}

function faultText(fault: unknown, colors: Colors): string {
  const lines: string[] = [];
  let lead = "";
  for (let link = fault; link !== undefined; link = (link as { readonly cause?: unknown }).cause) {
    const { stack, text } = linkText(link);
    lines.push(`    ${colors.red(oneLine(lead + text))}\n`);
    for (const frame of stack) lines.push(`      ${colors.dim(oneLine(frame.trim()))}\n`);
    if (typeof link !== "object" || link === null) break;
    lead = "caused by ";
  }
  return lines.join("");
}

/** One fault or error of a chain: its head on one line, and the frames of its stack. */
function linkText(link: unknown): { readonly text: string; readonly stack: readonly string[] } {
  if (typeof link !== "object" || link === null) return { text: valueText(link), stack: [] };
  const { kind, code, name, message, stack, cause: _cause, retryable: _retryable, ...more } = link as LoggedFault;
  const head = [kind, code, ...(kind === undefined ? [name] : [])].filter((part) => part !== undefined).join(" ");
  const facts = Object.entries(kind === undefined || name === undefined ? more : { name, ...more });
  const frames = typeof stack === "string" ? stack.split("\n").filter((line) => /^\s+at /.test(line)) : [];
  const shown = facts.map(([key, value]) => ` ${key}=${valueText(value)}`).join("");
  return { text: `${head}: ${message ?? ""}${shown}`, stack: frames };
}

/** What `loggable` makes of faults and errors. */
interface LoggedFault {
  readonly kind?: string;
  readonly code?: string;
  readonly name?: string;
  readonly message?: string;
  readonly stack?: string;
  readonly cause?: unknown;
  readonly retryable?: boolean;
}

/** Control characters could move the cursor or fake a line; they are shown by their code. */
function oneLine(text: string): string {
  // oxlint-disable-next-line eslint/no-control-regex -- these are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => {
    return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`;
  });
}
