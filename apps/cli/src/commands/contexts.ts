import { urlOf } from "../contexts/contexts-file.ts";
import { contextsFile, readContexts, writeContexts } from "../contexts/contexts-store.ts";
import { UsageError } from "../exit-code.ts";
import type { Session } from "../session/session.ts";

/** Keeps a platform's address and token, and makes it the current one. */
export async function login(
  session: Session,
  flags: { readonly name: string; readonly token?: string; readonly tokenFile?: string; readonly noToken: boolean },
  url?: string,
): Promise<void> {
  const { world } = session;
  const known = await readContexts(world);
  const address = url ?? known.byName.get(flags.name)?.pmUrl;
  if (address === undefined)
    throw new UsageError(`context "${flags.name}" has no address yet`, `oaas login --name ${flags.name} URL`);
  const pmUrl = urlOf(address, "the address");
  const token = flags.noToken ? undefined : await tokenOf(session, flags);
  await writeContexts(world, {
    current: flags.name,
    byName: new Map([...known.byName, [flags.name, { pmUrl, ...(token === undefined ? {} : { token }) }]]),
  });
  session.out(`Context ${flags.name} (${pmUrl}) is kept in ${contextsFile(world)} and is the current one.\n`);
}

async function tokenOf(
  session: Session,
  flags: { readonly token?: string; readonly tokenFile?: string },
): Promise<string | undefined> {
  const { terminal, files } = session.world;
  if (flags.token !== undefined) return flags.token;
  if (flags.tokenFile !== undefined) {
    const text = await files.read(flags.tokenFile);
    if (text === undefined) throw new UsageError(`there is no file ${flags.tokenFile}`, "check the path");
    return text.trim();
  }
  if (!terminal.canAsk) return undefined;
  const typed = await terminal.ask("Token (empty for none): ", { isSecret: true });
  return typed.trim() === "" ? undefined : typed.trim();
}

export async function listContexts(session: Session): Promise<void> {
  const { current, byName } = await readContexts(session.world);
  const items = [...byName].map(([name, { pmUrl, token }]) => ({
    name,
    current: name === current,
    pm_url: pmUrl,
    token: token === undefined ? "none" : "kept",
  }));
  session.list(items, {
    kind: "context",
    nameOf: ({ name }) => name,
    columns: [
      { header: "CURRENT", cell: (each) => (each.current ? "*" : "") },
      { header: "NAME", cell: ({ name }) => name },
      { header: "PACKAGE MANAGER", cell: ({ pm_url }) => pm_url },
      { header: "TOKEN", cell: ({ token }) => token },
    ],
  });
}

export async function selectContext(session: Session, _flags: object, name: string): Promise<void> {
  const { byName } = await readContexts(session.world);
  if (!byName.has(name))
    throw new UsageError(`there is no context "${name}"`, `known are ${[...byName.keys()].join(", ")}`);
  await writeContexts(session.world, { current: name, byName });
  session.out(`Context ${name} is the current one.\n`);
}

export async function removeContext(session: Session, _flags: object, name: string): Promise<void> {
  const { current, byName } = await readContexts(session.world);
  if (name === current)
    throw new UsageError(`"${name}" is the current context`, "select another first: oaas context select NAME");
  if (!byName.has(name))
    throw new UsageError(`there is no context "${name}"`, `known are ${[...byName.keys()].join(", ")}`);
  await writeContexts(session.world, { current, byName: new Map([...byName].filter(([each]) => each !== name)) });
  session.out(`Context ${name} is forgotten.\n`);
}
