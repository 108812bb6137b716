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
        .oneOf(["ok", "reject", "throw", "hang", "fail-to-stop"])
        .default("ok")
        .doc("Behaviour of the program."),
      log: loggingVariables(),
    },
    removedSettings: { "Echo has no volume control.": ["ECHO_VOLUME"] },
  }),
  start: async ({ mode }, { ambient, observability }) => {
    if (mode === "reject") throw failedPrecondition("echo", "echo is not available");
    if (mode === "throw") throw new TypeError("programming error");
    const alive = ambient.timers.after(60_000, () => undefined);
    observability.log.info("up");
    return {
      close: async () => {
        if (mode === "hang") await new Promise(() => undefined);
        alive.cancel();
        if (mode === "fail-to-stop") throw new Error("one part did not stop");
        observability.log.info("closed");
      },
    };
  },
});
