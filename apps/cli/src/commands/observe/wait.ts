import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { followDeployment, watchDeployment, type DeploymentState } from "./rollout.ts";
import type { Session } from "../../session/session.ts";

/** Whether the deployment is Running and no operation is in progress. */
export function isRunning({ condition, operation }: DeploymentState): boolean {
  return condition === "Running" && operation?.state !== "running";
}

const CONDITIONS = ["Running", "Pending", "Deploying", "Degraded", "Down", "Deleted"] as const;

/** Waits for a condition (`--for=condition=Running`) or for deletion (`--for=delete`). */
export async function waitFor(
  session: Session,
  flags: { readonly for: string; readonly timeout: number },
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
  const isReached =
    condition === "Running" ? isRunning : (state: DeploymentState): boolean => state.condition === condition;
  return followDeployment(session, key, { isReached, description: condition.toLowerCase(), timeoutMs: flags.timeout });
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

async function waitForDeletion(session: Session, key: string, timeoutMs: number): Promise<ExitCode> {
  const { sleep, isFault, deadlineExceeded } = await import("@oaas/foundation");
  const { clock, timers, signal } = session.environment;
  const endsAt = clock.monotonic() + timeoutMs;
  while (clock.monotonic() < endsAt) {
    try {
      await session.call("getDeployment", { parameters: { key } });
    } catch (thrown) {
      if (isFault(thrown, "not-found")) return 0;
      throw thrown;
    }
    await sleep(timers, 300, signal);
  }
  throw deadlineExceeded(timeoutMs);
}
