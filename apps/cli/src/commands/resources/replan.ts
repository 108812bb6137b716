import { EXIT, type ExitCode } from "../../exit-code.ts";
import { replanLines } from "../../output/replan-text.ts";
import { confirm, type Session } from "../../session/session.ts";

/** Applies the proposed plan of a deployment: the one with the given digest, else the one that is shown. */
export async function replanDeployment(
  session: Session,
  flags: { readonly digest?: string; readonly reason?: string; readonly yes: boolean },
  key: string,
): Promise<ExitCode> {
  const digest = flags.digest ?? (await proposedDigest(session, key));
  if (digest === undefined) {
    session.printNote(`deployment ${key} has no proposed plan\n`);
    return EXIT.failed;
  }
  if (!(await confirm(session, `Apply plan ${digest} to deployment ${key}`, flags.yes))) return EXIT.failed;
  const { value } = await session.call("replanDeployment", {
    parameters: { key },
    body: { plan_digest: digest, reason: flags.reason },
  });
  session.printOutcome({ kind: "deployment", name: key, result: "re-planned", message: value.message ?? undefined });
  return EXIT.done;
}

/** Shows the proposal, so that it can be confirmed. */
async function proposedDigest(session: Session, key: string): Promise<string | undefined> {
  const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
  const { replan } = value;
  for (const line of replanLines(replan, session.colours)) session.printNote(`${line}\n`);
  return replan?.state === "applied" ? undefined : replan?.plan_digest;
}
