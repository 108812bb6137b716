/** How a successful reconcile ended. */
export type Outcome =
  | { readonly type: "settled" }
  | { readonly type: "wait-for-change"; readonly reason: string }
  | { readonly type: "check-again"; readonly afterMs: number; readonly reason: string };

/** The desired state is reached. */
export function settled(): Outcome {
  return { type: "settled" };
}

/** Not reached yet; a watched object will change, so no requeue is needed. */
export function waitForChange(reason: string): Outcome {
  return { type: "wait-for-change", reason };
}

/** Requeue after a delay, for conditions that cannot be watched. */
export function checkAgain(afterMs: number, reason: string): Outcome {
  return { type: "check-again", afterMs, reason };
}
