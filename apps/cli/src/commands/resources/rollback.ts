import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { ageText } from "../../output/table.ts";
import { confirm, type Session } from "../../session/session.ts";
import type { WaitFlags } from "../observe/follow-deployment.ts";

interface RollbackFlags {
  readonly to?: number;
  readonly yes: boolean;
  readonly reason?: string;
}

interface Revision {
  readonly revision: number;
  readonly created_at: string;
  readonly reason: string | null;
}

export async function rollBackPackage(session: Session, flags: RollbackFlags, name: string): Promise<ExitCode> {
  const revision = await chooseRevision(session, flags, `package ${name}`, async () => {
    const revisions = await session.listAll("listPackageRevisions", { parameters: { name } });
    return { revisions, current: revisions[0]?.revision ?? 0 };
  });
  if (revision === undefined) return EXIT.failed;
  const body = { revision, reason: flags.reason };
  const { value } = await session.call("rollBackPackage", { parameters: { name }, body });
  session.printOutcome({ kind: "package", name, result: `${value.status}, as in revision ${revision}`, revision });
  return EXIT.done;
}

export async function rollBackDeployment(
  session: Session,
  flags: RollbackFlags & WaitFlags & { readonly wait: boolean },
  key: string,
): Promise<ExitCode> {
  const revision = await chooseRevision(session, flags, `deployment ${key}`, async () => {
    const revisions = await session.listAll("listDeploymentRevisions", { parameters: { key } });
    const { value } = await session.call("getDeploymentStatus", { parameters: { key } });
    return { revisions, current: value.revision };
  });
  if (revision === undefined) return EXIT.failed;
  const body = { revision, reason: flags.reason };
  const { value } = await session.call("rollBackDeployment", { parameters: { key }, body });
  const result = `${value.status}, back to revision ${revision}`;
  // With --wait, machine-readable output is the final state.
  if (!flags.wait || session.isHumanOutput) session.printOutcome({ kind: "deployment", name: key, result, revision });
  if (!flags.wait) return EXIT.done;
  const { followUntilRunning } = await import("../observe/follow-deployment.ts");
  return followUntilRunning(session, key, flags);
}

/** The revision in `--to`, or the previous one after a confirmation; undefined if the user declines. */
async function chooseRevision(
  session: Session,
  { to, yes }: RollbackFlags,
  what: string,
  read: () => Promise<{ readonly revisions: readonly Revision[]; readonly current: number }>,
): Promise<number | undefined> {
  if (to !== undefined) return to;
  const { revisions, current } = await read();
  const previous = revisions
    .filter(({ revision }) => revision < current)
    .toSorted((a, b) => b.revision - a.revision)[0];
  if (previous === undefined)
    throw new UsageError(
      `${what} has no previous revision: ${current} is the oldest`,
      `see oaas ${what.replace(" ", " history ")}`,
    );
  const { revision, created_at: createdAt, reason } = previous;
  if (!yes && !session.environment.terminal.canPrompt)
    throw new UsageError(
      `no revision given; the one before ${current} is ${revision}`,
      `repeat the command with --to ${revision}, or with --yes for the previous revision`,
    );
  const age = ageText(createdAt, session.environment.clock.now());
  const details = `${age} old${reason === null ? "" : `, "${reason}"`}`;
  return (await confirm(session, `Roll ${what} back from revision ${current} to ${revision} (${details})`, yes))
    ? revision
    : undefined;
}
