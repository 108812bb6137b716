import { progressBarText, type Progress } from "../output/progress-bar.ts";
import { truncateLine } from "../output/table.ts";
import type { Session } from "./session.ts";

const REDRAW_MS = 100;
const CLEAR_LINE = "\r\u001b[K";

/** Draws the progress of a command on one line of a terminal; elsewhere nothing. */
export class ProgressLine {
  readonly #session: Session;
  #drawnAtMs = -Infinity;
  #isShown = false;

  constructor(session: Session) {
    this.#session = session;
  }

  show(progress: Progress): void {
    const { terminal, clock } = this.#session.environment;
    const nowMs = clock.monotonic();
    if (!this.#session.isHumanOutput || !terminal.isInteractive || nowMs - this.#drawnAtMs < REDRAW_MS) return;
    this.#drawnAtMs = nowMs;
    this.#isShown = true;
    terminal.err(CLEAR_LINE + truncateLine(progressBarText(progress), terminal.columns - 1));
  }

  /** Removes the line, so that other output can follow. */
  clear(): void {
    if (this.#isShown) this.#session.environment.terminal.err(CLEAR_LINE);
    this.#isShown = false;
    this.#drawnAtMs = -Infinity;
  }
}
