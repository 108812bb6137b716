import { timestamp } from "@oaas/foundation";
import { parseDeploymentKey } from "../../command/kinds.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { ProgressLine } from "../../session/progress-line.ts";
import { confirm, type Session } from "../../session/session.ts";
import { backupState, openBackup } from "../../state-copy/backup-state.ts";
import { copyState, type CopyResult } from "../../state-copy/copy-state.ts";
import { pairCollections, type CollectionPair, type PartitionRule } from "../../state-copy/mapping.ts";
import type { CollectionLayout, StateSource } from "../../state-copy/stored-state.ts";
import { openDeployment } from "./deployment-state.ts";

export interface CopyFlags {
  readonly collection?: readonly string[];
  readonly partitionBy: PartitionRule;
  readonly overwrite: boolean;
  readonly deleteExtra: boolean;
  readonly yes: boolean;
  readonly passes: number;
  readonly concurrency: number;
}

/** The result as machine-readable output. */
interface CopySummary {
  readonly source: string;
  readonly destination: string;
  readonly outcome: string;
  readonly passes: number;
  readonly objects: number;
  readonly written: number;
  readonly deleted: number;
  readonly extra: number;
}

const STOP_WRITERS =
  "stop the writers of the source (its clients, and functions that write), then repeat the command: it continues where it is";

/** Copies the objects of a deployment or a file to another deployment or a file. */
export async function copy(session: Session, flags: CopyFlags, from: string, to: string): Promise<ExitCode> {
  const [source, destination] = [placeOf(from), placeOf(to)];
  if (source.kind === destination.kind && (source.kind === "file" || source.name === destination.name))
    throw new UsageError(
      source.kind === "file" ? "both are files" : "source and destination are the same deployment",
      "name two deployments, or a deployment and a file",
    );
  session.printNote(
    "Stop the writers of the source first. Triggers of objects are not copied, and versions start again.\n",
  );
  const progress = new ProgressLine(session);
  try {
    if (destination.kind === "file") return await backUp(session, flags, source.name, destination.name, progress);
    return await copyTo(session, flags, source, destination.name, progress);
  } finally {
    progress.clear();
  }
}

type PlaceOfState = { readonly kind: "deployment" | "file"; readonly name: string };

function placeOf(text: string): PlaceOfState {
  const { path } = /^file:(?<path>.*)$/s.exec(text)?.groups ?? {};
  if (path === "") throw new UsageError("file: has no path", "write file:PATH");
  return path === undefined ? { kind: "deployment", name: parseDeploymentKey(text) } : { kind: "file", name: path };
}

async function copyTo(
  session: Session,
  flags: CopyFlags,
  from: PlaceOfState,
  to: string,
  progress: ProgressLine,
): Promise<ExitCode> {
  const source = from.kind === "file" ? await openFile(session, from.name) : await openDeployment(session, from.name);
  const target = await openDeployment(session, to);
  let expected = 0;
  const result = await copyState(source, target, {
    pairs: pairsOf(source.collections, target.collections, flags.collection ?? []),
    rule: flags.partitionBy,
    overwrites: flags.overwrite,
    deletesExtra: flags.deleteExtra,
    concurrency: flags.concurrency,
    maxPasses: flags.passes,
    signal: session.environment.signal,
    onPass: (_, objects) => (expected = objects),
    onObject: (pass, { objects }) => {
      const label = pass === 0 ? "Comparing" : pass === 1 ? "Copying" : `Verifying (${pass})`;
      progress.show({ label, done: objects, total: expected, unit: "objects" });
    },
    confirmsDeletion: (extra) => {
      progress.clear();
      return confirm(session, `Delete ${extra} objects of ${to} that the source does not have`, flags.yes);
    },
  });
  progress.clear();
  return report(session, result, { from: nameOf(from), to });
}

