import { readFileSync } from "node:fs";
import {
  configHelp,
  configReport,
  configReportText,
  loadConfig,
  readCommandLine,
  unusedSettings,
  type ConfigSources,
} from "@oaas/config";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createObservability } from "@oaas/observability/node";
import type { Logger } from "@oaas/observability";
import { tracingOptions } from "../tracing-options.ts";
import type { RunningService, ServiceConfig, ServiceProgram } from "../program.ts";

/**
 * Runs a service from its command line to its exit code.
 *
 * Guarantees: `--help` and `--print-config` start nothing. A failed start prints one message to standard error and
 * exits with code 1. The first signal stops the service gracefully and exits with code 0, or 1 if the stop failed. A
 * second signal, or a signal during the start, exits with code 130 immediately.
 */
export async function runService<C extends ServiceConfig>(program: ServiceProgram<C>): Promise<void> {
  const commandLine = readCommandLine(process.argv.slice(2));
  const sources = { env: process.env, args: commandLine.args, readFile: (file: string) => readFileSync(file, "utf8") };
  try {
    if (commandLine.mode === "help") process.stdout.write(configHelp(program.config));
    else if (commandLine.mode === "print-config")
      process.stdout.write(configReportText(configReport(program.config, sources)));
    else await serve(program, sources);
  } catch (thrown) {
    process.stderr.write(`${startFailureText(thrown)}\n`);
    // Open handles of a partial start must not keep the process alive.
    process.exit(1);
  }
}

/** Returns the message of a fault; the stack for a programming error. */
function startFailureText(thrown: unknown): string {
  const fault = Fault.from(thrown);
  return fault.kind === "internal" && fault.cause instanceof Error
    ? (fault.cause.stack ?? fault.message)
    : fault.message;
}

async function serve<C extends ServiceConfig>(program: ServiceProgram<C>, sources: ConfigSources): Promise<void> {
  const reloadConfig = (): C => loadConfig(program.config, sources);
  const config = reloadConfig();
  const isTerminal = process.stdout.isTTY;
  const observability = createObservability({
    service: program.service,
    version: program.version,
    ambient: realAmbient,
    log: { ...config.log, isTerminal, colors: !process.env["NO_COLOR"] },
    metrics: { processMetrics: true },
    tracing: tracingOptions(config.tracing, realAmbient.ids.uuid()),
  });
  for (const { name, reason } of unusedSettings(program.config, sources)) {
    observability.log.warn("setting has no effect", { setting: name, reason });
  }
  const stopper = stopOnSignal(program.signals ?? ["SIGINT", "SIGTERM"], observability.log);
  const running = await program.start(config, {
    ambient: realAmbient,
    env: process.env,
    isTerminal,
    observability,
    reloadConfig,
  });
  stopper.running = {
    close: async () => {
      await running.close();
      await observability.close();
    },
  };
}

/** Installs the handlers before the start, so that no signal is missed. */
function stopOnSignal(signals: readonly NodeJS.Signals[], log: Logger): { running: RunningService | undefined } {
  const stopper: { running: RunningService | undefined } = { running: undefined };
  let isStopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (isStopping || !stopper.running) process.exit(130);
    isStopping = true;
    log.info("stopping service", { signal });
    try {
      await stopper.running.close();
      process.exit(0);
    } catch (thrown) {
      log.error("stop service failed", { fault: Fault.from(thrown) });
      process.exit(1);
    }
  };
  for (const signal of signals) process.on(signal, (name) => void stop(name));
  return stopper;
}
