import type { Signal } from "../samples.ts";
import type { Finding, FindingReason } from "./finding.ts";

/** Collects findings: one per reason, with all signals it concerns and the detail of the first. */
export class Findings {
  readonly #byReason = new Map<FindingReason, { readonly detail: string; readonly signals: Signal[] }>();

  add(reason: FindingReason, detail: string, signal?: Signal): void {
    let entry = this.#byReason.get(reason);
    if (entry === undefined) {
      entry = { detail, signals: [] };
      this.#byReason.set(reason, entry);
    }
    if (signal !== undefined && !entry.signals.includes(signal)) entry.signals.push(signal);
  }

  list(): Finding[] {
    return [...this.#byReason].map(([reason, { detail, signals }]) => ({ reason, signals, detail }));
  }
}
