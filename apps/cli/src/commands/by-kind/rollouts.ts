import { pluralOf } from "../../command/kinds.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import type { Session } from "../../session/session.ts";
import { parseOneTarget, type ObjectReference } from "../../command/targets.ts";

/** Parses a target with revisions: a deployment or a package. */
function parseRevised(args: readonly string[]): ObjectReference & { readonly kind: "deployment" | "package" } {
  const { kind, name } = parseOneTarget(args);
  if (kind !== "deployment" && kind !== "package")
    throw new UsageError(`${pluralOf(kind)} have no revisions`, "name a deployment or a package");
  return { kind, name };
}

/** Follows a deployment until its roll-out has ended; with `--watch=false` shows its status once. */
export async function rolloutStatus(
  session: Session,
  flags: { readonly watch: boolean; readonly timeout: number },
  ...args: readonly string[]
): Promise<ExitCode> {
  const { kind, name } = parseRevised(args);
  if (kind === "package") throw new UsageError("packages are not rolled out", "name a deployment");
  if (!flags.watch) {
    const { deploymentStatus } = await import("../resources/deployments.ts");
    await deploymentStatus(session, {}, name);
    return EXIT.done;
  }
  const { followUntilRunning } = await import("../observe/follow-deployment.ts");
  const reachedText = `deployment "${name}" successfully rolled out\n`;
  return followUntilRunning(session, name, { timeout: flags.timeout, keepWaiting: false }, reachedText);
}

/** Lists revisions, or shows one. */
export async function rolloutHistory(
  session: Session,
  flags: { readonly revision?: number },
  ...args: readonly string[]
): Promise<void> {
  const { kind, name } = parseRevised(args);
  if (flags.revision !== undefined) return showRevision(session, kind, name, String(flags.revision));
  if (kind === "package") {
    const { packageHistory } = await import("../resources/packages.ts");
    return packageHistory(session, {}, name);
  }
  const { deploymentHistory } = await import("../resources/deployments.ts");
  return deploymentHistory(session, {}, name);
}

async function showRevision(
  session: Session,
  kind: "deployment" | "package",
  name: string,
  revision: string,
): Promise<void> {
  const { value } =
    kind === "package"
      ? await session.call("getPackageRevision", { parameters: { name, revision } })
      : await session.call("getDeploymentRevision", { parameters: { key: name, revision } });
  const { stringify } = await import("yaml");
  const view = { kind: "revision", nameOf: () => revision, columns: [] };
  session.printItem<object>(value, view, () => stringify(value));
}

/** Goes back to an earlier revision; to the previous one by default. */
export async function rolloutUndo(
  session: Session,
  flags: { readonly toRevision?: number; readonly reason?: string },
  ...args: readonly string[]
): Promise<ExitCode> {
  const { kind, name } = parseRevised(args);
  const { rollBackDeployment, rollBackPackage } = await import("../resources/rollback.ts");
  const { toRevision: to, reason } = flags;
  const how = {
    yes: true,
    // kubectl: revision 0 is the previous one.
    ...(to === undefined || to === 0 ? {} : { to }),
    ...(reason === undefined ? {} : { reason }),
  };
  if (kind === "package") return rollBackPackage(session, how, name);
  return rollBackDeployment(session, { ...how, wait: false, timeout: 0, keepWaiting: false }, name);
}
