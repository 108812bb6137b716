import type { Logger } from "@oaas/observability";
import type { Progress } from "../clusters/ports.ts";

const TICK_MS = 1_000;

/** Progress that ends when the stack is up. */
export interface ShownProgress extends Progress {
  end(): void;
}

/** Log lines, for a start that nobody watches. */
export function loggedProgress(logger: Logger): ShownProgress {
  return {
    now: (step) => logger.info("starting", { step }),
    note: (text) => logger.info("starting", { note: text }),
    end: () => undefined,
  };
}

/** One line on the terminal that always says what is being done and for how long; notes stay above it. */
export function terminalProgress(terminal: NodeJS.WriteStream): ShownProgress {
  let step = "";
  let since = performance.now();
  const clear = (): void => void terminal.write("\r\u001B[2K");
  const draw = (): void => {
    const seconds = Math.floor((performance.now() - since) / 1_000);
    const line = `  ◐ ${step}${seconds > 0 ? `, ${seconds} s` : ""}`;
    clear();
    terminal.write(line.slice(0, Math.max(terminal.columns, 20) - 1));
  };
  const timer = setInterval(() => {
    if (step !== "") draw();
  }, TICK_MS);
  timer.unref();
  return {
    now: (next) => {
      step = next;
      since = performance.now();
      draw();
    },
    note: (text) => {
      clear();
      terminal.write(`${text}\n`);
    },
    end: () => {
      clearInterval(timer);
      clear();
    },
  };
}
