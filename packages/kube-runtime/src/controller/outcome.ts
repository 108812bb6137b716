/** How a reconcile ended well. */
export type Outcome =
  | { readonly type: "settled" }
  | { readonly type: "wait-for-change"; readonly why: string }
  | { readonly type: "check-again"; readonly afterMs: number; readonly why: string };

/** The world is as wanted. */
export function settled(): Outcome {
  return { type: "settled" };
}

/** Not yet as wanted, but something that is watched will change: no need to look before. */
export function waitForChange(why: string): Outcome {
  return { type: "wait-for-change", why };
}

/** Look again after a while, whatever happens: for what cannot be watched. */
export function checkAgain(afterMs: number, why: string): Outcome {
  return { type: "check-again", afterMs, why };
}
