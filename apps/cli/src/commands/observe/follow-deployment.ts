import type { Reply } from "@oaas/contracts/rest";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { watchDeployment, type DeploymentState } from "./rollout.ts";

/** The flags of commands that wait for a deployment. */
export interface WaitFlags {
  readonly timeout: number;
  readonly keepWaiting: boolean;
}

export interface WaitTarget {
  readonly isReached: (state: DeploymentState) => boolean;
  /** Such as "running". */
  readonly description: string;
  readonly timeoutMs: number;
  /** Whether a problem that needs action ends the wait. */
  readonly endsOnFailure: boolean;
  /** Replaces the line that is printed when the condition holds. */
  readonly reachedText?: string | undefined;
}

/** Whether the deployment is Running and no operation is in progress. */
export function isRunning({ condition, operation }: DeploymentState): boolean {
  return condition === "Running" && operation?.state !== "running";
}

/** Follows a deployment until it is running. */
export function followUntilRunning(
  session: Session,
  key: string,
  flags: WaitFlags,
  reachedText?: string,
): Promise<ExitCode> {
  const { timeout: timeoutMs, keepWaiting } = flags;
  return followDeployment(session, key, {
    isReached: isRunning,
    description: "running",
    timeoutMs,
    endsOnFailure: !keepWaiting,
    reachedText,
  });
}

/**
 * Follows a deployment until a condition holds: a live table on a terminal, a new table per change elsewhere, the last
 * state for machine-readable formats. A problem that needs action ends the wait. On timeout the exit code is
 * `unreachable`, because the condition may still be reached.
 */
export async function followDeployment(session: Session, key: string, target: WaitTarget): Promise<ExitCode> {
  const { clock, signal } = session.environment;
  const startedAt = clock.monotonic();
  const failures = new FailureCheck(session, key);
  let last: DeploymentState | undefined;
  try {
    const ended = await watchDeployment(session, key, async (state) => {
      last = state;
      if (target.isReached(state)) return printReached(session, key, target, clock.monotonic() - startedAt);
      const failure = failedOperation(state) ?? (target.endsOnFailure ? await failures.find(state) : undefined);
      if (failure !== undefined) return printFailure(session, key, target, failure);
      return clock.monotonic() - startedAt < target.timeoutMs ? undefined : printTimeout(session, key, target);
    });
    if (!session.isHumanOutput)
      session.printItem(ended.state, { kind: "deployment", nameOf: (state) => state.key, columns: [] });
    return ended.code;
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    return printInterrupted(session, key, last);
  }
}

/** Polls between two explanations of an unchanged state. */
const EXPLAIN_EVERY = 4;

/** Asks for an explanation when the state changes, and regularly while it does not. */
class FailureCheck {
  readonly #session: Session;
  readonly #key: string;
  #seen = "";
  #polls = 0;

  constructor(session: Session, key: string) {
    this.#session = session;
    this.#key = key;
  }

  /** The sentence about a problem that needs action. */
  async find(state: DeploymentState): Promise<string | undefined> {
    const seen = JSON.stringify([state.condition, state.revision, state.clusters.map(({ message }) => message)]);
    const isChanged = seen !== this.#seen;
    this.#seen = seen;
    this.#polls = isChanged ? 0 : this.#polls + 1;
    if (this.#polls % EXPLAIN_EVERY !== 0) return undefined;
    const explanation = await explainQuietly(this.#session, this.#key);
    return explanation?.verdict === "permanent" ? explanation.summary : undefined;
  }
}

/** The explanation; undefined if it is not available, so that the wait goes on. */
async function explainQuietly(session: Session, key: string): Promise<Reply<"explainDeployment">["value"] | undefined> {
  try {
    return (await session.call("explainDeployment", { parameters: { key } })).value;
  } catch (thrown) {
    if (session.environment.signal.aborted) throw thrown;
    return undefined;
  }
}

function failedOperation({ operation }: DeploymentState): string | undefined {
  if (operation?.state !== "failed" && operation?.state !== "compensated") return undefined;
  return operation.message ?? `The operation ${operation.state}.`;
}

function printReached(session: Session, key: string, target: WaitTarget, afterMs: number): ExitCode {
  const text = `deployment/${key} is ${target.description} (waited ${seconds(afterMs)} s)\n`;
  if (session.isHumanOutput) session.print(target.reachedText ?? text);
  return EXIT.done;
}

function printFailure(session: Session, key: string, target: WaitTarget, failure: string): ExitCode {
  const { colours, environment } = session;
  const hint = `oaas explain ${key}; to wait in spite of it: --keep-waiting`;
  environment.terminal.err(
    `${colours.bad("error:")} deployment/${key} is not ${target.description}: ${failure}\n${colours.dim(`  hint: ${hint}`)}\n`,
  );
  return EXIT.failed;
}

async function printTimeout(session: Session, key: string, target: WaitTarget): Promise<ExitCode> {
  const { colours, environment } = session;
  const explanation = await explainQuietly(session, key);
  const why = explanation === undefined ? "" : `: ${explanation.summary}`;
  const head = `${colours.warn("timeout:")} deployment/${key} is not ${target.description} after ${seconds(target.timeoutMs)} s`;
  environment.terminal.err(`${head}${why}\n${colours.dim(`  hint: oaas explain ${key}`)}\n`);
  return EXIT.unreachable;
}

/** Says that the change continues without this command, and how to follow or stop it. */
export function printInterrupted(session: Session, key: string, state?: DeploymentState): ExitCode {
  const isOperating = state?.operation?.state === "running";
  const stop = isOperating ? `  cancel: ${session.commandLine(`deployment cancel ${key}`)}\n` : "";
  session.environment.terminal.err(
    `\nStopped waiting. The deployment of ${key} goes on${isOperating ? "" : " in its clusters"}.\n` +
      `  follow: ${session.commandLine(`deployment watch ${key}`)}\n${stop}` +
      `  undo:   ${session.commandLine(`deployment rollback ${key}`)}\n`,
  );
  return EXIT.interrupted;
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}
