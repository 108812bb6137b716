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
  const [{ followDeployment }, { isRunning }] = await Promise.all([
    import("../observe/rollout.ts"),
    import("../observe/wait.ts"),
  ]);
  const target = { isReached: isRunning, description: "running", timeoutMs: flags.timeout };
  const code = await followDeployment(session, name, target);
  if (code === EXIT.done && session.isHumanOutput) session.print(`deployment "${name}" successfully rolled out\n`);
  return code;
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
): Promise<void> {
  const { kind, name } = parseRevised(args);
  // kubectl: revision 0 is the previous one.
  const to = flags.toRevision || (await previousRevision(session, kind, name));
  const body = { to, ...(flags.reason === undefined ? {} : { reason: flags.reason }) };
  if (kind === "package") return (await import("../resources/packages.ts")).rollBackPackage(session, body, name);
  return (await import("../resources/deployments.ts")).rollBackDeployment(session, body, name);
}

async function previousRevision(session: Session, kind: "deployment" | "package", name: string): Promise<number> {
  const revisions: readonly { readonly revision: number }[] =
    kind === "package"
      ? await session.listAll("listPackageRevisions", { parameters: { name } })
      : await session.listAll("listDeploymentRevisions", { parameters: { key: name } });
  const previous = revisions[1];
  if (previous) return previous.revision;
  throw new UsageError(
    `${kind} "${name}" has no previous revision`,
    `see oaas rollout history ${kind}/${name}; name a revision with --to-revision`,
  );
}
