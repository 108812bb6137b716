import { Fault } from "@oaas/foundation";
import { EXIT, exitCodeOf, ReportedFault, UsageError, type ExitCode } from "../exit-code.ts";
import { createColours, type Colours } from "../output/colours.ts";
import { faultJson, usageErrorJson } from "../output/error-json.ts";
import { faultText } from "../output/fault-text.ts";
import { Session, type CommonFlags } from "../session/session.ts";
import type { ProcessEnvironment } from "../process-environment.ts";

/** Runs a command handler and prints its errors; no error ends in a stack trace. */
export async function runCommand(
  environment: ProcessEnvironment,
  flags: CommonFlags,
  run: (session: Session) => Promise<ExitCode | undefined | void>,
): Promise<ExitCode> {
  const { terminal, env, signal } = environment;
  const colours = createColours(terminal.isInteractive, env);
  let session: Session | undefined;
  try {
    session = await Session.open(environment, flags);
    return (await run(session)) ?? EXIT.done;
  } catch (thrown) {
    if (signal.aborted) return EXIT.interrupted;
    const isJson = flags.output === "json";
    if (thrown instanceof UsageError) {
      if (isJson) terminal.err(usageErrorJson(thrown));
      else printUsageError(thrown, terminal, colours);
      return EXIT.usage;
    }
    const { fault, hint, exitCode } = await reportOf(thrown, session);
    terminal.err(isJson ? faultJson(fault, { fix: hint, exitCode }) : faultText(fault, colours, { hint }));
    return exitCode;
  }
}

/** The fault behind an error, with its hint and exit code. */
async function reportOf(
  thrown: unknown,
  session: Session | undefined,
): Promise<{ readonly fault: Fault; readonly hint: string | undefined; readonly exitCode: ExitCode }> {
  if (thrown instanceof ReportedFault) return thrown;
  const fault = Fault.from(thrown);
  return { fault, hint: await session?.fixHint(fault), exitCode: exitCodeOf(fault) };
}

function printUsageError(
  { message, fix }: UsageError,
  terminal: ProcessEnvironment["terminal"],
  colours: Colours,
): void {
  terminal.err(`${colours.bad("error:")} ${message}\n`);
  if (fix !== undefined) terminal.err(colours.dim(`  hint: ${fix}\n`));
}
