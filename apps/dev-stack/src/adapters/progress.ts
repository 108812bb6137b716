import type { Logger } from "@oaas/observability";
import type { Progress } from "../clusters/ports.ts";

const TICK_MS = 1_000;
const LOG_AGAIN_MS = 10_000;

/** Progress that ends when the stack is up. */
export interface ShownProgress extends Progress {
  end(): void;
}

/** Log lines, for a start that nobody watches: each new step, and news of the same step every ten seconds. */
export function loggedProgress(logger: Logger): ShownProgress {
  let last = { step: "", at: 0 };
  return {
    now: (text) => {
      const step = stepOf(text);
      const at = performance.now();
      if (step === last.step && at - last.at < LOG_AGAIN_MS) return;
      last = { step, at };
      logger.info("starting", { step: text });
    },
    note: (text) => logger.info("starting", { note: text }),
    end: () => undefined,
  };
}

/** One line on the terminal that always says what is being done and for how long; notes stay above it. */
export function terminalProgress(terminal: NodeJS.WriteStream): ShownProgress {
  let shown = "";
  let since = performance.now();
  const clear = (): void => void terminal.write("\r\u001B[2K");
  const draw = (): void => {
    if (shown === "") return;
    const seconds = Math.floor((performance.now() - since) / 1_000);
    clear();
    terminal.write(`  ◐ ${shown}${seconds > 0 ? `, ${seconds} s` : ""}`.slice(0, Math.max(terminal.columns, 20) - 1));
  };
  const timer = setInterval(draw, TICK_MS);
  timer.unref();
  return {
    now: (text) => {
      if (stepOf(text) !== stepOf(shown)) since = performance.now();
      shown = text;
      draw();
    },
    note: (text) => {
      clear();
      terminal.write(`${text}\n`);
      draw();
    },
    end: () => {
      clearInterval(timer);
      clear();
    },
  };
}

/** What comes after a comma is news of the same step. */
function stepOf(text: string): string {
  return text.split(",")[0] ?? text;
}
