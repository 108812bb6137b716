import { sleep } from "@oaas/foundation";
import type { Reply } from "@oaas/contracts/rest";
import { EXIT, type ExitCode } from "../../exit-code.ts";
import { tableText } from "../../output/table.ts";
import type { Session } from "../../session/session.ts";

const POLL_MS = 500;

/** Requests the drain of a cluster and shows its progress; with `--wait` until it has ended or only blocked units are left. */
export async function drainCluster(
  session: Session,
  flags: {
    readonly reason?: string;
    readonly allowStateLoss: boolean;
    readonly status: boolean;
    readonly wait: boolean;
    readonly timeout: number;
  },
  name: string,
): Promise<ExitCode> {
  const { clock, timers, signal } = session.environment;
  let progress = flags.status
    ? (await session.call("getClusterDrain", { parameters: { name } })).value
    : (
        await session.call("drainCluster", {
          parameters: { name },
          body: { reason: flags.reason, allow_state_loss: flags.allowStateLoss },
        })
      ).value;
  const untilMs = clock.monotonic() + flags.timeout;
  while (flags.wait && progress.state === "draining" && clock.monotonic() < untilMs) {
    await sleep(timers, POLL_MS, signal);
    progress = (await session.call("getClusterDrain", { parameters: { name } })).value;
  }
  session.printItem(progress, { kind: "drain", nameOf: () => name, columns: [] }, () => progressText(progress));
  const isIncomplete = progress.state === "blocked" || (flags.wait && progress.state !== "drained");
  return isIncomplete ? EXIT.failed : EXIT.done;
}

function progressText({ cluster, state, remaining }: Reply<"getClusterDrain">["value"]): string {
  const head = `cluster/${cluster} ${state === "none" ? "is not drained" : state}\n`;
  if (remaining.length === 0) return head;
  return (
    head +
    tableText(remaining, [
      { header: "DEPLOYMENT", cell: ({ deployment }) => deployment },
      { header: "STATE", cell: (each) => each.state },
      { header: "MESSAGE", cell: ({ message }) => message },
    ])
  );
}
