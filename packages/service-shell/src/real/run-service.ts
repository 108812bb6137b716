import { readFileSync } from "node:fs";
import {
  configFilePath,
  configHelp,
  configReport,
  configReportText,
  configValidateHelp,
  loadConfig,
  readCommandLine,
  unusedSettings,
  type CommandLine,
  type ConfigSchema,
  type ConfigSources,
} from "@oaas/config";
import { Fault } from "@oaas/foundation";
import { realAmbient } from "@oaas/foundation/real";
import { createObservability, type Observability } from "@oaas/observability/node";
import type { Logger } from "@oaas/observability";
import { ConfigReloader } from "../config-reloader.ts";
import { tracingOptions } from "../tracing-options.ts";
import { readConfigFile } from "./read-config-file.ts";
import type { RunningService, ServiceConfig, ServiceProgram } from "../program.ts";

/**
 * Runs a service from its command line to its exit code.
 *
 * Guarantees: `--help`, `--print-config` and `config validate` start nothing. A failed start prints one message to standard error and
 * exits with code 1. The first signal stops the service gracefully and exits with code 0, or 1 if the stop failed. A
 * second signal, or a signal during the start, exits with code 130 immediately.
 */
export async function runService<C extends ServiceConfig>(program: ServiceProgram<C>): Promise<void> {
  const commandLine = readCommandLine(process.argv.slice(2));
  try {
    if (commandLine.mode === "help") process.stdout.write(configHelp(program.config));
    else if (commandLine.mode === "validate-help") writeValidateHelp(program.config, commandLine);
    else {
      const sources = readSources(program.config, commandLine);
      if (commandLine.mode === "print-config")
        process.stdout.write(configReportText(configReport(program.config, sources)));
      else if (commandLine.mode === "validate") validate(program.config, sources);
      else await serve(program, sources);
    }
  } catch (thrown) {
    process.stderr.write(`${startFailureText(thrown)}\n`);
    // Open handles of a partial start must not keep the process alive.
    process.exit(1);
  }
}

function readSources(schema: ConfigSchema<unknown>, { args }: CommandLine): ConfigSources {
  const sources = { env: process.env, args, readFile: (file: string) => readFileSync(file, "utf8") };
  const path = configFilePath(schema, sources);
  return path === undefined ? sources : { ...sources, file: { path, text: readConfigFile(path) } };
}

/** Without `--help` the command line is wrong. */
function writeValidateHelp(schema: ConfigSchema<unknown>, { args: [wrong] }: CommandLine): void {
  if (wrong === undefined) {
    process.stdout.write(configValidateHelp(schema));
    return;
  }
  process.stderr.write(`config ${wrong} is not a command.\n\n${configValidateHelp(schema)}`);
  process.exitCode = 2;
}

/** Throws the fault with all problems. */
function validate(schema: ConfigSchema<unknown>, sources: ConfigSources): void {
  loadConfig(schema, sources);
  const fromFile = configReport(schema, sources).filter(({ origin }) => origin.from === "config-file").length;
  const what = sources.file === undefined ? "the configuration" : sources.file.path;
  const count = sources.file === undefined ? "" : `; it sets ${fromFile} setting${fromFile === 1 ? "" : "s"}`;
  process.stdout.write(`${what} is valid${count}\n`);
  for (const { name, reason } of unusedSettings(schema, sources)) {
    process.stderr.write(`warning: ${name} has no effect: ${reason}\n`);
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
  const config = loadConfig(program.config, sources);
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
  const reloader = sources.file && followConfigFile(program, sources, observability);
  const stopper = stopOnSignal(program.signals ?? ["SIGINT", "SIGTERM"], observability.log);
  const running = await program.start(config, {
    ambient: realAmbient,
    env: process.env,
    isTerminal,
    observability,
    reloadConfig: () => (reloader === undefined ? loadConfig(program.config, sources) : reloader.load()),
    onConfigChange: (listener) => reloader?.onChange(listener),
    configWarnings: () => reloader?.warnings() ?? [],
  });
  // After the listeners of the program, which may refuse the file.
  reloader?.onChange(({ log }) => observability.setLogLevel(log.level));
  reloader?.start();
  stopper.running = {
    close: async () => {
      reloader?.close();
      await running.close();
      await observability.close();
    },
  };
}

function followConfigFile<C extends ServiceConfig>(
  { config: schema }: ServiceProgram<C>,
  sources: ConfigSources,
  { log, meter }: Observability,
): ConfigReloader<C> {
  const { clock, timers } = realAmbient;
  return new ConfigReloader({ schema, sources, read: readConfigFile, clock, timers, log, meter });
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
