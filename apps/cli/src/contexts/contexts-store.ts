import { UsageError } from "../exit-code.ts";
import type { World } from "../world.ts";
import { LOCAL, urlOf, type Context, type Contexts } from "./context.ts";

/** Where the contexts are kept: OAAS_CONFIG, or the home folder. */
export function contextsFile({ env, home }: Pick<World, "env" | "home">): string {
  const told = env["OAAS_CONFIG"] ?? "";
  return told === "" ? `${home}/.oaas/config.yaml` : told;
}

export async function readContexts(world: World): Promise<Contexts> {
  const file = contextsFile(world);
  const text = await world.files.read(file);
  if (text === undefined) return LOCAL;
  // What reads YAML is loaded when there is some.
  const { parseContexts } = await import("./contexts-file.ts");
  const contexts = parseContexts(text, file);
  const hasToken = [...contexts.byName.values()].some(({ token }) => token !== undefined);
  if (hasToken && !(await world.files.isPrivate(file)))
    world.terminal.err(`warning: others may read the tokens in ${file}\n  try: chmod 600 ${file}\n`);
  return contexts;
}

/** Tokens are in it, so that nobody else may read it. */
export async function writeContexts(world: World, contexts: Contexts): Promise<void> {
  const { contextsText } = await import("./contexts-file.ts");
  await world.files.writePrivate(contextsFile(world), contextsText(contexts));
}

export interface ChosenContext extends Context {
  readonly name: string;
}

/** The context of this call: the flag, then the variables, then the file's current one. */
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
      `there is no context "${name}"`,
      `known are ${[...byName.keys()].join(", ")}; add one with: oaas login --name ${name} URL`,
    );
  }
  return withToken({ name, ...context });
}
