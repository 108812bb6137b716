import { EXIT, type ExitCode } from "../../exit-code.ts";
import { confirm, type Session } from "../../session/session.ts";
import { packageRevisionView, packageView } from "../../output/views.ts";

const tableContext = (session: Session) => ({ now: session.environment.clock.now(), colours: session.colours });

export async function listPackages(
  session: Session,
  flags: { readonly pattern?: string; readonly tag?: readonly string[] },
): Promise<void> {
  const items = await session.listAll("listPackages", {
    query: { name_pattern: flags.pattern, tags: flags.tag?.join(",") },
  });
  session.printList(items, packageView(tableContext(session)));
}

export async function getPackage(session: Session, _flags: object, name: string): Promise<void> {
  const { value } = await session.call("getPackage", { parameters: { name } });
  session.printItem(value, packageView(tableContext(session)));
}

export async function deletePackage(
  session: Session,
  flags: { readonly cascade: boolean; readonly yes: boolean },
  name: string,
): Promise<ExitCode> {
  // The earlier Rust CLI accepted a package file here.
  if (/\.(?:ya?ml|json)$/.test(name)) {
    const { deleteFiles } = await import("../files/delete-files.ts");
    return deleteFiles(session, { ...flags, filename: [name] });
  }
  const what = flags.cascade ? `Delete package ${name} and all its deployments` : `Delete package ${name}`;
  if (!(await confirm(session, what, flags.yes))) return EXIT.failed;
  const { status } = await session.call("deletePackage", {
    parameters: { name },
    query: { cascade: flags.cascade ? true : undefined },
  });
  const result = status === 202 ? "is being deleted with its deployments" : "deleted";
  session.printOutcome({ kind: "package", name, result });
  return EXIT.done;
}

export async function packageHistory(session: Session, _flags: object, name: string): Promise<void> {
  const revisions = await session.listAll("listPackageRevisions", { parameters: { name } });
  session.printList(revisions, packageRevisionView(tableContext(session)));
  noteRemovedRevisions(session, revisions);
}

/** Reports revisions that the retention of the package manager has removed. */
export function noteRemovedRevisions(session: Session, revisions: readonly { readonly revision: number }[]): void {
  const newest = revisions[0]?.revision ?? 0;
  const removed = newest - revisions.length;
  if (removed > 0) session.printNote(`${removed} older revision${removed === 1 ? " was" : "s were"} removed\n`);
}

export async function diffPackage(
  session: Session,
  flags: { readonly from?: number; readonly to?: number },
  name: string,
): Promise<void> {
  const { value } = await session.call("diffPackage", { parameters: { name }, query: diffQuery(flags) });
  const { changesText } = await import("../../documents/changes-text.ts");
  const text = (): string => `revision ${value.from} → ${value.to}\n${changesText(value.changes, session.colours)}`;
  session.printItem(value, { kind: "diff", nameOf: () => name, columns: [] }, text);
}

/** The query of a diff; without revisions the package manager compares the last two. */
export function diffQuery({ from, to }: { readonly from?: number; readonly to?: number }): Record<string, number> {
  return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
}
