import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { followDeployment, followUntilRunning, type WaitFlags } from "./follow-deployment.ts";
import { watchDeployment, type DeploymentState } from "./rollout.ts";
import type { Session } from "../../session/session.ts";

const CONDITIONS = ["Running", "Pending", "Deploying", "Degraded", "Down", "Deleted"] as const;

/** Waits for a condition (`--for=condition=Running`) or for deletion (`--for=delete`). */
export async function waitFor(
  session: Session,
  flags: WaitFlags & { readonly for: string },
  name: string,
): Promise<ExitCode> {
  const key = name.replace(/^deployments?\//, "");
  const requested = flags.for.replace(/^condition=/, "");
  const condition = CONDITIONS.find(
    (known) =>
      known.toLowerCase() === requested.toLowerCase() ||
      (requested.toLowerCase() === "available" && known === "Running"),
  );
  if (flags.for === "delete") return waitForDeletion(session, key, flags.timeout);
  if (!condition)
    throw new UsageError(
      `--for: unknown condition "${flags.for}"`,
      `use --for=condition=${CONDITIONS[0]} or another of ${CONDITIONS.join(", ")}, or --for=delete`,
    );
  const target = condition === "Running" ? "running" : condition.toLowerCase();
  session.printNote(`Waiting for deployment/${key} to be ${target}, at most ${Math.round(flags.timeout / 1000)} s.\n`);
  if (condition === "Running") return followUntilRunning(session, key, flags);
  return followDeployment(session, key, {
    isReached: (state: DeploymentState): boolean => state.condition === condition,
    description: target,
    timeoutMs: flags.timeout,
    endsOnFailure: false,
  });
}

/** Shows the progress of a deployment until Ctrl-C, or until the rollout has ended. */
export async function watch(
  session: Session,
  flags: { readonly untilSettled: boolean },
  key: string,
): Promise<ExitCode> {
  const { state, code } = await watchDeployment(session, key, (each) =>
    flags.untilSettled ? rolloutExitCode(each) : undefined,
  );
  if (!session.isHumanOutput) session.printItem(state, { kind: "deployment", nameOf: () => key, columns: [] });
  return code;
}

/** The exit code of a finished rollout; undefined while it is in progress. */
function rolloutExitCode({ condition, operation }: DeploymentState): ExitCode | undefined {
  if (operation?.state === "running" || operation?.state === "compensating") return undefined;
  if (operation && operation.state !== "succeeded") return EXIT.failed;
  if (condition === "Running") return EXIT.done;
  return condition === "Down" || condition === "Degraded" ? EXIT.failed : undefined;
}

/** Waits until a deployment does not exist any more. */
export async function waitForDeletion(session: Session, key: string, timeoutMs: number): Promise<ExitCode> {
  const { sleep, isFault, deadlineExceeded } = await import("@oaas/foundation");
  const { clock, timers, signal, terminal } = session.environment;
  const startedAt = clock.monotonic();
  session.printNote(`Waiting for the deletion of deployment/${key}, at most ${Math.round(timeoutMs / 1000)} s.\n`);
  try {
    while (clock.monotonic() - startedAt < timeoutMs) {
      await session.call("getDeployment", { parameters: { key } });
      await sleep(timers, 300, signal);
    }
  } catch (thrown) {
    if (signal.aborted) {
      const follow = session.commandLine(`wait --for=delete ${key}`);
      terminal.err(`\nStopped waiting. The deletion of ${key} goes on.\n  follow: ${follow}\n`);
      return EXIT.interrupted;
    }
    if (!isFault(thrown, "not-found")) throw thrown;
    const waited = Math.round((clock.monotonic() - startedAt) / 1000);
    if (session.isHumanOutput) session.print(`deployment/${key} does not exist (waited ${waited} s)\n`);
    return EXIT.done;
  }
  throw deadlineExceeded(timeoutMs);
}
