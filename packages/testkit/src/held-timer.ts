import type { Ambient } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";

/** The real ambient, except that a timer of one delay fires when the test says so. */
export interface HeldTimer {
  readonly ambient: Ambient;
  isHeld(): boolean;
  fire(): void;
}

export function holdTimer(heldMs: number): HeldTimer {
  let held: (() => void) | undefined;
  const after: Ambient["timers"]["after"] = (delayMs, run) => {
    if (delayMs !== heldMs) return realAmbient.timers.after(delayMs, run);
    held = run;
    return { cancel: () => (held = undefined) };
  };
  return {
    ambient: { ...realAmbient, timers: { ...realAmbient.timers, after } },
    isHeld: () => held !== undefined,
    fire: () => held?.(),
  };
}
