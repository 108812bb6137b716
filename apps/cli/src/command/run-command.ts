import { Fault } from "@oaas/foundation";
import { EXIT, exitCodeOf, ReportedFault, UsageError, type ExitCode } from "../exit-code.ts";
import { createColours } from "../output/colours.ts";
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
    if (flags.output === "json") return printJsonError(thrown, session, terminal);
    if (thrown instanceof UsageError) {
      terminal.err(`${colours.bad("error:")} ${thrown.message}\n`);
      if (thrown.fix !== undefined) terminal.err(colours.dim(`  hint: ${thrown.fix}\n`));
      return EXIT.usage;
    }
    const { fault, hint, exitCode } = await reportOf(thrown, session);
    terminal.err(faultText(fault, colours, { hint }));
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

/** Prints an error as one JSON object to standard error, for programs that read JSON. */
async function printJsonError(
  thrown: unknown,
  session: Session | undefined,
  terminal: ProcessEnvironment["terminal"],
): Promise<ExitCode> {
  const print = (error: object): void => terminal.err(`${JSON.stringify(error)}\n`);
  if (thrown instanceof UsageError) {
    const { message, fix } = thrown;
    print({ error: message, kind: "usage", exit_code: EXIT.usage, ...(fix === undefined ? {} : { fix }) });
    return EXIT.usage;
  }
  const { fault, hint: fix, exitCode } = await reportOf(thrown, session);
  const { message, kind, code, violations, correlationId } = fault;
  print({
    error: message,
    kind,
    code,
    exit_code: exitCode,
    ...(violations.length === 0 ? {} : { violations }),
    ...(fix === undefined ? {} : { fix }),
    ...(correlationId === undefined ? {} : { correlation_id: correlationId }),
  });
  return exitCode;
}
