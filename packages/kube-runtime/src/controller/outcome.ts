/** How a successful reconcile ended. */
export type Outcome =
  | { readonly type: "settled" }
  | { readonly type: "wait-for-change"; readonly why: string }
  | { readonly type: "check-again"; readonly afterMs: number; readonly why: string };

/** The desired state is reached. */
export function settled(): Outcome {
  return { type: "settled" };
}

/** Not reached yet; a watched object will change, so no requeue is needed. */
export function waitForChange(why: string): Outcome {
  return { type: "wait-for-change", why };
}

/** Requeue after a delay, for conditions that cannot be watched. */
export function checkAgain(afterMs: number, why: string): Outcome {
  return { type: "check-again", afterMs, why };
}
