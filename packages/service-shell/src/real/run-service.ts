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
import { createObservability, type Observability } from "@oaas/observability/node";
import type { RunningService, ServiceConfig, ServiceProgram } from "../program.ts";

/**
 * Runs a service from its command line to its exit code.
 *
 * Guarantees: `--help` and `--print-config` start nothing; whatever hinders the start is one message on standard error and exit code 1;
 * the first signal stops in order and exits 0, or 1 when the stop failed; a second one, and one during the start, does not wait and exits 130;
 * the last logs and traces are out before the end.
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
    process.stderr.write(`${startFailure(thrown)}\n`);
    // Not by itself: whatever the start left behind must not keep a process that serves nothing.
    process.exit(1);
  }
}

/** What people can act on; for a mistake of ours, where it is. */
function startFailure(thrown: unknown): string {
  const fault = Fault.from(thrown);
  return fault.kind === "internal" && fault.cause instanceof Error
    ? (fault.cause.stack ?? fault.message)
    : fault.message;
}

async function serve<C extends ServiceConfig>(program: ServiceProgram<C>, sources: ConfigSources): Promise<void> {
  const reread = (): C => loadConfig(program.config, sources);
  const config = reread();
  const isTerminal = process.stdout.isTTY;
  const observability = await createObservability({
    service: program.service,
    version: program.version,
    ambient: realAmbient,
    log: { ...config.log, isTerminal, colors: !process.env["NO_COLOR"] },
    metrics: { processMetrics: true },
  });
  for (const { name, reason } of unusedSettings(program.config, sources)) {
    observability.log.warn("setting has no effect", { setting: name, reason });
  }
  const stopper = stopOnSignal(program.signals ?? ["SIGINT", "SIGTERM"], observability);
  try {
    stopper.running = await program.start(config, {
      ambient: realAmbient,
      env: process.env,
      isTerminal,
      observability,
      reread,
    });
  } catch (thrown) {
    await observability.close();
    throw thrown;
  }
}

/** Listens from the beginning, so that no signal falls between the last word of the start and the first of the stop. */
function stopOnSignal(
  signals: readonly NodeJS.Signals[],
  observability: Observability,
): { running: RunningService | undefined } {
  const { log } = observability;
  const stopper: { running: RunningService | undefined } = { running: undefined };
  let stopping = false;
  const stop = async (signal: string): Promise<void> => {
    if (stopping || !stopper.running) process.exit(130);
    stopping = true;
    log.info("the service stops", { signal });
    const failed = await stopper.running.close().then(
      () => false,
      (thrown: unknown) => {
        log.error("the service did not stop in order", { fault: Fault.from(thrown) });
        return true;
      },
    );
    await observability.close();
    process.exit(failed ? 1 : 0);
  };
  for (const signal of signals) process.on(signal, (name) => void stop(name));
  return stopper;
}
