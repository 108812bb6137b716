/** Receives the progress of a start. */
export interface Progress {
  /** The current step; replaces the previous one. */
  step(step: string): void;
  /** A message that stays visible. */
  note(text: string): void;
}

/** Splits a progress into one per name and shows their steps together. */
export function splitProgress(progress: Progress, names: readonly string[]): readonly Progress[] {
  const steps = new Map<string, string>();
  return names.map((name) => ({
    step: (step) => {
      steps.set(name, step);
      const started = names.filter((one) => steps.has(one));
      progress.step(started.map((one) => `${one}: ${steps.get(one) ?? ""}`).join(" · "));
    },
    note: (text) => progress.note(text),
  }));
}
