import type { Clock } from "@oaas/foundation";
import type { Face } from "./face.ts";
import { upLines } from "./view.ts";

const AGAIN_MS = 10_000;

export interface LinesFaceOptions {
  readonly clock: Clock;
  readonly write: (line: string) => void;
  /** json: one object per line. */
  readonly output: "text" | "json";
}

/** For a start that no screen shows: a line for each new step, news of the same step every ten seconds, and a last one when all is ready. */
export function linesFace({ clock, write, output }: LinesFaceOptions): Face {
  const isJson = output === "json";
  const tell = (key: "step" | "note", text: string): void =>
    write(isJson ? JSON.stringify({ status: "starting", [key]: text }) : `starting: ${text}`);
  let last = { step: "", at: 0 };
  return {
    now: (text) => {
      const step = stepOf(text);
      const at = clock.monotonic();
      if (step === last.step && at - last.at < AGAIN_MS) return;
      last = { step, at };
      tell("step", text);
    },
    note: (text) => tell("note", text),
    up: async (fixed, look) => {
      const { url, pageUrl, dataDir, starts } = fixed;
      const { state, rssBytes } = await look();
      if (!isJson) {
        for (const line of upLines({ ...fixed, state, ...(rssBytes === undefined ? {} : { rssBytes }) })) write(line);
        return write(`ready: ${url}`);
      }
      const { packageManager, clusters } = state;
      write(
        JSON.stringify({
          status: "ready",
          url,
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

/** What comes after a comma is news of the same step; several go on side by side. */
function stepOf(text: string): string {
  return text.replaceAll(/,[^·]*?(?= ·|$)/g, "");
}
