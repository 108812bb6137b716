import type { Clock, Timer, Timers } from "@oaas/foundation";
import type { Face, Fixed } from "./face.ts";
import { startLines, upLines, type Paint, type Size, type UpView } from "./view.ts";

/** The terminal as the screen needs it. */
export interface ScreenTerminal {
  size(): Size;
  write(text: string): void;
}

export interface ScreenFaceOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly terminal: ScreenTerminal;
  readonly paint: Paint;
  /** The last lines of all logs. */
  readonly logs: (count: number) => readonly string[];
}

export interface ScreenFace extends Face {
  /** Shows the logs, or hides them again. */
  toggleLogs(): void;
  /** Draws anew: the window has another size. */
  redraw(): void;
}

const TICK_MS = 1_000;
const LOOK_MS = 2_000;
const LOG_LINES = 15;

/** One picture, drawn over itself: progress while starting, then how everything is, live. */
export function screenFace(options: ScreenFaceOptions): ScreenFace {
  const { clock, timers, terminal, paint } = options;
  let drawn: readonly string[] = [];
  let doing = "";
  const since = clock.monotonic();
  let notes: readonly string[] = [];
  let up: { readonly fixed: Fixed; readonly state: Pick<UpView, "state" | "rssBytes"> } | undefined;
  let showsLogs = false;
  let hasEnded = false;
  let timer: Timer | undefined;

  const lines = (): readonly string[] => {
    const size = terminal.size();
    if (up === undefined) {
      return startLines({ doing, seconds: Math.floor((clock.monotonic() - since) / 1000), notes }, size, paint);
    }
    return upLines({ ...up.fixed, ...up.state, ...(showsLogs ? { logs: options.logs(LOG_LINES) } : {}) }, size, paint);
  };
  const draw = (isForced = false): void => {
    if (hasEnded) return;
    const next = lines();
    if (!isForced && next.length === drawn.length && next.every((line, index) => line === drawn[index])) return;
    // Back to the first line of the last picture, and away with it.
    const back = drawn.length === 0 ? "" : `\r\u001B[${drawn.length}A\u001B[J`;
    terminal.write(back + next.map((line) => `${line}\n`).join(""));
    drawn = next;
  };
  const tick = (): void => {
    draw();
    timer = timers.after(TICK_MS, tick);
  };
  tick();

  return {
    now: (text) => {
      doing = text;
      draw();
    },
    note: (text) => {
      notes = [...notes, text];
      draw();
    },
    up: async (fixed, look) => {
      timer?.cancel();
      const follow = async (): Promise<void> => {
        const state = await look();
        if (hasEnded) return;
        up = { fixed: { ...fixed }, state };
        draw();
        timer = timers.after(LOOK_MS, () => void follow());
      };
      await follow();
    },
    toggleLogs: () => {
      showsLogs = !showsLogs;
      draw();
    },
    redraw: () => draw(true),
    end: () => {
      timer?.cancel();
      draw();
      hasEnded = true;
    },
  };
}
