import type { Screen } from "./newcomer.ts";
import { plainText } from "./screen-table.ts";

/** One step of the first day: what the person wants, and the screens of the commands. */
export interface Step {
  readonly title: string;
  readonly text: string;
  readonly screens: readonly Screen[];
}

/** What differs between runs, with the value that the page shows. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1:\d{2,5}/g, "127.0.0.1:8080"],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-11-17T09:00:00Z"],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, "09:00:00"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "5f0c…"],
  [/-(?:[0-9a-f]{8,10})-[a-z0-9]{5}\b/g, "-6d4f8b9c5-x2x7q"],
  [/\b\d+(?:\.\d+)?(?= ?(?:s|ms)\b)/g, "1"],
  [/\b\d+m\b/g, "1s"],
  // Known only if the clocks allow it.
  [/ Corrected after [\d.]+ s\./g, ""],
  // Whether a cluster was still removing the class.
  [/\n(?:Waiting for the deletion of|deployment\/notes does not exist)[^\n]*/g, ""],
  // More events arrive while the cluster tries again.
  [/(\n +event [^\n]*)(?:\n +event [^\n]*)+/g, "$1"],
  [/(?<=-x2x7q\.)[0-9a-f]{16}/g, "18e8bda2f8c2a53a"],
  [/\S*\/oaas-first-day-\w+/g, "~/oaas"],
  [/\n+-o wide shows all[^\n]*/g, ""],
  [/\b10\.244\.\d+\.\d+/g, "10.244.0.3"],
  [/(?<="node": "[a-z]+-)\d+/g, "0"],
];

/** The page with all steps. Values that differ between runs are replaced, so that the page changes only with the product. */
export function composePage(introduction: string, steps: readonly Step[]): string {
  const parts = steps.map(({ title, text, screens }, index) =>
    [`## ${index + 1}. ${title}`, text, ...screens.map(recorded)].join("\n\n"),
  );
  return `${[introduction.trim(), ...parts].join("\n\n")}\n`;
}

function recorded({ command, text, code }: Screen): string {
  const shown = stableText(plainText(text)).trimEnd();
  const exit = code === 0 ? "" : `\n(exit code ${code})`;
  const lines = [`$ ${command}`, ...(shown === "" ? [] : [shown])].join("\n");
  return `\`\`\`text recorded\n${lines}${exit}\n\`\`\``;
}

/** Replaces what differs between runs. */
export function stableText(text: string): string {
  // Ages in a table keep the width of their column.
  const aged = text.replaceAll(/\b\d+[sm](?= {2})/g, (age) => "1s".padEnd(age.length));
  return VARYING.reduce((all, [pattern, value]) => all.replaceAll(pattern, value), aged);
}
