import { COMPONENTS } from "./manifest.ts";
import type { Component, Tier } from "./component.ts";
import type { ComponentReport } from "./obtain-error.ts";
import { obtain } from "./obtain.ts";

const SAY_AGAIN_MS = 10_000;

/** The components that a tier needs; "full" and "bench" include "test". */
export function componentsOf(tier: Tier): readonly Component[] {
  return COMPONENTS.filter((component) => component.tier === "test" || component.tier === tier);
}

/** Obtains the missing components of a tier one by one and logs the progress. */
export function ensureComponents(tier: Tier, log: (line: string) => void): Promise<ComponentReport[]> {
  return ensureEach(componentsOf(tier), log);
}

/** Obtains these components. A failure of one does not stop the others. */
export async function ensureEach(
  components: readonly Component[],
  log: (line: string) => void,
): Promise<ComponentReport[]> {
  const reports: ComponentReport[] = [];
  for (const [index, component] of components.entries()) {
    const title = `[${index + 1}/${components.length}] ${component.name} ${component.version}`;
    const report = await obtain(component, { onProgress: throttleLog(title, log) });
    log(`${title}: ${reportText(report)}`);
    reports.push(report);
  }
  return reports;
}

/** Logs each new step at once, and updates of the same step every ten seconds. */
function throttleLog(title: string, log: (line: string) => void): (text: string) => void {
  const begun = performance.now();
  let lastStep = "";
  let lastSaid = 0;
  return (text) => {
    const now = performance.now();
    const step = text.split(",")[0] ?? text;
    if (step === lastStep && now - lastSaid < SAY_AGAIN_MS) return;
    lastStep = step;
    lastSaid = now;
    log(`${title}: ${text} (${elapsedText(now - begun)})`);
  };
}

/** Formats a report: one line, or three with reason and fix. */
export function reportText(report: ComponentReport): string {
  if (report.state === "present") return "present";
  if (report.state === "obtained") return `obtained in ${elapsedText(report.elapsedMs)}`;
  return `MISSING: ${report.reason}\n  Remedy: ${report.remedy}`;
}

/** "4 s" or "3 min 12 s". */
export function elapsedText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
