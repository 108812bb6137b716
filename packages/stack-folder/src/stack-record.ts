/** What a running stack leaves in its data folder, so that `oaas` finds it from another terminal; gone after an orderly stop. */
export interface StackRecord {
  readonly pid: number;
  readonly version: string;
  readonly since: string;
  /** Of the stack's own page. */
  readonly pageUrl: string;
  /** What must be shown to stop it or to break something: the file is its owner's alone. */
  readonly secret: string;
}

/** Its name in the data folder. */
export const STATE_FILE = "stack.json";

export function recordText(record: StackRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** The record that a text holds; undefined when no stack wrote it. */
export function readRecord(text: string): StackRecord | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is StackRecord {
  if (typeof value !== "object" || value === null) return false;
  const { pid, ...texts } = value as Readonly<Record<string, unknown>>;
  const hasTexts = ["version", "since", "pageUrl", "secret"].every((name) => typeof texts[name] === "string");
  return Number.isSafeInteger(pid) && hasTexts;
}
