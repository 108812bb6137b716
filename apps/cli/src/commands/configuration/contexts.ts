import { parseUrl } from "../../contexts/context.ts";
import { contextsPath, readContexts, writeContexts } from "../../contexts/contexts-store.ts";
import { EXIT, UsageError, type ExitCode } from "../../exit-code.ts";
import { contextView, listedContexts } from "../../output/context-view.ts";
import { confirm, type Session } from "../../session/session.ts";

/** Saves the address and token of a package manager and selects the context. */
export async function login(
  session: Session,
  flags: { readonly name: string; readonly token?: string; readonly tokenFile?: string; readonly noToken: boolean },
  url?: string,
): Promise<void> {
  await saveContext(session, flags.name, url, async () => (flags.noToken ? undefined : readToken(session, flags)));
}

/** Saves the address and keeps an existing token; compatible with the earlier Rust CLI. */
export async function setContext(session: Session, flags: { readonly pm?: string }, name = "default"): Promise<void> {
  await saveContext(session, name, flags.pm, async (saved) => saved);
}

async function saveContext(
  session: Session,
  name: string,
  url: string | undefined,
  updateToken: (saved: string | undefined) => Promise<string | undefined>,
): Promise<void> {
  const { environment } = session;
  const contexts = await readContexts(environment);
  const existing = contexts.byName.get(name);
  const address = url ?? existing?.pmUrl;
  if (address === undefined) throw new UsageError(`context "${name}" has no address`, `oaas login --name ${name} URL`);
  const pmUrl = parseUrl(address, "URL");
  const token = await updateToken(existing?.token);
  await writeContexts(environment, {
    current: name,
    byName: new Map([...contexts.byName, [name, { pmUrl, ...(token === undefined ? {} : { token }) }]]),
  });
  const line = `Saved context ${name} (${pmUrl}) in ${contextsPath(environment)} and selected it.\n`;
  session.printOutcome({ kind: "context", name, result: "current", pm_url: pmUrl }, line);
}

async function readToken(
  session: Session,
  flags: { readonly token?: string; readonly tokenFile?: string },
): Promise<string | undefined> {
  const { terminal, files } = session.environment;
  if (flags.token !== undefined) return flags.token;
  if (flags.tokenFile !== undefined) {
    const text = await files.read(flags.tokenFile);
    if (text === undefined) throw new UsageError(`file ${flags.tokenFile} does not exist`, "check the path");
    return text.trim();
  }
  if (!terminal.canPrompt) return undefined;
  const typed = await terminal.prompt("Token (empty for none): ", { isSecret: true });
  return typed.trim() === "" ? undefined : typed.trim();
}

export async function listContexts(session: Session): Promise<void> {
  session.printList(listedContexts(await readContexts(session.environment)), contextView());
}

export async function selectContext(session: Session, _flags: object, name: string): Promise<void> {
  const { byName } = await readContexts(session.environment);
  if (!byName.has(name))
    throw new UsageError(`context "${name}" does not exist`, `use one of ${[...byName.keys()].join(", ")}`);
  await writeContexts(session.environment, { current: name, byName });
  session.printOutcome({ kind: "context", name, result: "current" }, `Selected context ${name}.\n`);
}

export async function removeContext(
  session: Session,
  flags: { readonly yes: boolean },
  name: string,
): Promise<ExitCode> {
  const { current, byName } = await readContexts(session.environment);
  if (name === current)
    throw new UsageError(`"${name}" is the current context`, "select another one first: oaas context select NAME");
  if (!byName.has(name))
    throw new UsageError(`context "${name}" does not exist`, `use one of ${[...byName.keys()].join(", ")}`);
  const isLost = byName.get(name)?.token !== undefined;
  if (isLost && !(await confirm(session, `Remove context ${name} and its token`, flags.yes))) return EXIT.failed;
  await writeContexts(session.environment, { current, byName: new Map([...byName].filter(([each]) => each !== name)) });
  session.printOutcome({ kind: "context", name, result: "forgotten" }, `Removed context ${name}.\n`);
  return EXIT.done;
}
