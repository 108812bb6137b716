import type { Clock } from "@oaas/foundation";
import type { Display } from "./display.ts";
import { upLines } from "./view.ts";

const REPEAT_MS = 10_000;

export interface LineDisplayOptions {
  readonly clock: Clock;
  readonly write: (line: string) => void;
  /** json prints one object per line. */
  readonly output: "text" | "json";
}

/**
 * Prints a line for each new step, at most one update of the same step every ten seconds, and a last line when ready.
 */
export function createLineDisplay({ clock, write, output }: LineDisplayOptions): Display {
  const isJson = output === "json";
  const print = (key: "step" | "note", text: string): void =>
    write(isJson ? JSON.stringify({ status: "starting", [key]: text }) : `starting: ${text}`);
  let last = { step: "", at: 0 };
  return {
    step: (text) => {
      const step = stepOf(text);
      const at = clock.monotonic();
      if (step === last.step && at - last.at < REPEAT_MS) return;
      last = { step, at };
      print("step", text);
    },
    note: (text) => print("note", text),
    showUp: async (info, read) => {
      const { url, consoleUrl, pageUrl, dataDir, starts } = info;
      const { state, rssBytes } = await read.state();
      if (!isJson) {
        for (const line of upLines({ ...info, state, ...(rssBytes === undefined ? {} : { rssBytes }) })) write(line);
        return write(`ready: ${url}`);
      }
      const { packageManager, clusters } = state;
      write(
        JSON.stringify({
          status: "ready",
          url,
          ...(consoleUrl === undefined ? {} : { console_url: consoleUrl }),
          page_url: pageUrl,
          data_dir: dataDir,
          start: starts.count,
          ...(rssBytes === undefined ? {} : { rss_bytes: rssBytes }),
          package_manager: packageManager,
          clusters,
        }),
      );
    },
    end: () => undefined,
  };
}

/** The step without its details, which follow a comma; parallel steps are separated by ` · `. */
function stepOf(text: string): string {
  return text.replaceAll(/,[^·]*?(?= ·|$)/g, "");
}
