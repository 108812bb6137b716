import { applyDocument, checkDocuments, prospectOf, type Prospect } from "../apply.ts";
import { changesText } from "../documents/changes.ts";
import { inOrder, readDocuments } from "../documents/read-documents.ts";
import { EXIT, UsageError, type ExitCode } from "../exit-code.ts";
import { followDeployment } from "../session/roll-out.ts";
import type { Session } from "../session/session.ts";
import { isRunning } from "./wait.ts";

export interface ApplyFlags {
  readonly filename?: readonly string[];
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly timeout: number;
  readonly keepGoing: boolean;
  readonly reason?: string;
}

/** Applies files: all of them are read and checked before the first is sent, so that a bad one changes nothing. */
export async function applyFiles(session: Session, flags: ApplyFlags, ...paths: readonly string[]): Promise<ExitCode> {
  const sources = [...(flags.filename ?? []), ...paths];
  if (sources.length === 0) throw new UsageError("no file is named", "oaas apply -f FILE");
  const documents = inOrder(await readDocuments(session.world, sources));
  if (!(await checkDocuments(session, documents)) && !flags.keepGoing) {
    session.note("Nothing was applied. With --keep-going the valid documents are.\n");
    return EXIT.usage;
  }
  const applied: Prospect[] = [];
  let worst: ExitCode = EXIT.done;
  for (const document of documents) {
    const prospect = await prospectOf(session, document);
    if (flags.dryRun) {
      await foretell(session, prospect);
      continue;
    }
    const code = await applyDocument(session, prospect, flags.reason);
    if (code === EXIT.done) applied.push(prospect);
    else {
      worst = code;
      if (!flags.keepGoing) break;
    }
  }
  return worst === EXIT.done && flags.wait ? waitForAll(session, applied, flags.timeout) : worst;
}

/** What would happen: the change, and for a deployment the plan's own words. */
async function foretell(session: Session, { document, action, changes }: Prospect): Promise<void> {
  const { kind, name, content } = document;
  session.out(`${kind}/${name}: ${action === "nothing" ? "unchanged" : `would ${action}`}\n`);
  session.out(changesText(changes, session.colours));
  if (kind === "package" || action === "nothing") return;
  const { value } = await session.call("createPlan", { body: { deployment: content } });
  session.out(`${value.explanation.trimEnd().replaceAll(/^/gm, "  ")}\n`);
}

async function waitForAll(session: Session, applied: readonly Prospect[], timeoutMs: number): Promise<ExitCode> {
  for (const { document } of applied) {
    if (document.kind !== "deployment") continue;
    const code = await followDeployment(session, document.name, { holds: isRunning, what: "running", timeoutMs });
    if (code !== EXIT.done) return code;
  }
  return EXIT.done;
}

/** Shows what applying would change; ends with 1 when there is something. */
export async function diffFiles(session: Session, flags: { readonly filename: readonly string[] }): Promise<ExitCode> {
  const documents = inOrder(await readDocuments(session.world, flags.filename));
  if (!(await checkDocuments(session, documents))) return EXIT.usage;
  let isSame = true;
  for (const document of documents) {
    const { action, changes } = await prospectOf(session, document);
    if (action === "nothing") continue;
    isSame = false;
    session.out(`${document.kind}/${document.name} (${action})\n${changesText(changes, session.colours)}`);
  }
  return isSame ? EXIT.done : EXIT.failed;
}
