/** Written by a running stack, so that `oaas` can find it from another terminal; deleted on a clean stop. */
export interface StackRecord {
  readonly pid: number;
  readonly version: string;
  readonly since: string;
  /** URL of the stack page. */
  readonly pageUrl: string;
  /** Bearer token for stopping the stack and injecting faults. Only the owner can read the file. */
  readonly secret: string;
}

/** File name in the data folder. */
export const STATE_FILE = "stack.json";

export function recordText(record: StackRecord): string {
  return `${JSON.stringify(record, undefined, 2)}\n`;
}

/** Parses a record; undefined if it is invalid. */
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
