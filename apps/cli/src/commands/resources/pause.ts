import { UsageError } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";

/** Pauses a deployment for a duration, or until a time. */
export async function pauseDeployment(
  session: Session,
  flags: { readonly for?: number; readonly until?: string; readonly reason?: string },
  key: string,
): Promise<void> {
  if ((flags.for === undefined) === (flags.until === undefined)) {
    throw new UsageError("the end of the pause is not clear", "set either --for or --until");
  }
  const body = {
    until: flags.until,
    duration_secs: flags.for === undefined ? undefined : Math.max(1, Math.round(flags.for / 1000)),
    reason: flags.reason,
  };
  const { value } = await session.call("pauseDeployment", { parameters: { key }, body });
  session.printOutcome({ kind: "deployment", name: key, result: `paused until ${value.pause?.until ?? ""}` });
}

export async function resumeDeployment(session: Session, _flags: object, key: string): Promise<void> {
  await session.call("resumeDeployment", { parameters: { key } });
  session.printOutcome({ kind: "deployment", name: key, result: "resumed" });
}
