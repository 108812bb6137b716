import { UsageError } from "../exit-code.ts";
import type { World } from "../world.ts";
import { LOCAL, urlOf, type Context, type Contexts } from "./context.ts";

/** The path of the contexts file: OAAS_CONFIG, or a file in the home folder. */
export function contextsFile({ env, home }: Pick<World, "env" | "home">): string {
  const told = env["OAAS_CONFIG"] ?? "";
  return told === "" ? `${home}/.oaas/config.yaml` : told;
}

export async function readContexts(world: World): Promise<Contexts> {
  const file = contextsFile(world);
  const text = await world.files.read(file);
  if (text === undefined) return LOCAL;
  // The YAML parser loads only if there is a file.
  const { parseContexts } = await import("./contexts-file.ts");
  const contexts = parseContexts(text, file);
  const hasToken = [...contexts.byName.values()].some(({ token }) => token !== undefined);
  if (hasToken && !(await world.files.isPrivate(file)))
    world.terminal.err(`warning: other users can read the tokens in ${file}\n  try: chmod 600 ${file}\n`);
  return contexts;
}

/** Writes the contexts file with mode 0600, because it contains tokens. */
export async function writeContexts(world: World, contexts: Contexts): Promise<void> {
  const { contextsText } = await import("./contexts-file.ts");
  await world.files.writePrivate(contextsFile(world), contextsText(contexts));
}

export interface ChosenContext extends Context {
  readonly name: string;
}

/** The context to use: the flag, then the environment variables, then the current context of the file. */
export async function chosenContext(world: World, wanted: string | undefined): Promise<ChosenContext> {
  const { env } = world;
  const url = env["OAAS_PM_URL"] ?? "";
  const token = env["OAAS_TOKEN"] ?? "";
  const withToken = (context: ChosenContext): ChosenContext => (token === "" ? context : { ...context, token });
  if (wanted === undefined && url !== "") return withToken({ name: "OAAS_PM_URL", pmUrl: urlOf(url, "OAAS_PM_URL") });
  const { current, byName } = await readContexts(world);
  const name = wanted ?? (env["OAAS_CONTEXT"] || current);
  const context = byName.get(name);
  if (!context) {
    throw new UsageError(
      `context "${name}" does not exist`,
      `use one of ${[...byName.keys()].join(", ")}, or add it: oaas login --name ${name} URL`,
    );
  }
  return withToken({ name, ...context });
}
