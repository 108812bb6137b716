import { defineConfig, env, loggingVariables } from "@oaas/config";
import { failedPrecondition } from "@oaas/foundation";
import { runService } from "../../src/index.ts";

await runService({
  service: "echo",
  version: "1.2.3",
  config: defineConfig({
    title: "Echo",
    prefixes: ["ECHO_"],
    variables: {
      mode: env("ECHO_MODE")
        .oneOf(["well", "refuses", "breaks", "hangs", "stumbles"])
        .default("well")
        .doc("How it behaves."),
      log: loggingVariables(),
    },
    notUsedYet: { "Echo has no volume control.": ["ECHO_VOLUME"] },
  }),
  start: async ({ mode }, { ambient, observability }) => {
    if (mode === "refuses") throw failedPrecondition("echo", "there is no echo here");
    if (mode === "breaks") throw new TypeError("a mistake of ours");
    const alive = ambient.timers.after(60_000, () => undefined);
    observability.log.info("up");
    return {
      close: async () => {
        if (mode === "hangs") await new Promise(() => undefined);
        alive.cancel();
        if (mode === "stumbles") throw new Error("one part would not end");
        observability.log.info("closed");
      },
    };
  },
});
