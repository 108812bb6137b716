import type { DescriptorSnapshot, Entries } from "./snapshot.ts";

const SECTIONS = ["messages", "enums", "services"] as const;

/** The name of an entry of each section. */
const ENTRY_WORD = { messages: "field", enums: "value", services: "method" } as const;

/** A change that breaks deployed peers. */
export interface BreakingChange {
  /** Full name of the message, enum or service. */
  readonly type: string;
  readonly explanation: string;
}

/** All entries of the baseline that were removed or changed. Additions are allowed. */
export function breakingChanges(baseline: DescriptorSnapshot, current: DescriptorSnapshot): BreakingChange[] {
  return SECTIONS.flatMap((section) =>
    Object.entries(baseline[section]).flatMap(([type, promised]) => {
      const actual = current[section][type];
      if (actual === undefined) return [{ type, explanation: `${type} was removed` }];
      return Object.entries(promised).flatMap(([key, line]) =>
        actual[key] === line
          ? []
          : [{ type, explanation: `${type}: ${explain(ENTRY_WORD[section], key, line, actual)}` }],
      );
    }),
  );
}

function explain(word: string, key: string, promised: string, actual: Readonly<Record<string, string>>): string {
  const now = actual[key];
  const movedTo = Object.keys(actual).find((other) => actual[other] === promised && promised !== "reserved");
  if (movedTo !== undefined) return `${word} ${key} (${promised}) was renumbered to ${movedTo}`;
  if (now === undefined) return `${word} ${key} (${promised}) was removed`;
  return `${word} ${key} was "${promised}" and is "${now}"`;
}

/** The baseline with all additions. Throws when an entry was removed or changed: regenerating must not break deployed peers. */
export function grownBaseline(baseline: DescriptorSnapshot, current: DescriptorSnapshot): DescriptorSnapshot {
  const broken = breakingChanges(baseline, current);
  if (broken.length === 0) return current;
  throw new Error(
    [
      "The protos break the stored contract (packages/contracts/baseline/descriptors.json):",
      ...broken.map((change) => `  - ${change.explanation}`),
      "Restore them, and add new fields under new numbers (from 100 up in messages of earlier peers).",
    ].join("\n"),
  );
}

/** The stored form: sorted, one line per entry, so that an addition is one added line in a diff. */
export function baselineText(snapshot: DescriptorSnapshot): string {
  const sorted = Object.fromEntries(SECTIONS.map((section) => [section, sortedEntries(snapshot[section])]));
  return `${JSON.stringify(sorted, undefined, 2)}\n`;
}

function sortedEntries(entries: Entries): Entries {
  return Object.fromEntries(
    Object.keys(entries)
      .sort()
      .map((type) => {
        const lines = Object.entries(entries[type] ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
        return [type, Object.fromEntries(lines)];
      }),
  );
}

/** Parses the stored form; throws when a section is missing. */
export function parseBaseline(text: string): DescriptorSnapshot {
  const parsed = JSON.parse(text) as Partial<DescriptorSnapshot>;
  const { messages, enums, services } = parsed;
  if (messages === undefined || enums === undefined || services === undefined) {
    throw new Error("The descriptor baseline lacks messages, enums or services; restore it from version control.");
  }
  return { messages, enums, services };
}
