import { runPass, type PassOptions, type PassTally } from "./copy-pass.ts";
import type { StateSource, StateTarget } from "./stored-state.ts";

export interface CopyOptions extends Omit<PassOptions, "mode" | "onObject"> {
  /** Whether objects of the destination may get other entries. */
  readonly overwrites: boolean;
  /** Copying passes at most. */
  readonly maxPasses: number;
  readonly onPass?: (pass: number, expected: number) => void;
  readonly onObject?: (pass: number, tally: PassTally) => void;
  /** Asks before objects are deleted. */
  readonly confirmsDeletion: (extra: number) => Promise<boolean>;
}

/** How a copy ended. */
export type CopyResult = {
  readonly passes: number;
  readonly written: number;
  readonly deleted: number;
  readonly last: PassTally;
} & (
  | { readonly outcome: "equal" }
  /** Objects would be overwritten, or several would get one place; nothing was written. */
  | { readonly outcome: "refused"; readonly reason: "different" | "collisions" }
  | { readonly outcome: "cancelled" }
  /** The source changed during each pass. */
  | { readonly outcome: "changing" }
  /** The source lost objects that had been copied. */
  | { readonly outcome: "extra" }
);

/**
 * Copies objects until a pass finds nothing to do and no version of the source has changed since the pass before: the
 * destination then has what the source had between the two. The first pass only compares, so that a refusal changes
 * nothing.
 */
export async function copyState(source: StateSource, target: StateTarget, options: CopyOptions): Promise<CopyResult> {
  const run = (pass: number, mode: PassOptions["mode"]): Promise<PassTally> =>
    runPass(source, target, { ...options, mode, onObject: (tally) => options.onObject?.(pass, tally) });
  options.onPass?.(0, 0);
  const found = await run(0, "check");
  const total = { passes: 0, written: 0, deleted: 0, last: found };
  if (found.collisions > 0) return { ...total, outcome: "refused", reason: "collisions" };
  if (found.different > 0 && !options.overwrites) return { ...total, outcome: "refused", reason: "different" };
  if (options.deletesExtra && found.extra > 0 && !(await options.confirmsDeletion(found.extra)))
    return { ...total, outcome: "cancelled" };
  for (let before = found; total.passes < options.maxPasses; before = total.last) {
    total.passes += 1;
    options.onPass?.(total.passes, before.objects);
    const tally = await run(total.passes, "copy");
    const written = tally.missing + tally.different;
    const deleted = options.deletesExtra ? tally.extra : 0;
    total.last = tally;
    total.written += written;
    total.deleted += deleted;
    const isDone = written + deleted + tally.changed + tally.collisions === 0 && tally.digest === before.digest;
    if (isDone) return { ...total, outcome: tally.extra > found.extra ? "extra" : "equal" };
  }
  return { ...total, outcome: "changing" };
}
