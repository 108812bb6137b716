import type { Page } from "playwright-core";

/** What differs between two runs of the same page, and the text that is shown instead. The first match counts. */
const VOLATILE: readonly (readonly [pattern: string, text: string])[] = [
  [String.raw`\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b`, "0c5ad0b9-1f6e-4f0e-9d0a-6f2b7c1e8d43"],
  [String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`, "2026-11-19T04:23:47.000Z"],
  [String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d( [+-]\d\d:\d\d)?`, "2026-11-19 04:23:47 +00:00"],
  [String.raw`\b\d\d:\d\d:\d\d(\.\d+)?\b`, "04:23:47"],
  [String.raw`just now|\b\d+\s?(s|m|min|h) ago`, "1m ago"],
  // The random end of the name of a pod, behind the digest of its template.
  [String.raw`[0-9a-f]{8,10}-[b-z2-9]{5}\b`, "8488787d95-x7k2p"],
  [String.raw`127\.0\.0\.1:\d+`, "127.0.0.1:8080"],
];

/** Shows the same text in each run: times, ids and addresses. Editors keep theirs, because they would take it for typing. */
export async function hideVolatileText(page: Page): Promise<void> {
  await page.evaluate((patterns) => {
    const replace = new RegExp(patterns.map(([pattern]) => `(?<!\\w)(?:${pattern})`).join("|"), "g");
    const tests = patterns.map(([pattern, text]) => [new RegExp(`^(?:${pattern})$`), text] as const);
    const fixed = (found: string): string => tests.find(([test]) => test.test(found))?.[1] ?? found;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      if (node.parentElement !== null && node.parentElement.closest(".cm-editor") !== null) continue;
      const text = node.nodeValue ?? "";
      const shown = text.replace(replace, fixed);
      if (shown !== text) node.nodeValue = shown;
    }
    // Charts draw measurements.
    for (const canvas of document.querySelectorAll("canvas")) canvas.style.visibility = "hidden";
  }, VOLATILE);
}
