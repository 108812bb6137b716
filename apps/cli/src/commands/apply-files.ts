import { isFault } from "@oaas/foundation";
import { applyDocument, prospectOf, validOf, type Prospect } from "../apply.ts";
import { changesText } from "../documents/changes.ts";
import type { WishDocument } from "../documents/document.ts";
import { inOrder, readAll, readDocuments, unreadable } from "../documents/read-documents.ts";
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
  readonly applyDeployments: boolean;
  readonly overridePackage?: string;
  readonly overwrite: boolean;
}

/** Applies files: all of them are read and checked before the first is sent, so that a bad one changes nothing. */
export async function applyFiles(session: Session, flags: ApplyFlags, ...paths: readonly string[]): Promise<ExitCode> {
  const documents = await wishesOf(session, flags, paths);
  const { good, isWhole } = documents;
  if (!isWhole && !flags.keepGoing) {
    session.note("Nothing was applied. With --keep-going the valid documents are.\n");
    return EXIT.usage;
  }
  const applied: Prospect[] = [];
  let worst: ExitCode = isWhole ? EXIT.done : EXIT.usage;
  for (const document of inOrder(good)) {
    const prospect = await prospectOf(session, document);
    if (flags.dryRun) {
      await foretell(session, prospect, good);
      continue;
    }
    const code = await applyDocument(session, prospect, flags);
    if (code === EXIT.done) applied.push(prospect);
    else {
      worst = code;
      if (!flags.keepGoing) break;
    }
  }
  session.doneAll();
  const waited = flags.wait ? await waitForAll(session, applied, flags) : EXIT.done;
  return worst === EXIT.done ? waited : worst;
}

/** The documents of all files that can be applied, and whether that is all of them. */
async function wishesOf(
  session: Session,
  flags: ApplyFlags,
  paths: readonly string[],
): Promise<{ readonly good: readonly WishDocument[]; readonly isWhole: boolean }> {
  const sources = [...(flags.filename ?? []), ...paths];
  if (sources.length === 0) throw new UsageError("no file is named", "oaas apply -f FILE");
  const { documents, mistakes } = await readAll(session.world, sources);
  if (mistakes.length > 0)
    session.world.terminal.err(`${session.colours.bad("error:")} ${unreadable(mistakes).message}\n`);
  const named = documents.map((document) => underName(document, flags.overridePackage));
  const good = await validOf(session, named);
  return { good, isWhole: mistakes.length === 0 && good.length === named.length };
}

/** The same wish for a package of another name. */
function underName(document: WishDocument, name: string | undefined): WishDocument {
  if (name === undefined) return document;
  return document.kind === "package"
    ? { ...document, name, content: { ...document.content, name } }
    : { ...document, content: { ...document.content, package_name: name } };
}

/** What would happen: the change, and for a deployment the plan's own words. */
async function foretell(
  session: Session,
  { document, action, changes }: Prospect,
  all: readonly WishDocument[],
): Promise<void> {
  const { kind, name, content } = document;
  const plan = kind === "deployment" && action !== "nothing" ? await planOf(session, content, all) : undefined;
  const result = action === "nothing" ? "unchanged" : `would ${action}`;
  const words = typeof plan === "string" ? plan : (plan?.explanation ?? "");
  const explained = words === "" ? "" : `${words.trimEnd().replaceAll(/^/gm, "  ")}\n`;
  const line = `${kind}/${name}: ${result}\n${changesText(changes, session.colours)}${explained}`;
  session.doneOne({ kind, name, result, changes, ...(plan === undefined ? {} : { plan }) }, line);
}

/** The plan of a deployment; a sentence while the package it needs is only about to be applied. */
async function planOf(session: Session, deployment: WishDocument["content"], all: readonly WishDocument[]) {
  try {
    return (await session.call("createPlan", { body: { deployment } })).value;
  } catch (thrown) {
    const needed = deployment["package_name"];
    const isComing = all.some(({ kind, name }) => kind === "package" && name === needed);
    if (!isComing || !isFault(thrown, "not-found")) throw thrown;
    return `It is planned when package ${String(needed)} is there.`;
  }
}

async function waitForAll(session: Session, applied: readonly Prospect[], flags: ApplyFlags): Promise<ExitCode> {
  const own = applied.filter(({ document }) => document.kind === "deployment").map(({ document }) => document.name);
  const embedded = flags.applyDeployments ? applied.flatMap(({ document }) => embeddedKeys(document)) : [];
  for (const key of new Set([...own, ...embedded])) {
    const code = await followDeployment(session, key, { holds: isRunning, what: "running", timeoutMs: flags.timeout });
    if (code !== EXIT.done) return code;
  }
  return EXIT.done;
}

/** Keys of the deployments that a package carries with it. */
function embeddedKeys({ content }: WishDocument): readonly string[] {
  const given = content["deployments"];
  const all = Array.isArray(given) ? (given as readonly { readonly key?: unknown }[]) : [];
  return all.map(({ key }) => key).filter((key) => typeof key === "string");
}

/** Shows what applying would change; ends with 1 when there is something. */
export async function diffFiles(session: Session, flags: { readonly filename: readonly string[] }): Promise<ExitCode> {
  const documents = inOrder(await readDocuments(session.world, flags.filename));
  if ((await validOf(session, documents)).length < documents.length) return EXIT.usage;
  let isSame = true;
  for (const document of documents) {
    const { action, changes } = await prospectOf(session, document);
    if (action === "nothing") continue;
    isSame = false;
    const { kind, name } = document;
    const line = `${kind}/${name} (${action})\n${changesText(changes, session.colours)}`;
    session.doneOne({ kind, name, result: action, changes }, line);
  }
  session.doneAll();
  return isSame ? EXIT.done : EXIT.failed;
}
