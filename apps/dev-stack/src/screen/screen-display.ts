import type { Clock, Timer, Timers } from "@oaas/foundation";
import type { Display, StackInfo, StackReader } from "./display.ts";
import type { Key } from "./keys.ts";
import type { DeploymentExplanation } from "../package-manager/ports.ts";
import { FIRST_MODE, pressKey, type ScreenMode } from "./screen-mode.ts";
import { shownComponents, startLines, upLines, type Paint, type Size, type UpView } from "./view.ts";

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
  /** The user wants to stop the stack. */
  readonly quit: () => void;
}

export interface ScreenDisplay extends Display {
  /** Handles a key of the user. */
  press(key: Key): void;
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
  let mode: ScreenMode = FIRST_MODE;
  let explained: { readonly key: string; readonly explanation: DeploymentExplanation } | undefined;
  let reader: StackReader | undefined;
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
    const logs = mode.panel === "logs" ? { logs: options.logs(LOG_LINES) } : {};
    const explanation = explained?.key === selectedDeployment(mode) ? explained?.explanation : undefined;
    return upLines({ ...up.info, ...up.state, ...logs, mode, explanation }, size, paint);
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

  /** Reads why the selected deployment is in its state, while its details are open. */
  const explainSelected = async (): Promise<void> => {
    const key = mode.panel === "details" ? selectedDeployment(mode) : undefined;
    if (key === undefined || reader === undefined) return;
    explained = { key, explanation: await reader.explanation(key) };
    draw();
  };

  return {
    step: (text) => {
      currentStep = text;
      draw();
    },
    note: (text) => {
      notes = [...notes, text];
      draw();
    },
    showUp: async (info, read) => {
      timer?.cancel();
      reader = read;
      const follow = async (): Promise<void> => {
        const state = await read.state();
        if (hasEnded) return;
        up = { info: { ...info }, state };
        draw();
        void explainSelected();
        timer = timers.after(REFRESH_MS, () => void follow());
      };
      await follow();
    },
    press: (key) => {
      const ids = up === undefined ? [] : shownComponents(up.state.state, mode.filter).map(({ id }) => id);
      const next = pressKey(mode, key, ids);
      if (next === "quit") return options.quit();
      mode = next;
      draw();
      void explainSelected();
    },
    redraw: () => draw(true),
    end: () => {
      timer?.cancel();
      draw();
      hasEnded = true;
    },
  };
}

function selectedDeployment({ selected = "" }: ScreenMode): string | undefined {
  return selected.startsWith("deployment/") ? selected.slice("deployment/".length) : undefined;
}