async function backUp(
  session: Session,
  flags: CopyFlags,
  from: string,
  file: string,
  progress: ProgressLine,
): Promise<ExitCode> {
  const { files, clock } = session.environment;
  if (!flags.overwrite && (await files.exists(file)))
    throw new UsageError(`${file} exists`, "name another file, or add --overwrite");
  const source = await openDeployment(session, from);
  let expected = 0;
  const { outcome, passes, objects } = await backupState(source, {
    collections: selected(source.collections, flags.collection),
    createdAt: timestamp(clock.now()),
    concurrency: flags.concurrency,
    maxPasses: flags.passes,
    open: () => files.replace(file),
    onPass: (_, before) => (expected = before),
    onObject: (_, done) => progress.show({ label: "Copying", done, total: expected, unit: "objects" }),
  });
  progress.clear();
  const isEqual = outcome === "equal";
  const written = isEqual ? objects : 0;
  print(session, {
    source: from,
    destination: `file:${file}`,
    outcome,
    passes,
    objects,
    written,
    deleted: 0,
    extra: 0,
  });
  if (!isEqual) fail(session, `${from} changed during each of ${passes} passes; ${file} was not written`, STOP_WRITERS);
  return isEqual ? EXIT.done : EXIT.failed;
}

function selected(
  collections: readonly CollectionLayout[],
  names: readonly string[] | undefined,
): readonly CollectionLayout[] {
  return names === undefined ? collections : pairsOf(collections, collections, names).map(({ source }) => source);
}

function pairsOf(
  source: readonly CollectionLayout[],
  target: readonly CollectionLayout[],
  stated: readonly string[],
): readonly CollectionPair[] {
  const pairs = pairCollections(source, target, stated);
  if ("message" in pairs) throw new UsageError(pairs.message, pairs.fix);
  return pairs;
}

async function openFile(session: Session, file: string): Promise<StateSource> {
  const lines = (): AsyncIterable<string> => session.environment.files.readLines(file);
  const problem = (line: number, text: string): Error =>
    new UsageError(`${file}: line ${line} ${text}`, "use a file of oaas state copy DEPLOYMENT file:PATH");
  return openBackup(lines, problem);
}

function nameOf({ kind, name }: PlaceOfState): string {
  return kind === "file" ? `file:${name}` : name;
}

function report(
  session: Session,
  { outcome, passes, written, deleted, last, ...result }: CopyResult,
  { from, to }: { readonly from: string; readonly to: string },
): ExitCode {
  const { objects, extra, examples } = last;
  print(session, { source: from, destination: to, outcome, passes, objects, written, deleted, extra });
  const list = examples.map((example) => `\n  ${example}`).join("");
  switch (outcome) {
    case "equal":
      return EXIT.done;
    case "refused":
      if ("reason" in result && result.reason === "collisions")
        fail(
          session,
          `the place of ${last.collisions} of the objects is that of another one; nothing was copied:${list}`,
          "use more partitions in the destination, or --partition-by",
        );
      else
        fail(
          session,
          `${to} has other entries for ${last.different} of the objects; nothing was copied:${list}`,
          "add --overwrite to replace them; objects that changed in the source since an earlier copy are among them",
        );
      return EXIT.conflict;
    case "cancelled":
      return EXIT.failed;
    case "changing":
      fail(session, `${from} changed during each of ${passes} passes; the copy is not consistent`, STOP_WRITERS);
      return EXIT.failed;
    case "extra":
      fail(
        session,
        `${from} lost objects after they had been copied`,
        "add --delete-extra to delete them in the copy too",
      );
      return EXIT.failed;
  }
}

function print(session: Session, summary: CopySummary): void {
  const { source, destination, outcome, passes, objects, written, deleted, extra } = summary;
  const lines = [
    `${source} → ${destination}: ${outcome === "equal" ? session.colours.good("equal") : session.colours.bad(outcome)}`,
    `objects ${objects}, written ${written}, deleted ${deleted}, only in the destination ${extra}, passes ${passes}`,
  ];
  session.printItem(summary, { kind: "copy", nameOf: () => destination, columns: [] }, () => `${lines.join("\n")}\n`);
}

function fail(session: Session, message: string, fix: string): void {
  session.printUsageError(new UsageError(message, fix));
  session.printNote(session.colours.dim(`  hint: ${fix}\n`));
}
