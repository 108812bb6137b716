import type { Progress } from "./ports.ts";

/** One progress for each of several things that go on at the same time, shown together. */
export function sideBySide(progress: Progress, names: readonly string[]): readonly Progress[] {
  const steps = new Map<string, string>();
  return names.map((name) => ({
    now: (step) => {
      steps.set(name, step);
      const begun = names.filter((one) => steps.has(one));
      progress.now(begun.map((one) => `${one}: ${steps.get(one) ?? ""}`).join(" · "));
    },
    note: (text) => progress.note(text),
  }));
}
