import type { Clock, Timer, Timers } from "@oaas/foundation";
import type { Display, StackInfo } from "./display.ts";
import { startLines, upLines, type Paint, type Size, type UpView } from "./view.ts";

export interface ScreenTerminal {
  size(): Size;
  write(text: string): void;
}

export interface ScreenDisplayOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly terminal: ScreenTerminal;
  readonly paint: Paint;
  /** Returns the last log lines. */
  readonly logs: (count: number) => readonly string[];
}

export interface ScreenDisplay extends Display {
  /** Shows or hides the logs. */
  toggleLogs(): void;
  /** Redraws after a resize of the window. */
  redraw(): void;
}

const TICK_MS = 1_000;
const REFRESH_MS = 2_000;
const LOG_LINES = 15;

/** A screen that is redrawn in place: the progress of the start, then the live state. */
export function createScreenDisplay(options: ScreenDisplayOptions): ScreenDisplay {
  const { clock, timers, terminal, paint } = options;
  let drawn: readonly string[] = [];
  let currentStep = "";
  const since = clock.monotonic();
  let notes: readonly string[] = [];
  let up: { readonly info: StackInfo; readonly state: Pick<UpView, "state" | "rssBytes"> } | undefined;
  let showsLogs = false;
  let hasEnded = false;
  let timer: Timer | undefined;

  const lines = (): readonly string[] => {
    const size = terminal.size();
    if (up === undefined) {
      return startLines(
        { step: currentStep, seconds: Math.floor((clock.monotonic() - since) / 1000), notes },
        size,
        paint,
      );
    }
    return upLines({ ...up.info, ...up.state, ...(showsLogs ? { logs: options.logs(LOG_LINES) } : {}) }, size, paint);
  };
  const draw = (isForced = false): void => {
    if (hasEnded) return;
    const next = lines();
    if (!isForced && next.length === drawn.length && next.every((line, index) => line === drawn[index])) return;
    // Move the cursor to the first line of the last screen and clear it.
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
    step: (text) => {
      currentStep = text;
      draw();
    },
    note: (text) => {
      notes = [...notes, text];
      draw();
    },
    showUp: async (info, readState) => {
      timer?.cancel();
      const follow = async (): Promise<void> => {
        const state = await readState();
        if (hasEnded) return;
        up = { info: { ...info }, state };
        draw();
        timer = timers.after(REFRESH_MS, () => void follow());
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
